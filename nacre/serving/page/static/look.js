// The page of a thing, with its facts both ways, and of a class, with what its members have.

import { get, place } from "./api.js";
import { $, button, count, failure, make, shown } from "./dom.js";
import { classLink, isIri, short, thingLink } from "./names.js";
import { address } from "./state.js";

const NAMES = /[/#](label|prefLabel|name|title)$/i;
let looked = 0;

export async function lookAtThing(graph, iri, ask) {
  const own = begin(graph);
  try {
    const thing = await get(place("graphs", graph, "thing") + "?" + new URLSearchParams({ iri }));
    if (own !== looked) return;
    $("about").textContent = thing.label;
    const facts = thing.facts.filter((each) => !(NAMES.test(each.predicate) && each.ends.every((end) => end.text === thing.label)));
    $("look").replaceChildren(back(graph),
      make("h2", {}, thing.label), make("p", { class: "kinds" }, thing.classes.map((each) => [make("span", { class: "tag" }, classLink(graph, each.iri, each.text)), " "])),
      make("p", { class: "iri" }, iri),
      facts.length ? make("section", { class: "card" }, make("h3", {}, "Facts"), table(graph, facts)) : make("p", { class: "quiet" }, "Nothing else is said of it."),
      thing.linking.length ? make("section", { class: "card" }, make("h3", {}, "What links here"), table(graph, thing.linking, true)) : "",
      thing.passages.length ? make("section", { class: "card" }, make("h3", {}, "In words"), thing.passages.map((each) => make("blockquote", {}, each.text, each.document ? make("footer", { class: "quiet" }, each.document) : ""))) : "",
      thing.complete ? "" : make("p", { class: "note" }, "Not all links could be read in time."),
      await onward(graph, iri, thing.label, ask));
  } catch (problem) {
    missed(own, problem, () => lookAtThing(graph, iri, ask));
  }
}

async function onward(graph, iri, label, ask) {
  const questions = await get(place("graphs", graph, "follow-ups") + "?" + new URLSearchParams({ thing: iri }));
  const describe = "What do you know about " + label + "?";
  return make("section", {}, make("h3", {}, "Ask about it"), make("div", { class: "onward" }, [...questions, describe].map((text) => button(text, () => ask(text), "chip"))));
}

function table(graph, facts, linking = false) {
  const end = ({ text, iri }, facts) => (iri ? thingLink(graph, iri, text || short(iri)) : isIri(text) && text.startsWith("http") ? make("span", { class: "iri" }, text) : (text.length < 16 && text.trim() && !Number.isNaN(Number(text)) ? shown(Number(text), facts.label) : text) + (facts.unit ? " " + facts.unit : ""));
  return make("table", { class: "pairs" }, make("tbody", {}, facts.map((each) => make("tr", {}, make("th", { scope: "row", title: each.predicate }, linking ? each.label + " of" : each.label),
    make("td", {}, make("ul", {}, each.ends.map((one) => make("li", {}, end(one, each))), each.more ? make("li", { class: "quiet" }, "and " + (each.more >= 900 ? "many" : each.more) + " more") : ""))))));
}

export async function lookAtClass(graph, iri, ask, search = "", skip = 0) {
  if (!iri) return allClasses(graph);
  const own = begin(graph);
  try {
    const kind = await get(place("graphs", graph, "class") + "?" + new URLSearchParams({ iri, search, skip }));
    if (own !== looked) return;
    $("about").textContent = kind.label;
    const links = (ends) => ends.map((each, i) => [i ? ", " : "", classLink(graph, each.iri, each.text)]);
    const find = make("input", { type: "search", value: search, maxlength: "200", "aria-label": "Find a member by name", placeholder: "Find by name" });
    find.addEventListener("change", () => lookAtClass(graph, iri, ask, find.value.trim()).then(() => $("look").querySelector("input")?.focus()));
    const page = (label, to) => button(label, () => lookAtClass(graph, iri, ask, search, to));
    $("look").replaceChildren(back(graph), make("h2", {}, kind.label), make("p", {}, count(kind.count, "thing"), kind.comment ? ". " + kind.comment : ""),
      kind.parents.length ? make("p", { class: "quiet" }, "Kind of ", links(kind.parents)) : "", kind.children.length ? make("p", { class: "quiet" }, "Has kinds: ", links(kind.children)) : "",
      make("p", { class: "iri" }, iri),
      make("section", { class: "card" }, make("h3", {}, "Members"), find, make("ul", { class: "names" }, kind.members.map((each) => make("li", {}, thingLink(graph, each.iri, each.text)))),
        kind.members.length ? "" : make("p", { class: "quiet" }, "None."),
        make("div", { class: "row" }, skip ? page("Previous", Math.max(0, skip - 50)) : "", kind.members.length === 50 ? page("Next", skip + 50) : "")),
      kind.properties.length ? make("section", { class: "card" }, make("h3", {}, "What they have"), make("table", { class: "pairs" }, make("tbody", {}, kind.properties.map((each) => make("tr", {}, make("th", { scope: "row", title: each.comment || each.iri }, each.label + (each.unit ? " (" + each.unit + ")" : "")),
        make("td", {}, make("span", { class: "share", title: each.members + " of " + kind.count }, make("span", { class: "share-bar", "data-share": Math.min(1, each.members / Math.max(1, kind.count)) })), each.leads_to.length ? ["→ ", links(each.leads_to)] : make("span", { class: "quiet" }, each.samples.slice(0, 3).join(", ")))))))) : "",
      make("section", {}, make("h3", {}, "Ask about it"), make("div", { class: "onward" }, button("How many " + kind.many + " are there?", () => ask("How many " + kind.many + " are there?"), "chip"))));
    for (const bar of $("look").querySelectorAll("[data-share]")) bar.style.width = bar.dataset.share * 100 + "%";
  } catch (problem) {
    missed(own, problem, () => lookAtClass(graph, iri, ask, search, skip));
  }
}

async function allClasses(graph) {
  const own = begin(graph);
  try {
    const { classes } = await get(place("graphs", graph));
    if (own !== looked) return;
    const sorted = [...classes].sort((a, b) => b.count - a.count);
    $("look").replaceChildren(back(graph), make("h2", {}, "All classes"), make("ul", { class: "names" }, sorted.slice(0, 1000).map((each) => make("li", {}, classLink(graph, each.iri, each.label), " ", make("span", { class: "quiet" }, each.count.toLocaleString("en"))))));
  } catch (problem) {
    missed(own, problem, () => allClasses(graph));
  }
}

function begin(graph) {
  $("look").replaceChildren(back(graph), make("p", { class: "working" }, "Looking …"));
  return ++looked;
}

function missed(own, problem, again) {
  if (own === looked) $("look").replaceChildren(back(new URLSearchParams(location.search).get("graph")), failure(problem, problem.status === 404 ? "" : button("Try again", again)));
}

const back = (graph) => make("nav", { class: "crumbs", "aria-label": "Where this is" }, make("a", { href: address({ graph }) }, graph), " / ", make("a", { href: address({ graph, class: "" }) }, "classes"));
