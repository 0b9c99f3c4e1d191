// The first screen of a graph: what it holds in one line, questions that it answers, a picture of its schema.

import { get, place } from "./api.js";
import { $, button, count, failure, make } from "./dom.js";
import { picture } from "./picture.js";
import { address, go, state } from "./state.js";
import { placeOf } from "./turn.js";

// what is not built by default is not missed
const MISSING = { sparql: 1 };
const MOST_OTHERS = 12;
let shown = 0;

// All graphs, for the choice at the left; `wanted`, else the last one, is chosen. False where there is none.
export async function graphs(wanted) {
  state.graphs = await get("/api/graphs");
  $("graph").replaceChildren(...state.graphs.map((graph) => make("option", { value: graph.name }, graph.name)));
  if (!state.graphs.length) {
    $("welcome").hidden = false;
    $("lead").textContent = "There is no graph yet. Make one on the server: nacre ingest FILE.ttl --graph NAME";
    return false;
  }
  const known = (name) => state.graphs.some((each) => each.name === name);
  choose([wanted, localStorage.getItem("nacre-graph")].find(known) || state.graphs[0].name);
  return true;
}

export function choose(graph) {
  state.graph = graph;
  $("graph").value = graph;
  localStorage.setItem("nacre-graph", graph);
}

export async function welcome(ask) {
  const graph = state.graph, own = ++shown;
  const about = state.graphs.find((each) => each.name === graph);
  $("head").textContent = "Ask " + graph;
  $("about").textContent = graph;
  const missing = Object.keys(about.unavailable).filter((each) => !(each in MISSING));
  $("lead").replaceChildren(about.problem || count(about.things, "thing") + ", " + count(about.triples, "fact") + ", " + count(about.classes, "class", "classes") + ". Every answer names where it comes from.", missing.length ? make("span", { class: "quiet" }, " Not available: " + missing.map(placeOf).join(", ") + ".") : "");
  const others = state.graphs.filter((each) => each.name !== graph).slice(0, MOST_OTHERS);
  $("others").hidden = !others.length;
  $("others").replaceChildren(make("span", { class: "quiet" }, "Other graphs"), ...others.map((each) => make("a", { href: address({ graph: each.name }) }, each.name)));
  $("examples").replaceChildren();
  $("picture").replaceChildren();
  if (about.problem) return;
  await Promise.all([
    get(place("graphs", graph, "examples")).then((questions) => { if (own === shown) $("examples").replaceChildren(...questions.map((text) => make("li", {}, button(text, () => ask(text), "example")))); }).catch((problem) => own === shown && $("examples").replaceChildren(make("li", {}, failure(problem)))),
    get(place("graphs", graph, "overview")).then((seen) => { if (own === shown) $("picture").replaceChildren(picture(seen)); }).catch((problem) => own === shown && $("picture").replaceChildren(failure(problem))),
  ]);
}

$("graph").addEventListener("change", () => { choose($("graph").value); go({ graph: state.graph }); });
