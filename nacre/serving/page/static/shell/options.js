// Options of a question: reasoner, branches, rounds, strategy; stored in this browser.

import { $, button, element, iconButton } from "../shared/dom.js";
import { state } from "../shared/state.js";
import { branchLabel } from "../turn/turn.js";

const STORAGE_KEY = "nacre-options";
const STRATEGY_LABELS = { parallel: "all branches at once", stepwise: "a step at a time" };

export function savedOptions() {
  try { return JSON.parse(localStorage.getItem(STORAGE_KEY)) || {}; } catch { return {}; }
}

// The fields of a form for `given`; `change` receives the chosen options without server defaults.
export function optionFields(given, change) {
  const { choices } = state;
  const chosen = { ...given };
  const set = (name, value) => { if (value === "" || value == null) delete chosen[name]; else chosen[name] = value; change({ ...chosen }); };
  const select = (label, name, values, none, read = (value) => value) => {
    const own = element("select", {}, element("option", { value: "" }, none), values.map(([value, words]) => element("option", { value }, words)));
    own.value = given[name] ?? "";
    own.addEventListener("change", () => set(name, own.value === "" ? "" : read(own.value)));
    return element("label", { class: "field" }, label, own);
  };
  const model = choices.model ? "model (" + choices.model + ")" : "model";
  const boxes = choices.branches.map((branch) => {
    const box = element("input", { type: "checkbox", value: branch });
    box.checked = (given.branches || choices.by_default).includes(branch);
    return [box, element("label", { class: "check" }, box, branchLabel(branch))];
  });
  for (const [box] of boxes) box.addEventListener("change", () => {
    const on = boxes.map(([each]) => each).filter((each) => each.checked).map((each) => each.value);
    if (!on.length) { box.checked = true; return; }
    set("branches", on.join() === choices.by_default.join() ? "" : on);
  });
  const first = choices.reasoners.includes("model") ? model : "rules";
  return [
    select("Reasoner", "mind", choices.reasoners.map((each) => [each, each === "model" ? model : each]), "server default (" + first + ")"),
    choices.model ? "" : element("p", { class: "quiet" }, "No model is set on this server; set NACRE_MODEL there to use one."),
    element("fieldset", {}, element("legend", {}, "Branches"), boxes.map(([, label]) => label)),
    select("Rounds, at most", "max_rounds", [1, 2, 3, 4, 5].map((n) => [n, n]), "server default (" + choices.max_rounds + ")", Number),
    select("Strategy", "strategy", Object.entries(STRATEGY_LABELS), "server default (" + STRATEGY_LABELS[choices.strategy] + ")"),
    select("Passages a branch reads", "top_k", [4, 8, 16, 32, 50].map((n) => [n, n]), "server default (" + choices.top_k + ")", Number),
  ];
}

export function describeOptions(chosen) {
  const told = [];
  if (chosen.mind) told.push(chosen.mind);
  if (chosen.branches) told.push(chosen.branches.map(branchLabel).join(" + "));
  if (chosen.max_rounds) told.push("at most " + chosen.max_rounds + (chosen.max_rounds === 1 ? " round" : " rounds"));
  if (chosen.strategy) told.push(STRATEGY_LABELS[chosen.strategy]);
  if (chosen.top_k) told.push(chosen.top_k + " passages");
  return told.join(", ");
}

export function showActiveOptions() {
  const words = describeOptions(savedOptions());
  $("chosen").hidden = !words;
  $("chosen").replaceChildren("Asked with: " + words + " ", button("Change", openConfiguration, "plain"), button("Reset", () => { localStorage.removeItem(STORAGE_KEY); showActiveOptions(); }, "plain"));
}

export function openConfiguration() {
  const dialog = $("configuration");
  let chosen = savedOptions();
  const draw = () => dialog.replaceChildren(element("header", {}, element("h2", { id: "configuration-head" }, "Configuration"), iconButton("close", "Close", () => dialog.close())),
    element("form", { method: "dialog" }, optionFields(chosen, (now) => { chosen = now; localStorage.setItem(STORAGE_KEY, JSON.stringify(now)); showActiveOptions(); }),
      element("div", { class: "row" }, element("button", { class: "main" }, "Done"), button("Reset", () => { chosen = {}; localStorage.removeItem(STORAGE_KEY); showActiveOptions(); draw(); }),
        element("a", { href: "/?compare=1", class: "go", onclick: () => dialog.close() }, "Compare two configurations"))));
  draw();
  dialog.showModal();
}
