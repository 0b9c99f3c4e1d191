// One question under two configurations, side by side; nothing of it is kept.

import { ask } from "./api.js";
import { $, button, make } from "./dom.js";
import { panel } from "./derivation.js";
import { fields, kept } from "./options.js";
import { state } from "./state.js";
import { fail, finish, hear, newTurn } from "./turn.js";

const sides = [{ name: "A", chosen: {} }, { name: "B", chosen: {} }];

export function showCompare() {
  if ($("compare").firstChild) return;
  sides[0].chosen = kept();
  sides[1].chosen = state.choices.reasoners.length > 1 ? { mind: "rules" } : { branches: ["lexical"] };
  for (const side of sides) {
    side.out = make("div", { class: "out" });
    const form = make("form", {}, fields(side.chosen, (now) => { side.chosen = now; }));
    form.addEventListener("submit", (event) => event.preventDefault());
    side.root = make("section", { class: "side", "aria-label": "Configuration " + side.name }, make("details", { open: true }, make("summary", {}, "Configuration " + side.name), form), side.out);
  }
  $("compare").replaceChildren(make("h2", {}, "Two configurations, one question"), make("p", { class: "quiet" }, "Ask below: both answer, each in its way. Nothing of it is kept."), make("div", { class: "sides" }, sides.map((each) => each.root)));
}

export async function compare(question, signal) {
  for (const side of sides) side.root.querySelector("details").open = false;
  await Promise.all(sides.map((side) => one(side, question, signal)));
}

async function one(side, question, signal) {
  const turn = newTurn(question, { derive: (turn) => panel.show(turn) });
  side.out.prepend(turn.root);
  try {
    await ask({ question, graph: state.graph, ...side.chosen }, (kind, payload) => {
      if (kind === "answer") finish(turn, payload);
      else if (kind === "error") fail(turn, payload);
      else hear(turn, kind, payload);
    }, signal);
  } catch (problem) {
    fail(turn, problem.name === "AbortError" ? { message: "Stopped." } : problem, button("Ask again", () => { turn.root.remove(); one(side, question, signal); }));
  }
}
