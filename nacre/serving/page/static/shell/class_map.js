// The picture of all classes: a map that is searched, zoomed and moved, with a list of its classes beside it.

import { get, apiPath } from "../shared/api.js";
import { $, announce, button, countPhrase, element, svg } from "../shared/dom.js";
import { classLink } from "../shared/labels.js";
import { language, t } from "../shared/words.js";
import { beginLoading, breadcrumbs, latestRequest, showFailure } from "./browse.js";
import { connect, drawLinks, drawNode, layOut } from "./schema_graph.js";

const MOST = 400, MAX_ZOOM = 16, STEP = 1.4, FONT = 12, LETTER = 6.8, LINE = 16, DRAG = 4, ROOM = 1.16;
const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export async function showClassMap(graph) {
  const own = beginLoading(graph);
  $("about").textContent = t("pictureOf", { graph });
  try {
    const seen = await get(apiPath("graphs", graph, "overview") + "?" + new URLSearchParams({ classes: MOST, language }));
    if (own === latestRequest) draw({ graph, seen, isWhole: seen.classes.every((each) => each.is_plumbing) });
  } catch (problem) {
    showFailure(own, problem, () => showClassMap(graph));
  }
}

function draw(view) {
  const { graph, seen } = view, plumbing = seen.classes.filter((each) => each.is_plumbing).length;
  view.search = element("input", { type: "search", maxlength: "200", "aria-label": t("searchClasses"), placeholder: t("searchClasses"), oninput: () => find(view), onkeydown: (event) => { if (event.key === "Enter") view.hits[0]?.drawn?.focus(); } });
  const box = element("input", { type: "checkbox", onchange: () => { view.isWhole = box.checked; redraw(view); } });
  box.checked = view.isWhole;
  view.found = element("p", { class: "quiet", role: "status" });
  view.list = element("ul", { class: "names map-list", "aria-label": t("classList") });
  view.caption = element("p", { class: "quiet map-caption" });
  view.drawn = svg("svg", { class: "map", role: "group", "aria-label": t("mapLabel") });
  listen(view);
  const zoom = (label, sign, factor) => button(sign, () => (factor ? zoomBy(view, factor) : whole(view)), "plain", { "aria-label": label, title: label });
  $("look").replaceChildren(breadcrumbs(graph), element("h2", {}, t("pictureOf", { graph })), element("div", { class: "row" }, view.search, zoom(t("zoomIn"), "+", STEP), zoom(t("zoomOut"), "−", 1 / STEP), zoom(t("zoomWhole"), t("whole"), 0),
    plumbing ? element("label", { class: "check" }, box, t("showPlumbing", { n: plumbing })) : ""), view.found,
  element("div", { class: "map-sides" }, element("figure", { class: "schema" }, view.drawn, view.caption), view.list));
  redraw(view);
}

function redraw(view) {
  const { classes, links } = view.seen, shown = classes.filter((each) => view.isWhole || !each.is_plumbing), area = Math.max(16, shown.length);
  const narrow = matchMedia("(max-width: 40rem)").matches;
  [view.wide, view.high] = [(narrow ? 150 : 230) * Math.sqrt(area), (narrow ? 190 : 130) * Math.sqrt(area)];
  const ends = new Set(shown.map((each) => each.iri));
  view.nodes = layOut(shown, links.filter((each) => ends.has(each.start) && ends.has(each.end)), view.wide, view.high);
  fill(view);
  view.lines = drawLinks(view.nodes, links);
  const light = connect(view.nodes, view.lines, view.caption, t("mapHelp"));
  for (const node of view.nodes) {
    node.drawn = drawNode(view.graph, node, (on) => { light(on ? node : null); });
    node.drawn.setAttribute("tabindex", "-1");
    node.drawn.addEventListener("focus", () => { rove(view, node); });
    node.name = node.drawn.querySelector("text");
    node.name.addEventListener("click", () => node.drawn.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true })));
  }
  // names above all circles
  view.drawn.replaceChildren(...view.lines.map((each) => each.drawn), ...view.nodes.map((each) => each.drawn), svg("g", { class: "map-names", "aria-hidden": "true" }, view.nodes.map((each) => each.name)));
  view.nodes[0]?.drawn.setAttribute("tabindex", "0");
  find(view);
  whole(view);
}

