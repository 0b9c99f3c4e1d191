// Feedback on an answer: right (a verified question), wrong and why, or what was meant.

import { announce, apiPath, block, button, choiceGroup, element, failureBox, pageLink, para, query, send, t } from "../shared/page.js";
import { editInPlace, readingsOf } from "./turn.js";

const MAX_COMMENT = 4000;

// What became of a confirmation, with a link to the list of them.
export function confirmedNote(entry) {
  const waiting = entry.state !== "in use" ? t("confirmedNotUsed", entry) : t(entry.approved ? "confirmedInUse" : "confirmedWaiting");
  const note = para("quiet confirmed", t("confirmedByYou") + waiting + " ", pageLink({ graph: entry.graph, verified: "" }, t("verifiedQuestions")));
  announce(t("confirmedByYou") + waiting);
  return note;
}

// Confirm a query for a question; its entry, or a Problem.
export const confirm = async (graph, body) => ({ ...(await send("POST", apiPath("graphs", graph, "verified"), body)), graph });

// Confirm the answer of a turn, or take that back; `own` is the pressed button.
export function toggleConfirmed(turn, record, own, isConfirmed, judge) {
  return press(turn, own, ".confirmed", async () => {
    // confirming again gives the entry of a turn that was confirmed before the page was loaded
    const entry = (turn.confirmed ??= await confirm(record.graph, { thread: record.thread, turn: record.turn }));
    if (isConfirmed) {
      await remove(apiPath("graphs", record.graph, "verified", entry.id, { by: entry.by }));
      turn.confirmed = null;
      announce(t("takenBack"));
    } else own.closest(".tools").after(confirmedNote(entry));
    await judge(isConfirmed ? 0 : 1);
  });
}

// Delete what may be gone already, removed in the list.
export const remove = (path) => send("DELETE", path).catch((problem) => { if (problem.status !== 404) throw problem; });

// The work of a pressed button, once at a time, its failure below; true if it was done.
export async function press(turn, own, notes, work) {
  if (own.ariaDisabled) return;
  own.ariaDisabled = true;
  for (const each of turn.rest.querySelectorAll(notes + ", .failure")) each.remove();
  try {
    await work();
    return true;
  } catch (problem) {
    own.closest(".tools").after(failureBox(problem));
  } finally {
    own.ariaDisabled = null;
  }
}

// Ask what is wrong: a reading that was meant, or a reason. `keep(comment)` stores it.
export function askWhatIsWrong(turn, record, comment, own, keep) {
  turn.rest.querySelector(".reason")?.remove();
  const box = block("reason"), written = element("div");
  own.closest(".tools").after(box);
  const close = () => { box.remove(); own.focus(); };
  const meant = async (words) => { box.remove(); if (await keep((t("shouldHaveBeen") + ": " + words).slice(0, MAX_COMMENT))) turn.hooks.ask(words); };
  const readings = readingsOf(record);
  if (readings.length && turn.hooks.ask) box.append(choiceGroup(t("shouldHaveBeen"), readings.map((words) => button(words, () => meant(words), "chip"))));
  box.append(written);
  editInPlace(written, comment, t("wrongBecause"), t("keepReason"), (said) => { close(); keep(said); }, close, true);
  if (turn.hooks.derive && record.queries.some((each) => each.text)) written.querySelector(".row").append(button(t("correctQuery"), () => { box.remove(); turn.hooks.derive(turn); }, "plain"));
}
