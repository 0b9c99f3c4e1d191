// The links of a thing as a picture: a node adds its own links, an opened one leads to its page.

import { apiPath, element, failureBox, get, localName, pageAddress, quiet, t } from "../shared/page.js";
import { drawPicture } from "./picture.js";
import { connect, layOut, linkWidths } from "./schema_graph.js";

const MAX_NODES = 80, MAX_NEW = 12, WIDE = 700, HIGH = 400;

export async function showNeighbours(graph, iri, label, figure) {
  const nodes = new Map([[iri, { iri, label }]]), links = new Map(), opened = new Set(), frame = element("div"), caption = quiet();
  figure.replaceChildren(frame, caption);

  async function open(from) {
    let thing;
    try { thing = await get(apiPath("graphs", graph, "thing", { iri: from })); } catch (problem) { caption.replaceChildren(failureBox(problem)); return; }
    const most = Math.min(MAX_NODES, nodes.size + MAX_NEW);
    for (const [facts, isLinking] of [[thing.facts], [thing.linking, true]]) for (const { predicate, label: name, ends } of facts) for (const end of ends.filter((each) => each.iri)) {
      if (!nodes.has(end.iri) && nodes.size < most) nodes.set(end.iri, { iri: end.iri, label: end.text || localName(end.iri) });
      const [start, to] = isLinking ? [end.iri, from] : [from, end.iri];
      if (nodes.has(end.iri)) links.set([start, predicate, to].join(" "), { start, end: to, predicates: [name], triples: 1 });
    }
    opened.add(from);
    const lines = linkWidths([...links.values()]), placed = await layOut([...nodes.values()].map((node) => ({ ...node, about: node.label, count: opened.has(node.iri) ? 1 : 0.1 })), lines, WIDE, HIGH);
    const light = connect(placed, lines, caption, t("neighboursHelp")), root = element("div", { class: "map", role: "group", "aria-label": t("neighbours") + t("mapKeys") });
    for (const node of placed) {
      const more = { "aria-label": node.label };
      node.drawn = opened.has(node.iri) ? element("a", { href: pageAddress({ graph, thing: node.iri }), ...more }) : element("button", { type: "button", onclick: () => open(node.iri), ...more });
    }
    frame.replaceChildren(root);
    await drawPicture(root, { nodes: placed, links: lines, light, compare: (a, b) => b.count - a.count || (a.label < b.label ? -1 : 1) });
    placed.find((node) => node.iri === from).drawn.focus({ preventScroll: true });
  }

  await open(iri);
}
