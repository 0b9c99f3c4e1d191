// What a number in an answer stands for, opened beside its sentence: rows, facts in words, a place in a text.

import { call, place } from "./api.js";
import { $, button, failure, make, shown, tool } from "./dom.js";
import { classLink, isIri, names, short, thingLink } from "./names.js";
import { marked } from "./prose.js";
import { grid } from "./table.js";

const TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const ROOM = 380, WAIT = 280, AROUND = 600, MOST_FACTS = 12;
let opened = null, timer = 0;

// The small number that opens a source: by a click it stays, by resting on it one may look.
export function citeButton(record, citation, derive) {
  const own = make("button", { type: "button", class: "cite", "aria-label": "Source " + citation.n, "aria-haspopup": "dialog", "aria-expanded": "false" }, String(citation.n));
  own.addEventListener("click", () => (opened?.button === own && opened.pinned ? close() : open(own, record, citation, derive, true)));
  own.addEventListener("pointerenter", (event) => {
    if (event.pointerType === "mouse") timer = setTimeout(() => opened || open(own, record, citation, derive, false), WAIT);
  });
  own.addEventListener("pointerleave", () => { clearTimeout(timer); leave(); });
  return own;
}

function open(own, record, citation, derive, pinned) {
  const pop = $("source");
  if (opened?.button !== own) {
    close();
    opened = { button: own, pinned };
    const body = make("div", { class: "source-body" }, content(record, citation, derive));
    pop.replaceChildren(make("header", {}, make("h2", { tabindex: "-1" }, "Source " + citation.n), tool("close", "Close", close)), body);
    pop.showPopover();
    beside(pop, own);
    own.setAttribute("aria-expanded", "true");
  }
  opened.pinned = pinned;
  if (pinned) pop.querySelector("h2").focus({ preventScroll: true });
}

export function close() {
  clearTimeout(timer);
  if (opened) { opened.button.setAttribute("aria-expanded", "false"); opened = null; }
  if ($("source").matches(":popover-open")) $("source").hidePopover();
}

function leave() {
  setTimeout(() => { if (opened && !opened.pinned && !$("source").matches(":hover") && !opened.button.matches(":hover")) close(); }, 250);
}
$("source").addEventListener("pointerleave", leave);
$("source").addEventListener("toggle", (event) => {
  if (event.newState !== "closed" || !opened) return;
  opened.button.setAttribute("aria-expanded", "false");
  if (opened.pinned && document.activeElement === document.body) opened.button.focus({ preventScroll: true });
  opened = null;
});

// To the right of the text where there is room, else under the line; on a phone the style sheet puts it at the bottom.
function beside(pop, own) {
  if (matchMedia("(max-width: 40rem)").matches) { pop.style.left = pop.style.top = ""; return; }
  const at = own.getBoundingClientRect(), text = own.closest("article").getBoundingClientRect();
  const wide = pop.offsetWidth, high = pop.offsetHeight, right = $("panel").hidden ? innerWidth : $("panel").getBoundingClientRect().left || innerWidth;
  const side = right - text.right > ROOM;
  const left = side ? text.right + 20 : Math.min(at.left, right - wide - 12);
  const under = at.bottom + 8;
  const top = side ? at.top - 12 : under + high > innerHeight - 8 && at.top - high - 8 > 0 ? at.top - high - 8 : under;
  pop.style.left = Math.max(8, left) + "px";
  pop.style.top = Math.max(8, Math.min(top, innerHeight - high - 8)) + "px";
}

function content(record, citation, derive) {
  const parts = [];
  const ran = [...new Set(citation.queries.map((i) => record.queries[i]?.words).filter(Boolean))];
  if (citation.rows.length) {
    parts.push(grid({ columns: citation.columns.map((each) => each.replaceAll("_", " ")), units: citation.units, rows: citation.rows, name: "source-" + citation.n, caption: "Rows of source " + citation.n }));
    linkLabels(parts[0], record.graph, citation.keys);
  } else if (citation.text) {
    parts.push(make("blockquote", {}, marked(citation.text, record.standalone)));
  }
  if (citation.place) {
    const { document: name, start, end } = citation.place;
    parts.push(make("p", { class: "row" }, make("span", { class: "quiet" }, name), button("Read it there", () => openText(record, name, start, end), "plain")));
  } else if (citation.source && !["rows", citation.text, ...ran].includes(citation.source)) parts.push(make("p", { class: "quiet" }, citation.source));
  if (citation.basis) parts.push(make("p", { class: "quiet" }, "Rests on " + citation.basis + "."));
  if (citation.triples.length) parts.push(facts(record.graph, citation.triples));
  if (ran.length) parts.push(make("h3", {}, "What was asked of the graph"), make("p", {}, ran.join("; ")));
  parts.push(make("p", {}, button("How it was found", () => { close(); derive(); }, "plain")));
  return parts;
}

// Triples as words, with links to the things; the IRIs are a rest of the pointer away.
function facts(graph, triples) {
  const list = make("ul", { class: "facts" });
  const more = triples.length - MOST_FACTS;
  const root = make("section", {}, make("h3", {}, "Facts"), list);
  const draw = (known, most) => list.replaceChildren(...triples.slice(0, most).map(([subject, predicate, object]) => make("li", {},
    thingLink(graph, subject, known.get(subject)), " ", make("span", { class: "predicate", title: predicate }, known.get(predicate) || short(predicate)), " ",
    isIri(object) ? (predicate === TYPE ? classLink : thingLink)(graph, object, known.get(object)) : make("span", { class: "literal" }, object))));
  let known = new Map();
  draw(known, MOST_FACTS);
  if (more > 0) root.append(button("and " + more + " more", (event) => { draw(known, triples.length); event.currentTarget.remove(); }, "plain"));
  names(graph, triples.flat().filter(isIri)).then((found) => { known = found; draw(known, list.children.length); }).catch(() => {
    // without names the facts stand with the ends of their IRIs
  });
  return root;
}

function linkLabels(root, graph, keys) {
  names(graph, keys).then((known) => {
    const byLabel = new Map([...known].map(([iri, label]) => [label, iri]));
    for (const cell of root.querySelectorAll("td")) if (byLabel.has(cell.textContent)) cell.replaceChildren(thingLink(graph, byLabel.get(cell.textContent), cell.textContent));
  }).catch(() => {
    // the rows are readable without links
  });
}

// A text at the place that was cited.
async function openText({ graph, version }, name, start, end) {
  const dialog = $("text");
  const body = make("div", { class: "document", tabindex: "0" }, "…");
  dialog.replaceChildren(make("header", {}, make("h2", { id: "text-head" }, name), tool("close", "Close", () => dialog.close())), body);
  dialog.showModal();
  try {
    const from = Math.max(0, start - AROUND);
    const reply = await call("GET", place("graphs", graph, "documents") + "/" + name.split("/").map(encodeURIComponent).join("/") + "?" + new URLSearchParams({ start: from, end: end + AROUND, version }));
    const text = await reply.text();
    const page = reply.headers.get("X-Page");
    if (page) dialog.querySelector("h2").append(", page " + page);
    const cited = make("mark", {}, text.slice(start - from, end - from));
    body.replaceChildren(from ? "… " : "", text.slice(0, start - from), cited, text.slice(end - from), " …");
    cited.scrollIntoView({ block: "center" });
  } catch (problem) {
    body.replaceChildren(problem.status === 404 || problem.status === 422 ? failure({ message: "This text is not kept beside the graph.", todo: "Look into the file " + name + ", characters " + shown(start) + " to " + shown(end) + "." }) : failure(problem));
  }
}
