// Options of a question: reasoner, branches, rounds, strategy; stored in this browser.

import { $, button, choose, countPhrase, element, iconButton, language, LANGUAGES, quiet, row, state, t } from "../shared/page.js";
import { branchLabel } from "../turn/turn.js";

const STORAGE_KEY = "nacre-options";

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
    own.onchange = () => set(name, own.value === "" ? "" : read(own.value));
    return element("label", { class: "field" }, label, own);
  };
  const model = choices.model ? t("modelName", { name: choices.model }) : t("model");
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
  const first = choices.reasoners.includes("model") ? model : t("rules");
  return [
    select(t("reasoner"), "mind", choices.reasoners.map((each) => [each, each === "model" ? model : t("rules")]), t("serverDefault", { value: first })),
    quiet(choices.model ? choices.model_worth : t("noModel")),
    element("fieldset", {}, element("legend", {}, t("branches")), boxes.map(([, label]) => label)),
    select(t("maxRounds"), "max_rounds", [1, 2, 3, 4, 5].map((n) => [n, n]), t("serverDefault", { value: choices.max_rounds }), Number),
    select(t("strategy"), "strategy", ["parallel", "stepwise"].map((each) => [each, t(each)]), t("serverDefault", { value: t(choices.strategy) })),
    select(t("topK"), "top_k", [4, 8, 16, 32, 50].map((n) => [n, n]), t("serverDefault", { value: choices.top_k }), Number),
  ];
}

export function showActiveOptions() {
  const { mind, branches, max_rounds, strategy, top_k } = savedOptions();
  const words = [mind && t(mind), branches?.map(branchLabel).join(" + "), max_rounds && countPhrase(max_rounds, "round"), strategy && t(strategy), top_k && t("passages", { n: top_k })].filter(Boolean).join(", ");
  $("chosen").hidden = !words;
  $("chosen").replaceChildren(t("askedWith", { what: words }), button(t("change"), openConfiguration, "plain"), button(t("reset"), reset, "plain"));
}

function reset() {
  localStorage.removeItem(STORAGE_KEY);
  showActiveOptions();
}

export function openConfiguration() {
  const dialog = $("configuration");
  let chosen = savedOptions();
  const draw = () => dialog.replaceChildren(element("header", {}, element("h2", { id: "configuration-head" }, t("configuration")), iconButton("close", t("close"), () => dialog.close())),
    element("form", { method: "dialog" }, optionFields(chosen, (now) => { chosen = now; localStorage.setItem(STORAGE_KEY, JSON.stringify(now)); showActiveOptions(); }), languageField(),
      row(element("button", { class: "main" }, t("done")), button(t("reset"), () => { chosen = {}; reset(); draw(); }),
        element("a", { href: "?compare=1", class: "go", onclick: () => dialog.close() }, t("compareTwo")))));
  draw();
  dialog.showModal();
}

// The language of the page; changing it loads the page again.
function languageField() {
  const own = element("select", { onchange: () => choose(own.value) }, Object.entries(LANGUAGES).map(([code, name]) => element("option", { value: code, lang: code }, name)));
  own.value = language;
  return element("label", { class: "field" }, t("language"), own);
}
