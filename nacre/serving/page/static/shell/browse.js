// The pages of a thing, with facts in both directions, and of a class, with its properties.

import { $, apiPath, bar, block, button, card, classLink, countPhrase, element, failureBox, faint, formatCell, get, h2, h3, inline, isIri, item, language, localName, pageLink, para, quiet, t, thingLink, withSign, withUnit, section } from "../shared/page.js";
import { classTable, propertyLabel } from "./class_table.js";

const IMAGE_DATA = /^data:image\/(png|jpeg|gif|webp);base64,[a-z0-9+/=]+$/i, IMAGE_FILE = /\.(png|jpe?g|gif|webp|avif)$/i;
const MAX_PICTURES = 6;
// the server counts no more than a thousand
const MANY = 900;
const LABEL_PREDICATES = /[/#](label|prefLabel|name|title)$/i;
export let latestRequest = 0;

export const showThing = (graph, iri, ask) => browse(graph, () => get(apiPath("graphs", graph, "thing", { iri })), async (thing) => {
  $("about").textContent = thing.label;
  const facts = thing.facts.filter((each) => !(LABEL_PREDICATES.test(each.predicate) && each.ends.every((end) => end.text === thing.label)));
  // facts are put into sentences in English alone
  const passages = thing.passages.filter((each) => language === "en" || each.document);
  look(graph, h2(thing.label), para("kinds", thing.classes.map((each) => [inline("tag", classLink(graph, each.iri, each.text)), " "])),
    pictures(facts, thing.label),
    facts.length ? card(h3("facts"), factTable(graph, iri, facts)) : quiet(t("noOtherFacts")),
    thing.linking.length ? card(h3("linksHere"), factTable(graph, iri, thing.linking, true)) : "",
    [...facts, ...thing.linking].some((each) => each.ends.some((end) => end.iri)) ? neighbours(graph, iri, thing.label) : "",
    passages.length ? card(h3("inWords"), passages.map((each) => element("blockquote", {}, each.text, each.document ? element("footer", { class: "quiet" }, each.document) : ""))) : "",
    thing.complete ? "" : para("note", t("linksIncomplete")),
    await followUps(graph, iri, thing.label, ask), para("iri", iri));
});

function neighbours(graph, iri, label) {
  const figure = element("figure", { class: "schema" }, button(t("neighbours"), async () => (await import("./neighbours.js")).showNeighbours(graph, iri, label, figure), "chip"));
  return figure;
}

async function followUps(graph, iri, label, ask) {
  const questions = await get(apiPath("graphs", graph, "follow-ups", { thing: iri }));
  const describe = t("askWhatKnown", { label });
  return section(h3("askAboutIt"), block("onward", [...questions, describe].map((text) => button(text, () => ask(text), "chip"))));
}

// Pictures that the page may load: data within the graph, and files of this server.
function pictures(facts, label) {
  const found = facts.flatMap((each) => each.ends.map((end) => ({ source: end.iri || end.text, name: each.label })).filter(({ source }) => IMAGE_DATA.test(source) || (source.startsWith(location.origin + "/") && IMAGE_FILE.test(source)))).slice(0, MAX_PICTURES);
  return found.length ? block("pictures", found.map(({ source, name }) => element("img", { src: source, alt: t("of", { property: name, label }), loading: "lazy" }))) : "";
}

// An address in the data: a link that tells the other site nothing of this page.
const outsideLink = (address) => (/^https?:/.test(address) ? element("a", { href: address, class: "iri", rel: "noopener noreferrer", target: "_blank" }, address) : inline("iri", address));

function factTable(graph, iri, facts, linking = false) {
  const end = ({ text, iri }, facts) => (iri ? thingLink(graph, iri, text || localName(iri)) : isIri(text) && text.startsWith("http") ? outsideLink(text) : IMAGE_DATA.test(text) ? t("picture") : withSign(/^(true|false)$/.test(text) ? formatCell(text === "true") : text.length < 16 && text.trim() && !Number.isNaN(Number(text)) ? formatCell(Number(text), facts.label + facts.unit) : formatCell(text), facts.unit));
  return element("table", { class: "pairs" }, element("tbody", {}, facts.map((each) => element("tr", {}, element("th", { scope: "row", title: each.predicate }, linking ? t("linkOf", { property: each.label }) : propertyLabel(each)),
    element("td", {}, valueList(graph, iri, each, linking, (one) => end(one, each)))))));
}

// The values of a property; the rest is loaded by a click, as far as the server gives it.
function valueList(graph, iri, facts, linking, write) {
  const root = element("ul"), more = element("li");
  const rest = (count) => t("andMore", { n: count >= MANY ? t("many") : count.toLocaleString(language) });
  const draw = ({ ends, more: left }, isWhole) => root.replaceChildren(...ends.map((one) => item(write(one))), left ? (isWhole ? element("li", { class: "quiet" }, rest(left)) : more) : "");
  more.append(button(rest(facts.more), async () => {
    try {
      const whole = await get(apiPath("graphs", graph, "thing", { iri, whole: facts.predicate }));
      draw(whole[linking ? "linking" : "facts"].find((each) => each.predicate === facts.predicate) || { ends: [], more: 0 }, true);
      root.children[facts.ends.length]?.querySelector("a")?.focus();
    } catch (problem) {
      more.append(failureBox(problem));
    }
  }, "chip"));
  draw(facts, false);
  return root;
}

export const showClass = (graph, iri, ask) => !iri ? showAllClasses(graph) : browse(graph, async () => {
  const kind = await get(apiPath("graphs", graph, "class", { iri }));
  return [kind, await classTable(graph, iri, kind.many).catch((problem) => { if (problem.status !== 422) throw problem; return memberList(graph, kind); })];
}, ([kind, members]) => {
  $("about").textContent = kind.label;
  const links = (ends) => ends.map((each, i) => [i ? ", " : "", classLink(graph, each.iri, each.text)]);
  const property = (each) => element("tr", {}, element("th", { scope: "row", title: each.comment || each.iri }, withUnit(propertyLabel({ predicate: each.iri, label: each.label }), each.unit)),
    element("td", {}, element("span", { class: "bar-room share", title: t("rowsOf", { n: each.members, all: kind.count }) }, bar("width", each.members / Math.max(1, kind.count))), each.leads_to.length ? ["→ ", links(each.leads_to)] : faint(each.samples.slice(0, 3).map((text) => (/^-?\d+\.\d+$/.test(text) ? formatCell(Number(text)) : text)).join(language === "en" ? ", " : "; "))));
  look(graph, h2(kind.label), para(null, countPhrase(kind.count, "thing"), kind.comment ? ". " + kind.comment : ""),
    kind.parents.length ? quiet(t("kindOf"), links(kind.parents)) : "", kind.children.length ? quiet(t("hasKinds"), links(kind.children)) : "",
    members || "",
    kind.properties.length ? card(h3("whatTheyHave"), element("table", { class: "pairs" }, element("tbody", {}, kind.properties.map(property)))) : "",
    section(h3("askAboutIt"), block("onward", [t("askHowMany", kind)].map((text) => button(text, () => ask(text), "chip")))), para("iri", iri));
});

// Members by name, of a graph that has no tables here.
const memberList = (graph, kind) => card(h3("members"), element("ul", { class: "names" }, kind.members.map((each) => item(thingLink(graph, each.iri, each.text)))), kind.members.length ? "" : quiet(t("noneMembers")));

const showAllClasses = (graph) => browse(graph, () => get(apiPath("graphs", graph)), ({ classes }) => {
  $("about").textContent = t("allClasses");
  const sorted = [...classes].sort((a, b) => b.count - a.count);
  look(graph, h2(t("allClasses")), element("ul", { class: "names" }, sorted.slice(0, 1000).map((each) => item(classLink(graph, each.iri, each.label), " ", faint(each.count.toLocaleString(language))))));
});

// What is loaded is drawn, unless another page is shown by then.
export async function browse(graph, load, draw) {
  const own = ++latestRequest;
  $("about").textContent = graph;
  look(graph, para("working", t("loading")));
  try {
    const loaded = await load();
    if (own === latestRequest) await draw(loaded, own);
  } catch (problem) {
    if (own === latestRequest) look(graph, failureBox(problem, problem.status === 404 ? "" : button(t("tryAgain"), () => browse(graph, load, draw))));
  }
}

export const look = (graph, ...parts) => $("look").replaceChildren(element("nav", { class: "crumbs", "aria-label": t("whereThisIs") }, pageLink({ graph }, graph), Object.entries({ class: t("crumbClasses"), picture: t("crumbPicture"), names: t("names"), verified: t("verifiedQuestions") }).map(([view, name], i) => [i ? " · " : " / ", pageLink({ graph, [view]: "" }, name)])), ...parts);
