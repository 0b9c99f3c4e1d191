// The picture of all classes: a map that is searched, zoomed and moved, with a list of its classes beside it.

import { $, apiPath, block, button, classLink, countPhrase, element, faint, get, h2, item, language, pageAddress, para, row, searchField, t } from "../shared/page.js";
import { browse, look } from "./browse.js";
import { drawPicture } from "./picture.js";
import { connect, layOut, linkWidths, shortNumber } from "./schema_graph.js";

const MOST = 400;

export const showClassMap = (graph) => browse(graph, () => get(apiPath("graphs", graph, "overview", { classes: MOST, language })), (seen) => {
  $("about").textContent = t("pictureOf", { graph });
  draw({ graph, seen, isWhole: seen.classes.every((each) => each.is_plumbing) });
});

function draw(view) {
  const { graph, seen } = view, plumbing = seen.classes.filter((each) => each.is_plumbing).length;
  view.search = searchField(t("searchClasses"), () => find(view), { onkeydown: (event) => { if (event.key === "Enter") view.hits[0]?.drawn?.focus(); } });
  const box = element("input", { type: "checkbox", onchange: () => { view.isWhole = box.checked; redraw(view); } });
  box.checked = view.isWhole;
  view.found = element("p", { class: "quiet", role: "status" });
  view.list = element("ul", { class: "names map-list", "aria-label": t("classList") });
  view.caption = para("quiet map-caption");
  look(graph, h2(t("pictureOf", { graph })), row(view.search, button(t("zoomWhole"), () => view.picture.whole(), "plain"),
    plumbing ? element("label", { class: "check" }, box, t("showPlumbing", { n: plumbing })) : ""), view.found,
  block("map-sides", element("figure", { class: "schema" }, view.frame = element("div"), view.caption), view.list));
  redraw(view);
}

async function redraw(view) {
  const { classes, links } = view.seen, shown = classes.filter((each) => view.isWhole || !each.is_plumbing), area = Math.max(16, shown.length);
  // in the shape of its frame
  const shape = Math.min(innerHeight * 0.64, 672) / view.frame.clientWidth, size = 172 * Math.sqrt(area);
  [view.wide, view.high] = [size / Math.sqrt(shape), size * Math.sqrt(shape)];
  const ends = new Set(shown.map((each) => each.iri)), lines = linkWidths(links.filter((each) => ends.has(each.start) && ends.has(each.end)));
  view.nodes = await layOut(shown, lines, view.wide, view.high);
  const root = element("div", { class: "map", role: "group", "aria-label": t("classesAndLinks") + t("mapKeys") }), light = connect(view.nodes, lines, view.caption, t("mapHelp"));
  view.frame.replaceChildren(root);
  for (const node of view.nodes) {
    node.size = shortNumber(node.count);
    node.drawn = element("a", { href: pageAddress({ graph: view.graph, class: node.iri }), "aria-label": node.label + ", " + countPhrase(node.count, "thing") });
  }
  const compare = (a, b) => b.count - a.count || (a.iri < b.iri ? -1 : 1);
  view.hits = view.nodes;
  view.picture = await drawPicture(root, { nodes: view.nodes, links: lines, compare, light, isNamed: (node) => view.hits.includes(node) });
  view.root = root;
  find(view);
}

// Mark what the search finds, and list it.
function find(view) {
  const words = view.search.value.toLowerCase().split(/\s+/).filter(Boolean), text = (node) => (node.label + " " + node.iri).toLowerCase();
  view.hits = view.nodes.filter((node) => words.every((word) => text(node).includes(word)));
  const among = new Set(view.hits);
  for (const node of view.nodes) node.drawn.classList.toggle("dim", !among.has(node));
  view.root.classList.toggle("searched", words.length > 0);
  view.found.textContent = countPhrase(view.hits.length, "class") + (view.seen.all_classes > view.seen.classes.length ? t("largestShown", { n: view.seen.classes.length }) : "");
  view.list.replaceChildren(...view.hits.map((node) => item(classLink(view.graph, node.iri, node.label), " ", faint(node.count.toLocaleString(language)))));
  view.picture.place();
}
