// From a question to its queries: record -> triples with unknowns, matches, readings, checks.

import { countPhrase, element, faint, isIri, item, para, quiet, t, LINK_BY_KIND, quoted, strong, summaryOf } from "../shared/page.js";

const MAX_CANDIDATES = 6;

// The details under "What was understood"; "" for old records without steps.
export function questionSteps(record) {
  const derived = record?.derivation;
  if (!derived?.triples.length) return "";
  const failed = derived.assertions.filter((each) => !each.holds);
  const { considered, selected } = derived.planned;
  return element("details", { class: "part", open: failed.length ? true : null },
    summaryOf(strong(t("asTriples")), faint(" " + countPhrase(derived.triples.length, "triple") + t(failed.length ? "notAllHold" : "checked"))),
    element("ul", { class: "mentions" }, derived.triples.map((ends) => item(ends.map((end, i) => [i ? " " : "", end.startsWith("?") ? element("em", {}, end) : end])))),
    failed.map((each) => para("note", t("doesNotHold", { what: each.says }))),
    derived.matches.filter((each) => !each.valid).map((each) => para("note", t("notInGraphText", { what: each.text }))),
    derived.matches.filter((each) => each.candidates.length).map((each) => matchLine(each, record.graph)),
    considered ? quiet(t("runAsQueries", { what: countPhrase(considered, "reading"), n: selected.length })) : "",
    derived.checked.filter((each) => each.why).map((each) => para("note", t("queryWas", { ...each, n: each.query + 1 }))));
}

function matchLine(each, graph) {
  const lead = LINK_BY_KIND[each.kind];
  return para(null, quoted(each.text), " → ", each.candidates.slice(0, MAX_CANDIDATES).map((one, i) => [i ? ", " : "",
    lead && isIri(one.iri) ? lead(graph, one.iri, one.label) : one.label,
    element("span", { class: "tag", title: t(one.similarity == null ? "nameFit" : "nameFitMeaning") }, one.score.toFixed(2) + (one.similarity == null ? "" : "; " + one.similarity.toFixed(2)))]));
}