// Spread the layout over the whole of the picture: half by its distances, half by its order.
function fill({ nodes, wide, high }) {
  for (const [axis, size] of [["x", wide], ["y", high]]) {
    const low = Math.min(...nodes.map((node) => node[axis])), high = Math.max(...nodes.map((node) => node[axis]));
    const place = (node, rank) => (high > low ? ((node[axis] - low) / (high - low) + rank / (nodes.length - 1)) / 2 : 0.5);
    const placed = [...nodes].sort((a, b) => a[axis] - b[axis] || (a.iri < b.iri ? -1 : 1)).map((node, rank) => [node, place(node, rank)]);
    for (const [node, share] of placed) node[axis] = share * size;
  }
}

// Mark what the search finds, and list it.
function find(view) {
  const words = view.search.value.toLowerCase().split(/\s+/).filter(Boolean), text = (node) => (node.label + " " + node.iri).toLowerCase();
  view.hits = view.nodes.filter((node) => words.every((word) => text(node).includes(word)));
  const among = new Set(view.hits);
  for (const node of view.nodes) node.drawn.classList.toggle("dim", !among.has(node));
  view.drawn.classList.toggle("searched", words.length > 0);
  view.found.textContent = countPhrase(view.hits.length, "class") + (view.seen.all_classes > view.seen.classes.length ? t("largestShown", { n: view.seen.classes.length }) : "");
  view.list.replaceChildren(...view.hits.map((node) => element("li", {}, classLink(view.graph, node.iri, node.label), " ", element("span", { class: "quiet" }, node.count.toLocaleString(language)))));
  if (view.zoom) place(view);
}

function whole(view) {
  [view.x, view.y, view.zoom] = [view.wide / 2, view.high / 2, 1];
  place(view);
}

function zoomBy(view, factor, x = view.x, y = view.y) {
  const zoom = Math.min(MAX_ZOOM, Math.max(1, view.zoom * factor)), share = view.zoom / zoom;
  [view.x, view.y, view.zoom] = [x + (view.x - x) * share, y + (view.y - y) * share, zoom];
  place(view);
}

// Set the visible part; names keep their size, and those that cover others are left out.
function place(view) {
  const wide = (view.wide * ROOM) / view.zoom, high = (view.high * ROOM) / view.zoom;
  view.x = Math.min(view.wide, Math.max(0, view.x));
  view.y = Math.min(view.high, Math.max(0, view.y));
  view.drawn.setAttribute("viewBox", [view.x - wide / 2, view.y - high / 2, wide, high].join(" "));
  const box = view.drawn.getBoundingClientRect(), unit = Math.max(wide / (box.width || 1), high / (box.height || 1));
  const taken = [], among = new Set(view.hits);
  const order = [...view.nodes].sort((a, b) => (b.drawn === document.activeElement) - (a.drawn === document.activeElement) || among.has(b) - among.has(a) || b.count - a.count || (a.iri < b.iri ? -1 : 1));
  for (const node of order) {
    const half = (node.name.textContent.length * LETTER * unit) / 2, low = node.y + node.r + 2 * unit, edge = Math.max(0, (box.width * unit) / 2 - half), isSeen = Math.abs(node.x - view.x) * 2 < box.width * unit;
    // a name at the edge stays within the picture
    const x = isSeen ? Math.min(view.x + edge, Math.max(view.x - edge, node.x)) : node.x, own = [x - half, low, x + half, low + LINE * unit];
    const isFree = taken.every((each) => own[2] < each[0] || own[0] > each[2] || own[3] < each[1] || own[1] > each[3]);
    if (isFree) taken.push(own);
    node.name.setAttribute("display", isFree && among.has(node) ? "inline" : "none");
    node.name.style.fontSize = FONT * unit + "px";
    node.name.style.strokeWidth = 5 * unit + "px";
    node.name.setAttribute("x", x);
    node.name.setAttribute("y", low + FONT * unit);
    const size = node.drawn.querySelector(".size");
    size.setAttribute("display", unit < 1.2 ? "inline" : "none");
  }
}

