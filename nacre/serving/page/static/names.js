// IRIs -> what they are called, and links to their pages.

import { place, send } from "./api.js";
import { make } from "./dom.js";
import { address } from "./state.js";

const MOST = 500;
const known = new Map();

// The names of these IRIs in a graph, as a Map; those without one are left out. Each is asked for once.
export async function names(graph, iris) {
  if (!known.has(graph)) known.set(graph, new Map());
  const here = known.get(graph);
  const wanted = [...new Set(iris)].filter((iri) => !here.has(iri) && /^[a-z][a-z0-9+.-]*:/i.test(iri) && iri.length < 2000).slice(0, MOST);
  if (wanted.length) {
    const found = await send("POST", place("graphs", graph, "labels"), { iris: wanted });
    for (const iri of wanted) here.set(iri, found[iri] || "");
  }
  return new Map([...new Set(iris)].map((iri) => [iri, here.get(iri)]).filter(([, label]) => label));
}

// How an IRI without a name is shown: its last part.
export function short(iri) {
  const last = iri.replace(/[/#]+$/, "").split(/[/#:]/).pop() || iri;
  try { return decodeURIComponent(last); } catch { return last; }
}

export const isIri = (text) => /^(https?|urn|mailto|_):\S*$/.test(text);

export function thingLink(graph, iri, label) {
  return make("a", { href: address({ graph, thing: iri }), class: "thing", title: iri }, label || short(iri));
}
export function classLink(graph, iri, label) {
  return make("a", { href: address({ graph, class: iri }), class: "thing", title: iri }, label || short(iri));
}
