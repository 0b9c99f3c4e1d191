// Teach a word: what it may mean, or any name of the graph, with sample answers; a click -> asked again.

import { addWords, announce, apiPath, block, button, element, failureBox, get, inline, pageLink, searchField, t } from "../../static/shared/page.js";
import { kindLabel, teachWord } from "../../static/shell/names.js";
import { askedText, withoutHint } from "../../static/turn/turn.js";

await addWords("teaching/files/");

const TYPING_DELAY = 250;

export async function showMeanings(turn, record, word, root) {
  const status = element("p", { class: "quiet", role: "status" }), choices = block("options"), lead = element("p", { tabindex: "-1" }, t("mayMean", { word }));
  const tell = (text) => { status.replaceChildren(text); announce(text); };
  const question = askedText(record).slice(0, 1000);
  let timer = 0, latest = 0;
  const field = searchField(t("searchMeanings"), () => { clearTimeout(timer); timer = setTimeout(() => show(field.value.trim()), TYPING_DELAY); });
  root.replaceChildren(lead, field, choices, status, pageLink({ graph: record.graph, names: "" }, t("names")));
  await show("");
  lead.focus();

  async function show(search) {
    const own = ++latest;
    tell(t("loading"));
    try {
      const { meanings, problem } = await get(apiPath("graphs", record.graph, "layer", "words", { word, question, search: search.slice(0, 100) }));
      if (own !== latest) return;
      field.hidden = lead.hidden = Boolean(problem);
      choices.replaceChildren(...meanings.map((each) => meaning(each, () => teach(each))));
      tell(problem || (meanings.length ? "" : t("noneMembers")));
    } catch (failure) {
      if (own === latest) status.replaceChildren(failureBox(failure, button(t("tryAgain"), () => show(search))));
    }
  }

  async function teach(meant) {
    choices.inert = field.disabled = true;
    tell(t("namesApplying"));
    try {
      const names = await teachWord(record.graph, word, meant, () => !root.isConnected);
      if (!names) return;
      if (names.busy || names.problem) return tell(names.problem || t("namesStillApplying"));
      turn.hooks.ask(record.question, record.thread && !turn.root.nextElementSibling ? record.turn : undefined);
    } catch (failure) {
      choices.inert = field.disabled = false;
      status.replaceChildren(failureBox(failure));
    }
  }
}

function meaning({ kind, name, answer, iri, of }, onclick) {
  const words = [element("strong", {}, name), " (" + [kindLabel(kind), of].filter(Boolean).join(": ") + ")", answer && ": " + rowsInWords(withoutHint(answer))];
  return button(inline(null, words), onclick, "chip", { title: iri });
}

// A table on one line as text: the rows without their head.
const rowsInWords = (text) => text.replace(/\|.*?( :?-+:? \|)+ \| /, "").replace(/ \|( …)?$/, "$1").replaceAll(" | | ", "; ").replaceAll(" | ", ": ");
