// The first screen of a graph: its size, example questions, and a drawing of its schema.

import { $, apiPath, button, card, countPhrase, element, failureBox, faint, get, h3, isKnown, item, language, navigate, pageAddress, pageLink, quiet, state, t } from "../shared/page.js";
import { branchLabel } from "../turn/turn.js";

// branches that are not built by default are not reported as missing
const OPTIONAL_BRANCHES = { sparql: 1 };
const MAX_OTHER_GRAPHS = 12;
let latestRequest = 0;

// Load the graphs into the selection; `wanted`, else the last used one, is selected. False if there are none.
export async function loadGraphs(wanted) {
  state.graphs = await get("api/graphs");
  $("graph").replaceChildren(...state.graphs.map((graph) => element("option", { value: graph.name }, graph.name)));
  if (!state.graphs.length) {
    $("welcome").hidden = false;
    $("lead").replaceChildren(t("noGraphYet"), state.choices?.may_write ? addLink() : t("createOne"));
    return false;
  }
  selectGraph([wanted, localStorage.getItem("nacre-graph")].find(isKnown) || state.graphs[0].name);
  return true;
}

const addLink = (graph = "") => pageLink({ add: graph }, t("addData"));

export function selectGraph(graph) {
  state.graph = graph;
  $("graph").value = graph;
  $("names").href = pageAddress({ graph, names: "" });
  localStorage.setItem("nacre-graph", graph);
}

export async function showWelcome(ask) {
  const graph = state.graph, own = ++latestRequest;
  const about = state.graphs.find((each) => each.name === graph);
  $("head").textContent = t("askName", { name: graph });
  $("about").textContent = graph;
  const missing = Object.keys(about.unavailable).filter((each) => !(each in OPTIONAL_BRANCHES));
  const { is_visitor, may_share, may_write } = state.choices, isOpen = !about.problem && !is_visitor;
  const links = [isOpen && pageLink({ graph, names: "" }, t("names")), isOpen && pageLink({ graph, verified: "" }, t("verifiedQuestions")), may_share && pageLink({ shares: "" }, t("sharedAnswers")), may_write && addLink(graph)].filter(Boolean);
  $("lead").replaceChildren(about.problem || countPhrase(about.things, "thing") + ", " + countPhrase(about.triples, "fact") + ", " + countPhrase(about.classes, "class") + ". " + t("citesSources"), ...links.flatMap((each) => [each === links[0] ? " " : " · ", each]), missing.length ? faint(t("notAvailable", { what: missing.map(branchLabel).join(", ") })) : "");
  const others = state.graphs.filter((each) => each.name !== graph).slice(0, MAX_OTHER_GRAPHS);
  $("others").hidden = !others.length;
  $("others").replaceChildren(faint(t("otherGraphs")), ...others.map((each) => pageLink({ graph: each.name }, each.name)));
  $("examples").replaceChildren();
  $("picture").replaceChildren();
  if (about.problem) return;
  $("examples").replaceChildren(element("li", { class: "working" }, t("loading")));
  await Promise.all([
    get(apiPath("graphs", graph, "examples")).then((questions) => { if (own === latestRequest) $("examples").replaceChildren(...questions.map((text) => item(button(text, () => ask(text), "example")))); }).catch((problem) => own === latestRequest && $("examples").replaceChildren(item(failureBox(problem)))),
    get(apiPath("graphs", graph, "overview", { language })).then(async (seen) => { const drawn = await (await import("./schema_graph.js")).schemaGraph(seen); if (own === latestRequest) $("picture").replaceChildren(element("section", { class: "card about" }, h3("aboutGraph"), element("p", {}, seen.words[0]), quiet(seen.words.slice(1).join(" "))), drawn); }).catch((problem) => own === latestRequest && $("picture").replaceChildren(failureBox(problem))),
  ]);
}

$("graph").onchange = () => { selectGraph($("graph").value); navigate({ graph: state.graph }); };
