// The picture of all classes: a map that is searched, zoomed and moved, with a list of its classes beside it.

import { get, apiPath } from "../shared/api.js";
import { $, button, countPhrase, element } from "../shared/dom.js";
import { classLink } from "../shared/labels.js";
import { pageAddress } from "../shared/state.js";
import { language, t } from "../shared/words.js";
import { beginLoading, breadcrumbs, latestRequest, showFailure } from "./browse.js";
import { drawPicture } from "./picture.js";
import { connect, layOut, linkWidths, shortNumber } from "./schema_graph.js";

const MOST = 400;

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
  const zoom = (label, sign, steps) => button(sign, () => view.picture.zoom(steps), "plain", { "aria-label": label, title: label });
  $("look").replaceChildren(breadcrumbs(graph), element("h2", {}, t("pictureOf", { graph })), element("div", { class: "row" }, view.search, zoom(t("zoomIn"), "+", 0.5), zoom(t("zoomOut"), "−", -0.5), zoom(t("zoomWhole"), t("whole"), 0),
    plumbing ? element("label", { class: "check" }, box, t("showPlumbing", { n: plumbing })) : ""), view.found,
  element("div", { class: "map-sides" }, element("figure", { class: "schema" }, view.frame = element("div"), view.caption), view.list));
  redraw(view);
}

async function redraw(view) {
  const { classes, links } = view.seen, shown = classes.filter((each) => view.isWhole || !each.is_plumbing), area = Math.max(16, shown.length);
  // in the shape of its frame
  const shape = Math.min(innerHeight * 0.64, 672) / view.frame.clientWidth, size = 172 * Math.sqrt(area);
  [view.wide, view.high] = [size / Math.sqrt(shape), size * Math.sqrt(shape)];
  const ends = new Set(shown.map((each) => each.iri)), lines = linkWidths(links.filter((each) => ends.has(each.start) && ends.has(each.end)));
  view.nodes = layOut(shown, lines, view.wide, view.high);
  fill(view);
  const root = element("div", { class: "map", role: "group", "aria-label": t("mapLabel") }), light = connect(view.nodes, lines, view.caption, t("mapHelp"));
  view.frame.replaceChildren(root);
  for (const node of view.nodes) {
    const lit = () => light(node), unlit = () => light(null);
    node.size = shortNumber(node.count);
    node.drawn = element("a", { href: pageAddress({ graph: view.graph, class: node.iri }), "aria-label": node.label + ", " + countPhrase(node.count, "thing"), onpointerenter: lit, onfocus: lit, onpointerleave: unlit, onblur: unlit });
  }
  const compare = (a, b) => b.count - a.count || (a.iri < b.iri ? -1 : 1);
  view.hits = view.nodes;
  view.picture = await drawPicture(root, { nodes: view.nodes, links: lines, compare, isNamed: (node) => view.hits.includes(node) });
  view.root = root;
  find(view);
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
  view.root.classList.toggle("searched", words.length > 0);
  view.found.textContent = countPhrase(view.hits.length, "class") + (view.seen.all_classes > view.seen.classes.length ? t("largestShown", { n: view.seen.classes.length }) : "");
  view.list.replaceChildren(...view.hits.map((node) => element("li", {}, classLink(view.graph, node.iri, node.label), " ", element("span", { class: "quiet" }, node.count.toLocaleString(language)))));
  view.picture.place();
}
