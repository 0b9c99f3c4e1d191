// The names of a graph's classes and properties, with fields for callers that may write.

import { $, announce, apiPath, button, card, choiceGroup, classLink, countPhrase, element, faint, get, h2, icon, inline, item, labelOf, language, para, quiet, searchField, send, t, strong } from "../shared/page.js";
import { browse, latestRequest, look } from "./browse.js";
import { propertyLabel } from "./class_table.js";

const MAX_SHOWN = 200, POLL_DELAY = 1000, MAX_POLLS = 300;
const keyOf = (term) => term.kind + " " + term.iri + " " + term.value;
export const kindLabel = (kind) => labelOf("kind", { property: "predicate", thing: "entity" }[kind] ?? kind);

export function showNames(graph) {
  const path = apiPath("graphs", graph, "layer", { language });
  return browse(graph, () => get(path), (names, own) => {
    $("about").textContent = t("namesOf", { graph });
    // by key: drafts are unsaved texts, waiting what was saved and is not applied yet (the server knows what is `sent`), said what became of it
    const view = { graph, path, own, names, busy: names.busy, drafts: new Map(), waiting: new Map(), said: new Map(), updates: [], status: para(), list: element("ul", { class: "terms" }) };
    draw(view);
    window.addEventListener("beforeunload", (event) => { if ([...view.waiting.values()].some((each) => !each.sent)) event.preventDefault(); });
    if (view.busy) waitUntilApplied(view, view.status);
    else if (names.problem) showStatus(view.status, "error", names.problem);
  });
}

function draw(view) {
  view.search = searchField(t("searchNames"), () => drawList(view));
  view.found = quiet();
  view.files = quiet();
  look(view.graph, h2(t("names")),
    para(null, t("namesLead")),
    view.names.may_write ? quiet(t("byCommas")) : quiet(t("namesReadOnly"), element("code", {}, "nacre keys add NAME --may write")),
    view.files,
    view.given = element("div"),
    card(view.search, view.found, view.status, view.list));
  drawList(view);
  setBusy(view, view.busy);
  if (matchMedia("(pointer: fine)").matches) view.search.focus();
}

function drawList(view) {
  const words = view.search.value.toLowerCase().split(/\s+/);
  const found = view.names.terms.filter((term) => {
    const text = [term.name, ...term.also, term.iri].join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  });
  view.found.textContent = countPhrase(found.length, "entry") + (found.length > MAX_SHOWN ? t("firstShown", { n: MAX_SHOWN }) : "");
  view.updates = [];
  view.list.replaceChildren(...found.slice(0, MAX_SHOWN).map((term) => row(view, term)));
}

// What people gave and taught; a click takes it back.
function givenNames(view) {
  const chip = (term, name) => button([name + " → " + term.name, icon("close")], () => {
    view.search.value = term.name;
    drawList(view);
    saveNames(view, term, term.given.filter((each) => each !== name).join());
  }, "chip", { disabled: !view.names.may_write, "aria-label": t("takeNameBack", { name, of: term.name }) });
  const chips = view.names.terms.flatMap((term) => term.given.map((name) => chip(term, name))).slice(0, MAX_SHOWN);
  return chips.length ? choiceGroup(t("givenNames"), chips) : "";
}

