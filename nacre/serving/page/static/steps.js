// The steps from a question to its queries, from a record: triples with unknowns, matches, readings, checks.

import { count, make } from "./dom.js";
import { classLink, isIri, thingLink } from "./names.js";

const FEW = 6;
const LEADS = { entity: thingLink, class: classLink };

// What is shown under "What was understood"; "" for a record of before there were steps.
export function steps(record) {
  const derived = record?.derivation;
  if (!derived?.triples.length) return "";
  const failed = derived.assertions.filter((each) => !each.holds);
  const { considered, selected } = derived.planned;
  return make("details", { class: "part", open: failed.length ? true : null },
    make("summary", {}, make("strong", {}, "Question as triples"), make("span", { class: "quiet" }, " " + count(derived.triples.length, "triple") + (failed.length ? ", not all checks hold" : ", checked"))),
    make("ul", { class: "mentions" }, derived.triples.map((ends) => make("li", {}, ends.map((end, i) => [i ? " " : "", end.startsWith("?") ? make("em", {}, end) : end])))),
    failed.map((each) => make("p", { class: "note" }, "Does not hold: " + each.says)),
    derived.matches.filter((each) => !each.valid).map((each) => make("p", { class: "note" }, "Not in this graph: " + each.text)),
    derived.matches.filter((each) => each.candidates.length).map((each) => match(each, record.graph)),
    considered ? make("p", { class: "quiet" }, count(considered, "reading") + " considered, " + selected.length + " run as queries") : "",
    derived.checked.filter((each) => each.why).map((each) => make("p", { class: "note" }, "Query " + (each.query + 1) + " was " + each.verdict + ": " + each.why)));
}

function match(each, graph) {
  const lead = LEADS[each.kind];
  return make("p", {}, make("q", {}, each.text), " → ", each.candidates.slice(0, FEW).map((one, i) => [i ? ", " : "",
    lead && isIri(one.iri) ? lead(graph, one.iri, one.label) : one.label,
    make("span", { class: "tag", title: one.similarity == null ? "How well the name fits" : "How well the name fits; nearness in meaning" }, one.score.toFixed(2) + (one.similarity == null ? "" : "; " + one.similarity.toFixed(2)))]));
}
