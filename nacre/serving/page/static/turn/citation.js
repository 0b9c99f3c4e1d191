// The popover of a citation: rows, facts in words, or a place in a document.

import { $, TYPE, apiPath, block, button, call, classLink, element, failureBox, faint, formatCell, h3, iconButton, inline, isIri, language, loadLabels, localName, para, query, quiet, t, thingLink, section } from "../shared/page.js";
import { highlightWords, linkNames } from "./markdown.js";
import { rowTable } from "./table.js";

const MIN_SIDE_WIDTH = 380, HOVER_DELAY = 280, CONTEXT_CHARACTERS = 600, MAX_FACTS = 12;
const PREDICATES = { [TYPE]: t("kindOfThing"), "http://www.w3.org/2000/01/rdf-schema#label": t("columnName") };
let opened = null, timer = 0;

// The number that opens a citation: a click pins the popover, hovering previews it.
export function citationButton(record, citation, derive) {
  const own = element("button", { type: "button", class: "cite", "aria-label": t("source", citation), "aria-haspopup": "dialog", "aria-expanded": "false" }, String(citation.n));
  own.onclick = () => (opened?.button === own && opened.pinned ? closeCitation() : openCitation(own, record, citation, derive, true));
  own.addEventListener("pointerenter", (event) => {
    if (event.pointerType === "mouse") timer = setTimeout(() => opened || openCitation(own, record, citation, derive, false), HOVER_DELAY);
  });
  own.addEventListener("pointerleave", () => { clearTimeout(timer); closeUnlessHovered(); });
  return own;
}

function openCitation(own, record, citation, derive, pinned) {
  const pop = $("source");
  if (opened?.button !== own) {
    closeCitation();
    opened = { button: own, pinned };
    const body = block("source-body", citationContent(record, citation, derive));
    pop.replaceChildren(element("header", {}, element("h2", { tabindex: "-1" }, t("source", citation)), iconButton("close", t("close"), closeCitation)), body);
    pop.showPopover();
    placePopover(pop, own);
    own.setAttribute("aria-expanded", "true");
  }
  opened.pinned = pinned;
  if (pinned) pop.querySelector("h2").focus({ preventScroll: true });
}

export function closeCitation() {
  clearTimeout(timer);
  if (opened) { opened.button.setAttribute("aria-expanded", "false"); opened = null; }
  if ($("source").matches(":popover-open")) $("source").hidePopover();
}

function closeUnlessHovered() {
  setTimeout(() => { if (opened && !opened.pinned && !$("source").matches(":hover") && !opened.button.matches(":hover")) closeCitation(); }, 250);
}
$("source").addEventListener("pointerleave", closeUnlessHovered);
$("source").addEventListener("toggle", (event) => {
  if (event.newState !== "closed" || !opened) return;
  opened.button.setAttribute("aria-expanded", "false");
  if (opened.pinned && document.activeElement === document.body) opened.button.focus({ preventScroll: true });
  opened = null;
});

// Right of the text if there is room, else below; on phones CSS places it.
function placePopover(pop, own) {
  if (matchMedia("(max-width: 40rem)").matches) { pop.style.left = pop.style.top = ""; return; }
  const at = own.getBoundingClientRect(), text = own.closest("article").getBoundingClientRect();
  const wide = pop.offsetWidth, high = pop.offsetHeight, right = $("panel").hidden ? innerWidth : $("panel").getBoundingClientRect().left || innerWidth;
  const side = right - text.right > MIN_SIDE_WIDTH;
  const left = side ? text.right + 20 : Math.min(at.left, right - wide - 12);
  const under = at.bottom + 8;
  const top = side ? at.top - 12 : under + high > innerHeight - 8 && at.top - high - 8 > 0 ? at.top - high - 8 : under;
  pop.style.left = Math.max(8, left) + "px";
  pop.style.top = Math.max(8, Math.min(top, innerHeight - high - 8)) + "px";
}

