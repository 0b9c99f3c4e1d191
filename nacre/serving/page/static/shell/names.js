// The names of a graph's classes and properties, with fields for callers that may write.

import { $, announce, apiPath, button, card, classLink, countPhrase, element, faint, get, quiet, send, t } from "../shared/page.js";
import { beginLoading, breadcrumbs, latestRequest, showFailure } from "./browse.js";

const MAX_SHOWN = 200, POLL_DELAY = 1000, MAX_POLLS = 300;
const keyOf = (term) => term.kind + " " + term.iri;

export async function showNames(graph) {
  const own = beginLoading(graph), path = apiPath("graphs", graph, "layer");
  $("about").textContent = t("namesOf", { graph });
  try {
    const names = await get(path);
    if (own !== latestRequest) return;
    // drafts: unsaved texts by key; updates: redraw the shown rows
    const view = { graph, path, own, names, busy: names.busy, drafts: new Map(), updates: [], status: element("p"), list: element("ul", { class: "terms" }) };
    draw(view);
    if (view.busy) waitUntilApplied(view);
    else if (names.problem) showStatus(view, "error", names.problem);
  } catch (problem) {
    showFailure(own, problem, () => showNames(graph));
  }
}

function draw(view) {
  view.search = element("input", { type: "search", maxlength: "200", "aria-label": t("searchNames"), placeholder: t("searchNames"), oninput: () => drawList(view) });
  view.found = quiet();
  view.files = quiet();
  $("look").replaceChildren(breadcrumbs(view.graph), element("h2", {}, t("names")),
    element("p", {}, t("namesLead")),
    view.names.may_write ? quiet(t("byCommas")) : quiet(t("namesReadOnly"), element("code", {}, "nacre keys add NAME --may write")),
    view.files,
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
  view.found.after(view.status);
  view.updates = [];
  view.list.replaceChildren(...found.slice(0, MAX_SHOWN).map((term) => row(view, term)));
}

function row(view, term) {
  const key = keyOf(term), { may_write } = view.names, tag = (text) => element("span", { class: "tag" }, text);
  const also = quiet(), save = element("button", { "aria-label": t("saveNamesOf", term) }, t("save"));
  const field = element("input", { maxlength: "4000", autocomplete: "off", "aria-label": t("otherNamesOf", term), placeholder: t("otherNames"), oninput: () => { view.drafts.set(key, field.value); update(); } });
  const update = () => {
    const now = view.names.terms.find((each) => keyOf(each) === key) || term, given = now.given.join(", "), text = view.drafts.get(key) ?? given;
    also.textContent = now.also.filter((each) => !may_write || !now.given.includes(each)).join(", ");
    if (field.value !== text) field.value = text;
    save.disabled = view.busy || text === given;
  };
  update();
  view.updates.push(update);
  const root = element("li", {}, element("div", { class: "row", title: term.iri }, element("strong", {}, term.kind === "class" ? classLink(view.graph, term.iri, term.name) : term.name), [t(term.kind === "class" ? "kindClass" : "kindProperty"), term.derived && t("derived"), term.hidden && t("hidden")].filter(Boolean).map(tag),
    faint(countPhrase(term.count, term.kind === "class" ? "thing" : "fact"))), also,
    may_write && element("form", { class: "row", onsubmit: (event) => { event.preventDefault(); root.append(view.status); saveNames(view, term, field.value); } }, field, save));
  return root;
}

async function saveNames(view, term, text) {
  const before = view.names.version;
  setBusy(view, true);
  try {
    await send("POST", view.path, { iri: term.iri, also: text.split(",").map((each) => each.trim()).filter(Boolean) });
  } catch (problem) {
    return finish(view, problem.message);
  }
  return waitUntilApplied(view, before, () => { if (view.drafts.get(keyOf(term)) === text) view.drafts.delete(keyOf(term)); });
}

async function waitUntilApplied(view, before, applied = () => {}) {
  showStatus(view, "working", t("namesApplying"));
  try {
    const names = await appliedNames(view.path, before, () => view.own !== latestRequest || $("look").hidden);
    if (!names) return;
    if (names.busy) return showStatus(view, "note", t("namesStillApplying"), button(t("checkAgain"), () => waitUntilApplied(view, before, applied)));
    if (!names.problem) applied();
    view.names = names;
    finish(view, names.problem);
  } catch (problem) {
    finish(view, problem.message);
  }
}

// The names after a change: `busy` if it takes too long, null if the view is left. They are asked for each second. The
// process that answers may be another one: only the version tells.
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

// Teach a word, which becomes another name of a class or property: the names afterwards, as `appliedNames`.
export async function teachWord(graph, word, meaning, isLeft) {
  const path = apiPath("graphs", graph, "layer"), before = (await get(path)).version;
  await send("POST", path + "/words", { word, meaning });
  return appliedNames(path, before, isLeft);
}

function finish(view, problem) {
  setBusy(view, false);
  showStatus(view, problem ? "error" : "quiet", problem || t("namesApplied"));
}

function setBusy(view, busy) {
  view.busy = busy;
  view.files.textContent = t("layerFiles", { files: view.names.files.join(", ") || t("none") });
  for (const update of view.updates) update();
}

function showStatus(view, kind, text, ...actions) {
  view.status.className = kind;
  view.status.replaceChildren(text, ...actions);
  announce(text);
}