// One class is in the order of Tab; the arrow keys go to the next one in their direction.
function rove(view, node) {
  for (const each of view.nodes) each.drawn.setAttribute("tabindex", each === node ? "0" : "-1");
  const wide = view.wide / view.zoom / 2, high = view.high / view.zoom / 2;
  if (Math.abs(node.x - view.x) > wide * 0.9 || Math.abs(node.y - view.y) > high * 0.9) [view.x, view.y] = [node.x, node.y];
  place(view);
  announce(node.label + ", " + countPhrase(node.count, "thing"));
}

function listen(view) {
  const { drawn } = view, pointers = new Map();
  let moved = 0;
  const unit = () => view.wide / view.zoom / drawn.getBoundingClientRect().width;
  drawn.addEventListener("keydown", (event) => {
    const from = view.nodes.find((node) => node.drawn === document.activeElement), way = DIRECTIONS[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (way && from) {
      const ahead = view.nodes.filter((node) => node !== from && (view.search.value ? view.hits.includes(node) : true)).map((node) => [node, (node.x - from.x) * way[0] + (node.y - from.y) * way[1], Math.abs((node.x - from.x) * way[1]) + Math.abs((node.y - from.y) * way[0])]).filter(([, along, aside]) => along > 1 && aside < along * 2);
      ahead.sort((a, b) => a[1] + 2 * a[2] - b[1] - 2 * b[2]);
      ahead[0]?.[0].drawn.focus({ preventScroll: true });
    } else if (event.key === "+" || event.key === "=") zoomBy(view, STEP, from?.x, from?.y);
    else if (event.key === "-") zoomBy(view, 1 / STEP, from?.x, from?.y);
    else if (event.key === "0") whole(view);
    else return;
    event.preventDefault();
  });
  drawn.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !drawn.contains(document.activeElement)) return;
    event.preventDefault();
    const box = drawn.getBoundingClientRect();
    zoomBy(view, event.deltaY < 0 ? STEP : 1 / STEP, view.x + (event.clientX - box.left - box.width / 2) * unit(), view.y + (event.clientY - box.top - box.height / 2) * unit());
  }, { passive: false });
  drawn.addEventListener("pointerdown", (event) => { if (!pointers.size) moved = 0; pointers.set(event.pointerId, event); });
  drawn.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const others = [...pointers.values()].filter((each) => each.pointerId !== event.pointerId);
    const far = (a, b) => Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY) || 1;
    moved += far(event, before);
    if (moved > DRAG) drawn.setPointerCapture(event.pointerId);
    if (others.length) zoomBy(view, far(event, others[0]) / far(before, others[0]));
    else { view.x -= (event.clientX - before.clientX) * unit(); view.y -= (event.clientY - before.clientY) * unit(); place(view); }
    pointers.set(event.pointerId, event);
  });
  for (const kind of ["pointerup", "pointercancel", "lostpointercapture"]) drawn.addEventListener(kind, (event) => pointers.delete(event.pointerId));
  // a drag opens nothing
  drawn.addEventListener("click", (event) => { if (moved > DRAG) { event.preventDefault(); event.stopPropagation(); } }, true);
  drawn.addEventListener("dragstart", (event) => event.preventDefault());
  new ResizeObserver(() => { if (view.zoom && drawn.isConnected) place(view); }).observe(drawn);
}
