// Teach a word: what it may mean, with sample answers; a click -> asked again.

import { announce, apiPath, button, element, failureBox, get, inline, pageLink, t } from "../shared/page.js";
import { teachWord } from "../shell/names.js";
import { withoutHint } from "./turn.js";

export async function showMeanings(turn, record, word, root) {
  const status = element("p", { class: "quiet", role: "status" }, t("loading"));
  const tell = (text) => { status.replaceChildren(text); announce(text); };
  root.replaceChildren(status);
  try {
    const { meanings, problem } = await get(apiPath("graphs", record.graph, "layer", "words", { word, question: (record.derivation?.depends ? record.standalone : record.question).slice(0, 1000) }));
    if (problem) return tell(problem);
    const choices = meanings.map((each) => meaning(each, () => teach(each)));
    root.replaceChildren(element("p", { tabindex: "-1" }, t("mayMean", { word })), ...choices, status);
    status.replaceChildren();
    root.append(pageLink({ graph: record.graph, names: "" }, t("names")));
    root.firstChild.focus();
  } catch (failure) {
    status.replaceChildren(failureBox(failure, button(t("tryAgain"), () => showMeanings(turn, record, word, root))));
  }

  async function teach({ iri }) {
    for (const each of root.querySelectorAll("button")) each.disabled = true;
    tell(t("namesApplying"));
    try {
      const names = await teachWord(record.graph, word, iri, () => !root.isConnected);
      if (!names) return;
      if (names.busy || names.problem) return tell(names.problem || t("namesStillApplying"));
      turn.hooks.ask(record.question, record.thread ? record.turn : undefined);
    } catch (failure) {
      for (const each of root.querySelectorAll("button")) each.disabled = false;
      status.replaceChildren(failureBox(failure));
    }
  }
}

function meaning({ kind, name, answer, iri }, onclick) {
  const words = [element("strong", {}, name), " (" + t(kind === "class" ? "kindClass" : "kindProperty") + ")", answer && ": " + rowsInWords(withoutHint(answer))];
  return button(inline(null, words), onclick, "chip", { title: iri });
}

// A table on one line as text: the rows without their head.
const rowsInWords = (text) => text.replace(/\|.*?( :?-+:? \|)+ \| /, "").replace(/ \|( …)?$/, "$1").replaceAll(" | | ", "; ").replaceAll(" | ", ": ");
