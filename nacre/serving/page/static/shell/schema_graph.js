// Drawing of a schema: classes as circles by size, links as lines.

import { countPhrase, element, svg } from "../shared/dom.js";
import { pageAddress } from "../shared/state.js";
import { t } from "../shared/words.js";

// steps of the layout, and pairs of nodes that are compared in all of them
const STEPS = 300, MAX_PAIRS = 12e6, MIN_RADIUS = 9, MAX_RADIUS = 34;

export function schemaGraph({ name, classes: all, links, all_classes }) {
  const classes = all.some((each) => !each.is_plumbing) ? all.filter((each) => !each.is_plumbing) : all;
  if (!classes.length) return "";
  const [wide, high] = matchMedia("(max-width: 40rem)").matches ? [380, 400] : [720, 420];
  const nodes = layOut(classes, links, wide, high);
  const caption = element("p", { class: "quiet", "aria-live": "off" });
  const rest = all_classes - classes.length;
  const lines = drawLinks(nodes, links);
  const light = connect(nodes, lines, caption, countPhrase(all_classes, "class") + (rest > 0 ? t("largestShown", { n: classes.length }) : "") + t("selectForDetails"));
  const circles = nodes.map((node) => drawNode(name, node, (on) => light(on ? node : null)));
  return element("figure", { class: "schema" }, element("h3", {}, t("madeOf")), svg("svg", { viewBox: `0 ${topEdge(nodes)} ${wide} ${Math.max(140, bottomEdge(nodes) - topEdge(nodes))}`, role: "group", "aria-label": t("classesAndLinks") }, lines.map((each) => each.drawn), circles), caption,
    element("p", {}, element("a", { href: pageAddress({ graph: name, picture: "" }), class: "go" }, t("allInPicture"))));
}

// The links, thicker for more triples.
export function linkWidths(links) {
  const top = Math.max(...links.map((each) => each.triples), 1);
  return links.map((each) => ({ ...each, width: 1 + 3 * (Math.log1p(each.triples) / Math.log1p(top)) }));
}

// The links between the nodes, each with its line.
function drawLinks(nodes, links) {
  const at = new Map(nodes.map((node) => [node.iri, node]));
  return linkWidths(links.filter((each) => at.has(each.start) && at.has(each.end))).map((each) => {
    const drawn = linkPath(at.get(each.start), at.get(each.end), each);
    drawn.setAttribute("stroke-width", each.width);
    return { ...each, drawn };
  });
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
    caption.textContent = node ? node.label + ": " + countPhrase(node.count, "thing") + own.map((each) => "; " + (each.start === node.iri ? t("linkFrom", { property: each.predicates[0], other: at.get(each.end).label }) : t("linkTo", { property: each.predicates[0], other: at.get(each.start).label }))).join("") : plain;
  };
}

const topEdge = (nodes) => Math.min(...nodes.map((node) => node.y - node.r)) - 12;
const bottomEdge = (nodes) => Math.max(...nodes.map((node) => node.y + node.r)) + 26;
export const shortNumber = (number) => (number >= 1e6 ? (number / 1e6).toFixed(1) + "M" : number >= 1e4 ? Math.round(number / 1e3) + "k" : String(number));

function linkPath(a, b, link) {
  const title = svg("title", {}, a.label + " → " + link.predicates.join(", ") + " → " + b.label);
  if (a === b) return svg("path", { d: `M${a.x - 6} ${a.y - a.r + 2}c-26 -34 38 -34 12 0`, class: "link" }, title);
  const bend = 0.12, mx = (a.x + b.x) / 2 - (b.y - a.y) * bend, my = (a.y + b.y) / 2 + (b.x - a.x) * bend;
  return svg("path", { d: `M${a.x} ${a.y}Q${mx} ${my} ${b.x} ${b.y}`, class: "link" }, title);
}

// A force layout: links attract, circles repel. It is deterministic, and its time is bounded.
export function layOut(classes, links, wide, high) {
  const top = Math.max(...classes.map((each) => each.count), 1), steps = Math.ceil(Math.min(STEPS, MAX_PAIRS / Math.max(1, classes.length ** 2)));
  const spread = Math.min(150, (0.45 * wide) / Math.sqrt(classes.length)), spreadDown = Math.min(70, (0.45 * high) / Math.sqrt(classes.length));
  const nodes = classes.map((each, i) => ({ ...each, r: MIN_RADIUS + (MAX_RADIUS - MIN_RADIUS) * Math.sqrt(each.count / top), x: wide / 2 + spread * Math.cos(i * 2.4) * Math.sqrt(i), y: high / 2 + spreadDown * Math.sin(i * 2.4) * Math.sqrt(i) }));
  const at = new Map(nodes.map((node) => [node.iri, node]));
  const springs = links.map((each) => [at.get(each.start), at.get(each.end)]).filter(([a, b]) => a && b && a !== b);
  for (let step = 0; step < steps; step += 1) {
    const heat = 1 - step / steps, pull = Math.min(1, 16 / nodes.length);
    for (const node of nodes) { node.dx = (wide / 2 - node.x) * 0.006 * pull; node.dy = (high / 2 - node.y) * 0.02 * pull; }
    for (const a of nodes) for (const b of nodes) {
      if (a === b) continue;
      const dx = a.x - b.x || 0.1, dy = (a.y - b.y || 0.1) * 1.5, far = Math.hypot(dx, dy), want = a.r + b.r + 90;
      const push = far < want ? (want - far) / far * 0.18 : 0;
      a.dx += dx * push;
      a.dy += dy * push;
    }
    for (const [a, b] of springs) {
      const dx = b.x - a.x, dy = b.y - a.y, far = Math.hypot(dx, dy) || 1, pull = (far - 150 - a.r) / far * 0.02;
      a.dx += dx * pull; a.dy += dy * pull; b.dx -= dx * pull; b.dy -= dy * pull;
    }
    for (const node of nodes) {
      const reach = halfWidth(node);
      node.x = Math.min(wide - reach, Math.max(reach, node.x + node.dx * (0.3 + heat)));
      node.y = Math.min(high - node.r - 24, Math.max(node.r + 8, node.y + node.dy * (0.3 + heat)));
    }
  }
  // scale to the available width
  const left = Math.min(...nodes.map((node) => node.x - halfWidth(node))), right = Math.max(...nodes.map((node) => node.x + halfWidth(node)));
  const wider = Math.min(1.5, (wide - 2) / (right - left || 1));
  for (const node of nodes) node.x = nodes.length === 1 ? wide / 2 : wide / 2 + (node.x - (left + right) / 2) * wider;
  const over = Math.max(0, ...nodes.map((node) => Math.max(halfWidth(node) - node.x, node.x + halfWidth(node) - wide)));
  for (const node of nodes) node.x = Math.min(wide - halfWidth(node), Math.max(halfWidth(node), node.x + (node.x < wide / 2 ? over / 2 : -over / 2)));
  return nodes;
}

const halfWidth = (node) => Math.max(node.r, node.label.length * 3.6) + 6;
