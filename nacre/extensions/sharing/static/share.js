// Share an answer: a link to a frozen copy is made, copied and shown; it can be withdrawn.

import { addWords, announce, apiPath, block, button, day, element, failureBox, pageLink, quiet, row, send, t } from "../../static/shared/page.js";
import { press, remove } from "../../static/turn/feedback.js";

await addWords("share/files/");

const MILLISECONDS = 1000, STORAGE_KEY = "nacre-shares";

// The server stores no address; this tab knows those that it made, as it knows the key.
const knownPaths = () => { try { return JSON.parse(sessionStorage.getItem(STORAGE_KEY)) || {}; } catch { return {}; } };
export const knownAddress = (id) => knownPaths()[id] && new URL("." + knownPaths()[id], location).href;

// Withdraw a link, which may be gone already.
export const withdrawShare = (id) => remove(apiPath("shares", id));

// `own` is the pressed button. A second press shows and copies the same link.
export function shareAnswer(turn, record, own) {
  return press(turn, own, ".shared", async () => {
    turn.shared ??= await send("POST", apiPath("threads", record.thread, "turns", record.turn, "share"), { chart: turn.answer.querySelector("[data-kind]")?.dataset.kind });
    sessionStorage.setItem(STORAGE_KEY, JSON.stringify({ ...knownPaths(), [turn.shared.link.id]: turn.shared.path }));
    await showLink(turn, own);
  });
}

async function showLink(turn, own) {
  const address = new URL("." + turn.shared.path, location).href, { id, expires } = turn.shared.link;
  // a page without TLS may not write to the clipboard
  const isCopied = await navigator.clipboard?.writeText(address).then(() => true, () => false);
  const field = element("input", { readonly: "", value: address, "aria-label": t("shareAddress"), onfocus: () => field.select() });
  const said = (isCopied ? t("copied") + " " : "") + t("shareUntil", { date: day(expires * MILLISECONDS) });
  const revoke = async () => {
    try {
      await withdrawShare(id);
    } catch (problem) {
      box.after(failureBox(problem));
      return;
    }
    turn.shared = null;
    box.remove();
    announce(t("shareWithdrawn"));
    own.focus();
  };
  const box = block("shared", quiet(said, " ", pageLink({ shares: "" }, t("sharedAnswers"))), row(field, button(t("shareWithdraw"), revoke)));
  own.closest(".tools").after(box);
  box.scrollIntoView({ block: "nearest" });
  announce(said);
}
