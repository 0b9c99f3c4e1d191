// IRIs -> labels, and links to their pages.

import { apiPath, send } from "./api.js";
import { element } from "./dom.js";
import { pageAddress } from "./state.js";

export const TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const MAX_IRIS = 500;
const labelsByGraph = new Map();

// The labels of IRIs in a graph, as a Map without unlabelled IRIs. Each IRI is requested once.
export async function loadLabels(graph, iris) {
  if (!labelsByGraph.has(graph)) labelsByGraph.set(graph, new Map());
  const here = labelsByGraph.get(graph);
  const wanted = [...new Set(iris)].filter((iri) => !here.has(iri) && /^[a-z][a-z0-9+.-]*:/i.test(iri) && iri.length < 2000);
  while (wanted.length) {
    const iris = wanted.splice(0, MAX_IRIS), found = await send("POST", apiPath("graphs", graph, "labels"), { iris });
    for (const iri of iris) here.set(iri, found[iri] || "");
  }
  return new Map([...new Set(iris)].map((iri) => [iri, here.get(iri)]).filter(([, label]) => label));
}

// The last part of an IRI, shown if it has no label.
export function localName(iri) {
  const last = iri.replace(/[/#]+$/, "").split(/[/#:]/).pop() || iri;
  try { return decodeURIComponent(last); } catch { return last; }
}

export const isIri = (text) => /^(https?|urn|mailto|nacre-file|_):\S*$/.test(text);

export const pageLink = (parts, ...inside) => element("a", { href: pageAddress(parts) }, ...inside);
const linkTo = (kind) => (graph, iri, label) => element("a", { href: pageAddress({ graph, [kind]: iri }), class: "thing", title: iri }, label || localName(iri));
export const thingLink = linkTo("thing"), classLink = linkTo("class"), LINK_BY_KIND = { entity: thingLink, class: classLink };