function citationContent(record, citation, derive) {
  const parts = [];
  const ran = [...new Set(citation.queries.map((i) => record.queries[i]?.words).filter(Boolean))];
  if (citation.rows.length) {
    parts.push(rowTable({ columns: citation.columns.map((each) => each.replaceAll("_", " ")), units: citation.units, rows: citation.rows, name: "source-" + citation.n, caption: t("rowsOfSource", citation) }));
    linkCells(parts[0], record.graph, citation.keys);
  } else if (citation.text) {
    parts.push(element("blockquote", {}, highlightWords(citation.text, record.standalone)));
  }
  if (citation.place) {
    const { document: name, start, end } = citation.place;
    parts.push(para("row", faint(name), button(t("readItThere"), () => openDocument(record, name, start, end), "plain")));
  } else if (citation.source && !["rows", citation.text, ...ran].includes(citation.source)) parts.push(quiet(citation.source));
  if (citation.basis) parts.push(basisLine(citation.basis));
  if (citation.triples.length) parts.push(factList(record.graph, citation.triples));
  if (ran.length) parts.push(h3("whatWasAsked"), para(null, ran.join("; ")));
  parts.push(para(null, button(t("howFound"), () => { closeCitation(); derive(); }, "plain")));
  return parts;
}

// What an answer rests on; the server says it in English.
function basisLine(basis) {
  const line = quiet(t("restsOn", { what: basis }));
  if (language !== "en") import("../shell/add_data.js").then(({ translate }) => { line.textContent = t("restsOn", { what: translate(basis) }); });
  return line;
}

// Triples with labels and links; tooltips show the IRIs.
function factList(graph, triples) {
  const list = element("ul", { class: "facts" });
  const more = triples.length - MAX_FACTS;
  const root = section(h3("facts"), list);
  const draw = (known, most) => list.replaceChildren(...triples.slice(0, most).map(([subject, predicate, object]) => element("li", {},
    thingLink(graph, subject, known.get(subject)), " ", element("span", { class: "predicate", title: predicate }, PREDICATES[predicate] || known.get(predicate) || localName(predicate)), " ",
    isIri(object) ? (predicate === TYPE ? classLink : thingLink)(graph, object, known.get(object)) : inline("literal", object.trim() && object.length < 16 ? formatCell(isNaN(object) ? object : Number(object), known.get(predicate)) : object))));
  let known = new Map();
  draw(known, MAX_FACTS);
  if (more > 0) root.append(button(t("andMore", { n: more }), (event) => { draw(known, triples.length); event.currentTarget.remove(); }, "plain"));
  loadLabels(graph, triples.flat().filter(isIri)).then((found) => { known = found; draw(known, list.children.length); }).catch(() => {
    // without labels the facts show local names
  });
  return root;
}

function linkCells(root, graph, keys) {
  loadLabels(graph, keys).then((known) => {
    linkNames(root, new Map([...known].map(([iri, label]) => [label, iri])), (label, iri) => thingLink(graph, iri, label));
  }).catch(() => {
    // links are optional
  });
}

// Show a document at the cited place.
async function openDocument({ graph, version }, name, start, end) {
  const dialog = $("text");
  const body = element("div", { class: "document", tabindex: "0" }, "…");
  dialog.replaceChildren(element("header", {}, element("h2", { id: "text-head" }, name), iconButton("close", t("close"), () => dialog.close())), body);
  dialog.showModal();
  try {
    const from = Math.max(0, start - CONTEXT_CHARACTERS);
    const reply = await call("GET", apiPath("graphs", graph, "documents") + "/" + name.split("/").map(encodeURIComponent).join("/") + query({ start: from, end: end + CONTEXT_CHARACTERS, version }));
    const text = await reply.text();
    const page = reply.headers.get("X-Page");
    if (page) dialog.querySelector("h2").append(t("page", { n: page }));
    const cited = element("mark", {}, text.slice(start - from, end - from));
    body.replaceChildren(from ? "… " : "", text.slice(0, start - from), cited, text.slice(end - from), " …");
    cited.scrollIntoView({ block: "center" });
  } catch (problem) {
    body.replaceChildren([404, 422].includes(problem.status) ? failureBox({ message: t("textNotStored"), hint: t("lookIntoFile", { name, start: formatCell(start), end: formatCell(end) }) }) : failureBox(problem));
  }
}
