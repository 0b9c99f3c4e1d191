// The answers that a person shares: open, copy, withdraw. Addresses are known in the tab that made them alone.

import { $, announce, button, card, countPhrase, day, element, failureBox, get, inline, item, pageLink, para, quiet, row, t } from "../../static/shared/page.js";
import { knownAddress, withdrawShare } from "./share.js";

const MILLISECONDS = 1000;

export async function showShares() {
  $("about").textContent = t("sharedAnswers");
  const list = element("ul", { class: "terms" }), found = element("p", { class: "quiet", role: "status", tabindex: "-1" }, t("loading"));
  $("look").replaceChildren(element("h2", {}, t("sharedAnswers")), para(null, t("sharesLead")), card(found, list));
  try {
    const links = await get("api/shares");
    const tell = () => { found.textContent = list.children.length ? countPhrase(list.children.length, "entry") : t("sharesNone"); };
    list.replaceChildren(...links.map((link) => shareItem(link, () => { tell(); found.focus(); })));
    tell();
  } catch (problem) {
    $("look").append(failureBox(problem, button(t("tryAgain"), showShares)));
    found.remove();
  }
}

function shareItem(link, gone) {
  const address = knownAddress(link.id), about = (words) => ({ "aria-label": words + ": " + link.question });
  const withdraw = async () => {
    try { await withdrawShare(link.id); } catch (problem) { root.append(failureBox(problem)); return; }
    root.remove();
    announce(t("shareWithdrawn"));
    gone();
  };
  const copy = async () => { await navigator.clipboard.writeText(address); announce(t("copied")); };
  const root = item(para(null, pageLink({ thread: link.thread }, link.question), " ", inline("tag", link.graph)),
    quiet(t("shareDates", { date: day(link.created * MILLISECONDS), until: day(link.expires * MILLISECONDS) }), address ? "" : " " + t("shareAddressUnknown")),
    row(address && [element("a", { href: address, target: "_blank", rel: "noopener", ...about(t("open")) }, t("open")), button(t("copyLink"), copy, "", about(t("copyLink")))], button(t("shareWithdraw"), withdraw, "bad", about(t("shareWithdraw")))));
  return root;
}
