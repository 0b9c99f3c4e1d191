// One question under two configurations, side by side; nothing is stored.

import { $, block, button, element, h2, quiet, state, streamTurn, t, summaryOf } from "../shared/page.js";
import { panel } from "../turn/panel.js";
import { optionFields, savedOptions } from "./options.js";
import { failTurn, finishTurn, handleEvent, newTurn } from "../turn/turn.js";

const sides = [{ name: "A", chosen: {} }, { name: "B", chosen: {} }];

export function showCompare() {
  if ($("compare").firstChild) return;
  sides[0].chosen = savedOptions();
  sides[1].chosen = state.choices.reasoners.length > 1 ? { mind: "rules" } : { branches: ["lexical"] };
  for (const side of sides) {
    side.out = block("out");
    const form = element("form", {}, optionFields(side.chosen, (now) => { side.chosen = now; }));
    form.onsubmit = (event) => event.preventDefault();
    side.root = element("section", { class: "side", "aria-label": t("configurationOf", side) }, element("details", { open: true }, summaryOf(t("configurationOf", side)), form), side.out);
  }
  $("compare").replaceChildren(h2(t("twoConfigurations")), quiet(t("bothAnswer")), block("sides", sides.map((each) => each.root)));
}

export async function compareAnswers(question, signal) {
  // a question may be sent before the view is drawn
  showCompare();
  for (const side of sides) side.root.querySelector("details").open = false;
  await Promise.all(sides.map((side) => answerSide(side, question, signal)));
}

async function answerSide(side, question, signal) {
  const turn = newTurn(question, { derive: (turn) => panel.show(turn) });
  side.out.prepend(turn.root);
  try {
    await streamTurn({ question, graph: state.graph, ...side.chosen }, (kind, payload) => {
      if (kind === "answer") finishTurn(turn, payload);
      else if (kind === "error") failTurn(turn, payload);
      else handleEvent(turn, kind, payload);
    }, signal);
  } catch (problem) {
    failTurn(turn, problem.name === "AbortError" ? { message: t("stopped") } : problem, button(t("askAgain"), () => { turn.root.remove(); answerSide(side, question, signal); }));
  }
}
