// How a question is to be answered: reasoner, branches, rounds, strategy; kept in this browser.

import { $, button, make, tool } from "./dom.js";
import { state } from "./state.js";
import { placeOf } from "./turn.js";

const KEPT = "nacre-options";
const LABEL = { parallel: "all branches at once", stepwise: "a step at a time" };

export function kept() {
  try { return JSON.parse(localStorage.getItem(KEPT)) || {}; } catch { return {}; }
}

// The fields of a form for `given`; `change` gets all that is chosen, without what is left as the server has it.
export function fields(given, change) {
  const { choices } = state;
  const chosen = { ...given };
  const set = (name, value) => { if (value === "" || value == null) delete chosen[name]; else chosen[name] = value; change({ ...chosen }); };
  const select = (label, name, values, none, read = (value) => value) => {
    const own = make("select", {}, make("option", { value: "" }, none), values.map(([value, words]) => make("option", { value }, words)));
    own.value = given[name] ?? "";
    own.addEventListener("change", () => set(name, own.value === "" ? "" : read(own.value)));
    return make("label", { class: "field" }, label, own);
  };
  const model = choices.model ? "model (" + choices.model + ")" : "model";
  const boxes = choices.branches.map((branch) => {
    const box = make("input", { type: "checkbox", value: branch });
    box.checked = (given.branches || choices.by_default).includes(branch);
    return [box, make("label", { class: "check" }, box, placeOf(branch))];
  });
  for (const [box] of boxes) box.addEventListener("change", () => {
    const on = boxes.map(([each]) => each).filter((each) => each.checked).map((each) => each.value);
    if (!on.length) { box.checked = true; return; }
    set("branches", on.join() === choices.by_default.join() ? "" : on);
  });
  const first = choices.reasoners.includes("model") ? model : "rules";
  return [
    select("Reasoner", "mind", choices.reasoners.map((each) => [each, each === "model" ? model : each]), "as the server has it (" + first + ")"),
    choices.model ? "" : make("p", { class: "quiet" }, "No model is set on this server; set NACRE_MODEL there to have one."),
    make("fieldset", {}, make("legend", {}, "Where to look"), boxes.map(([, label]) => label)),
    select("Rounds, at most", "max_rounds", [1, 2, 3, 4, 5].map((n) => [n, n]), "as the server has it (" + choices.max_rounds + ")", Number),
    select("Strategy", "strategy", Object.entries(LABEL), "as the server has it (" + LABEL[choices.strategy] + ")"),
    select("Passages a branch reads", "top_k", [4, 8, 16, 32, 50].map((n) => [n, n]), "as the server has it (" + choices.top_k + ")", Number),
  ];
}

export function inWords(chosen) {
  const told = [];
  if (chosen.mind) told.push(chosen.mind);
  if (chosen.branches) told.push(chosen.branches.map(placeOf).join(" + "));
  if (chosen.max_rounds) told.push("at most " + chosen.max_rounds + (chosen.max_rounds === 1 ? " round" : " rounds"));
  if (chosen.strategy) told.push(LABEL[chosen.strategy]);
  if (chosen.top_k) told.push(chosen.top_k + " passages");
  return told.join(", ");
}

export function showChosen() {
  const words = inWords(kept());
  $("chosen").hidden = !words;
  $("chosen").replaceChildren("Asked with: " + words + " ", button("Change", configure, "plain"), button("Reset", () => { localStorage.removeItem(KEPT); showChosen(); }, "plain"));
}

export function configure() {
  const dialog = $("configuration");
  let chosen = kept();
  const draw = () => dialog.replaceChildren(make("header", {}, make("h2", { id: "configuration-head" }, "Configuration"), tool("close", "Close", () => dialog.close())),
    make("form", { method: "dialog" }, fields(chosen, (now) => { chosen = now; localStorage.setItem(KEPT, JSON.stringify(now)); showChosen(); }),
      make("div", { class: "row" }, make("button", { class: "main" }, "Done"), button("Reset", () => { chosen = {}; localStorage.removeItem(KEPT); showChosen(); draw(); }),
        make("a", { href: "/?compare=1", class: "go", onclick: () => dialog.close() }, "Compare two configurations"))));
  draw();
  dialog.showModal();
}