function row(view, term) {
  const key = keyOf(term), { may_write } = view.names, tag = (text) => inline("tag", text);
  const also = quiet(), save = element("button", { "aria-label": t("saveNamesOf", term) }, t("save"));
  const field = element("input", { maxlength: "4000", autocomplete: "off", "aria-label": t("otherNamesOf", term), placeholder: t("otherNames"), oninput: () => { view.drafts.set(key, field.value); update(); } });
  const update = () => {
    const now = view.names.terms.find((each) => keyOf(each) === key) || term, given = now.given.join(", "), text = view.drafts.get(key) ?? given;
    also.textContent = now.also.filter((each) => !may_write || !now.given.includes(each)).join(", ");
    if (field.value !== text) field.value = text;
    const said = view.said.get(key);
    if (said && said.parentElement !== root) root.append(said);
    save.disabled = text === (view.waiting.get(key)?.text ?? given);
  };
  const root = item(element("div", { class: "row", title: term.iri }, strong(term.kind === "class" ? classLink(view.graph, term.iri, term.name) : propertyLabel({ predicate: term.iri, label: term.name })), [kindLabel(term.kind), term.derived && t("derived"), term.hidden && t("hidden")].filter(Boolean).map(tag),
    term.kind in { class: 1, property: 1 } && faint(countPhrase(term.count, term.kind === "class" ? "thing" : "fact"))), also,
    may_write && element("form", { class: "row", onsubmit: (event) => { event.preventDefault(); saveNames(view, term, field.value); } }, field, save));
  view.updates.push(update);
  update();
  return root;
}

// The server applies one change at a time: what is saved meanwhile waits.
function saveNames(view, term, text) {
  const key = keyOf(term);
  view.waiting.set(key, { term, text });
  const said = view.said.get(key) || para();
  view.said.set(key, said);
  showStatus(said, "working", t("namesWaiting"));
  if (view.busy) setBusy(view, true); else applyNext(view);
}

async function applyNext(view) {
  const [next] = view.waiting, before = view.names.version;
  setBusy(view, Boolean(next));
  if (!next) return;
  const [key, change] = next, said = view.said.get(key);
  const applied = (problem) => {
    if (view.waiting.get(key) === change) view.waiting.delete(key);
    if (!problem && view.drafts.get(key) === change.text) view.drafts.delete(key);
  };
  try {
    await send("POST", view.path, { iri: change.term.iri, value: change.term.value, also: change.text.split(",").map((each) => each.trim()).filter(Boolean) });
    change.sent = true;
  } catch (problem) {
    applied(problem);
    return finish(view, said, problem.message);
  }
  return waitUntilApplied(view, said, before, applied);
}

async function waitUntilApplied(view, said, before, applied = () => {}) {
  showStatus(said, "working", t("namesApplying"));
  let problem = "";
  try {
    const names = await appliedNames(view.path, before, () => !view.waiting.size && (view.own !== latestRequest || $("look").hidden));
    if (!names) return;
    if (names.busy) return showStatus(said, "note", t("namesStillApplying"), button(t("checkAgain"), () => waitUntilApplied(view, said, before, applied)));
    ({ problem } = names);
    view.names = names;
  } catch (failure) {
    problem = failure.message;
  }
  applied(problem);
  finish(view, said, problem);
}

// The names after a change: `busy` if it takes too long, null if the view is left. Only the version
// tells: another process may answer.
async function appliedNames(path, before, isLeft) {
  for (let polls = 0; polls < MAX_POLLS; polls += 1) {
    await new Promise((wait) => setTimeout(wait, POLL_DELAY));
    if (isLeft()) return null;
    try {
      const names = await get(path);
      if (!names.busy && (names.problem || names.version !== before)) return names;
    } catch (problem) {
      // a server that restarts is asked again
      if (problem.status && problem.status < 500) throw problem;
    }
  }
  return { busy: true };
}

// Teach a word, another name of what it means: the names afterwards, as `appliedNames`.
export async function teachWord(graph, word, { iri, value }, isLeft) {
  const path = apiPath("graphs", graph, "layer"), before = (await get(path)).version;
  await send("POST", path + "/words", { word, meaning: iri, value });
  return appliedNames(path, before, isLeft);
}

function finish(view, said, problem) {
  showStatus(said, problem ? "error" : "quiet", problem || t("namesApplied"));
  return applyNext(view);
}

function setBusy(view, busy) {
  view.busy = busy;
  view.files.textContent = t("layerFiles", { files: view.names.files.join(", ") || t("none") });
  view.given.replaceChildren(givenNames(view));
  for (const update of view.updates) update();
}

function showStatus(status, kind, text, ...actions) {
  status.className = kind;
  status.replaceChildren(text, ...actions);
  announce(text);
}
