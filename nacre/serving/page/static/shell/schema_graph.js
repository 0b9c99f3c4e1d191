// Drawing of a schema: classes as circles by size, links as lines.

import { countPhrase, element, h3, language, pageAddress, svg, t } from "../shared/page.js";

// steps of the layout
const STEPS = 300, MIN_RADIUS = 9, MAX_RADIUS = 34;

export async function schemaGraph({ name, classes: all, links, all_classes }) {
  const classes = all.some((each) => !each.is_plumbing) ? all.filter((each) => !each.is_plumbing) : all;
  if (!classes.length) return "";
  const [wide, high] = innerWidth <= 640 ? [380, 400] : [720, 420];
  const nodes = await layOut(classes, links, wide, high);
  const caption = element("p", { class: "quiet", "aria-live": "off" });
  const rest = all_classes - classes.length;
  const at = new Map(nodes.map((node) => [node.iri, node])), lines = linkWidths(links.filter((each) => at.has(each.start) && at.has(each.end)));
  for (const each of lines) each.drawn = linkPath(at.get(each.start), at.get(each.end), each);
  const light = connect(nodes, lines, caption, countPhrase(all_classes, "class") + (rest > 0 ? t("largestShown", { n: classes.length }) : "") + t("selectForDetails"));
  const circles = nodes.map((node) => drawNode(name, node, (on) => light(on ? node : null)));
  return element("figure", { class: "schema" }, h3("madeOf"), svg("svg", { viewBox: `0 ${topEdge(nodes)} ${wide} ${Math.max(140, bottomEdge(nodes) - topEdge(nodes))}`, role: "group", "aria-label": t("classesAndLinks") }, lines.map((each) => each.drawn), circles), caption,
    element("p", {}, element("a", { href: pageAddress({ graph: name, picture: "" }), class: "go" }, t("allInPicture"))));
}

// The links, thicker for more triples.
export function linkWidths(links) {
  const top = Math.max(...links.map((each) => each.triples), 1);
  return links.map((each) => ({ ...each, width: 1 + 3 * (Math.log1p(each.triples) / Math.log1p(top)) }));
}

// A class as a link to its page; `lit(on)` is called when it is pointed at.
function drawNode(graph, node, lit) {
  return svg("a", { href: pageAddress({ graph, class: node.iri }), "aria-label": node.label + ", " + countPhrase(node.count, "thing"), onpointerenter: () => lit(true), onpointerleave: () => lit(false), onfocus: () => lit(true), onblur: () => lit(false) },
    svg("circle", { cx: node.x, cy: node.y, r: node.r }), svg("text", { x: node.x, y: node.y + node.r + 15, "text-anchor": "middle" }, node.label.length > 24 ? node.label.slice(0, 23) + "…" : node.label),
    svg("text", { x: node.x, y: node.y + 4, "text-anchor": "middle", class: "size" }, node.r > 16 ? shortNumber(node.count) : ""));
}

// Lights the lines of a node and captions its links; without a node the caption is `plain`.
export function connect(nodes, lines, caption, plain) {
  const at = new Map(nodes.map((node) => [node.iri, node]));
  caption.textContent = plain;
  return (node) => {
    for (const each of lines) each.drawn.classList.toggle("lit", each.start === node?.iri || each.end === node?.iri);
    const own = node ? lines.filter((each) => each.start === node.iri || each.end === node.iri).slice(0, 5) : [];
    caption.textContent = node ? (node.about ?? node.label + ": " + countPhrase(node.count, "thing")) + own.map((each) => "; " + (each.start === node.iri ? t("linkFrom", { property: each.predicates[0], other: at.get(each.end).label }) : t("linkTo", { property: each.predicates[0], other: at.get(each.start).label }))).join("") : plain;
  };
}

const topEdge = (nodes) => Math.min(...nodes.map((node) => node.y - node.r)) - 12;
const bottomEdge = (nodes) => Math.max(...nodes.map((node) => node.y + node.r)) + 26;
export const shortNumber = (number) => number.toLocaleString(language, { notation: number < 1e4 ? "standard" : "compact", useGrouping: false });

function linkPath(a, b, { predicates, width }) {
  const bend = 0.12, mx = (a.x + b.x) / 2 - (b.y - a.y) * bend, my = (a.y + b.y) / 2 + (b.x - a.x) * bend;
  const d = a === b ? `M${a.x - 6} ${a.y - a.r + 2}c-26 -34 38 -34 12 0` : `M${a.x} ${a.y}Q${mx} ${my} ${b.x} ${b.y}`;
  return svg("path", { d, class: "link", "stroke-width": width }, svg("title", {}, a.label + " → " + predicates.join(", ") + " → " + b.label));
}

let library = null;
const simulator = () => (library ??= Promise.all(["quadtree", "dispatch", "timer"].map((name) => import(`../vendor/d3-${name}-3.0.2/d3-${name}.min.js`))).then(() => import("../vendor/d3-force-3.0.1/d3-force.min.js")).then(() => window.d3));

// Places by d3-force, which gives the same ones each time, spread over the room.
export async function layOut(classes, links, wide, high) {
  const { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY } = await simulator(), top = Math.max(...classes.map((each) => each.count), 1);
  const nodes = classes.map((each) => ({ ...each, r: MIN_RADIUS + (MAX_RADIUS - MIN_RADIUS) * Math.sqrt(each.count / top) })), ends = new Set(nodes.map((node) => node.iri));
  const springs = links.filter((each) => ends.has(each.start) && ends.has(each.end)).map((each) => ({ source: each.start, target: each.end }));
  forceSimulation(nodes).force("links", forceLink(springs).id((node) => node.iri).distance(120)).force("apart", forceManyBody().strength(-400)).force("room", forceCollide((node) => node.r + 28))
    .force("x", forceX().strength(0.05)).force("y", forceY().strength((0.05 * wide) / high)).stop().tick(STEPS);
  for (const [axis, size, room] of [["x", wide, halfWidth], ["y", high, (node) => node.r + 14]]) {
    const low = Math.min(...nodes.map((node) => node[axis] - room(node))), far = Math.max(...nodes.map((node) => node[axis] + room(node)));
    for (const node of nodes) node[axis] = Math.max(room(node), Math.min(size - room(node), size / 2 + (node[axis] - (low + far) / 2) * Math.min(1.4, size / (far - low))));
  }
  return nodes;
}

const halfWidth = (node) => Math.max(node.r, node.label.length * 3.6) + 6;
