// The address of a class -> its table with sorting, search, filters with counts, pages and files.

import { $, announce, apiPath, areYears, bar, block, button, call, compareNames, countPhrase, download, element, failureBox, faint, formatCell, get, h3, icon, iconButton, inline, isIri, labelled, language, loadLabels, navigate, openMenu, quiet, scrollTable, searchField, t, thingLink, withUnit } from "../shared/page.js";

const PAGE = 100, TYPING_DELAY = 250;
const SIGNS = { "=": t("signIs"), ">=": t("signAtLeast"), "<=": t("signAtMost"), none: t("signNone") };
// the parts of the address that the API takes too
const PARTS = ["search", "filter", "sort", "descending", "skip", "column"];
let latest = 0;

// The label of a property; one that the server derives, with the names in one language, is named here.
const NAME_IN_LANGUAGE = /@[a-z]{2}$/, LANGUAGE_NAMES = new Intl.DisplayNames([language], { type: "language" });
export const propertyLabel = ({ predicate, label }) => (NAME_IN_LANGUAGE.test(predicate) ? t("nameIn", { language: LANGUAGE_NAMES.of(predicate.slice(-2)) }) : predicate.endsWith("rdf-schema#label") && label === "label" ? t("labelOf") : label);

// The table in the page's address. `ask` puts a question into the field.
export async function classTable(graph, iri, many) {
  const own = ++latest, view = { graph, iri, many, query: tableQuery(iri), labels: new Map() };
  view.root = element("section", { class: "card", "aria-label": t("members") });
  let timer = 0;
  const search = searchField(t("findMember"), () => { clearTimeout(timer); timer = setTimeout(() => change(view, (query) => setPart(query, "search", search.value.trim())), TYPING_DELAY); }, { value: view.query.get("search") });
  view.body = block("table-body");
  view.head = h3("members");
  view.columns = block("row", search);
  view.root.append(view.head, view.columns, view.body);
  await draw(view);
  return own === latest ? view.root : null;
}

function tableQuery(iri) {
  const address = new URLSearchParams(location.search), query = new URLSearchParams({ iri });
  for (const name of PARTS) for (const value of address.getAll(name)) query.append(name, value);
  return query;
}

const setPart = (query, name, value) => { if (value) query.set(name, value); else query.delete(name); query.delete("skip"); };
const setAll = (query, name, values) => { setPart(query, name, ""); for (const each of values) query.append(name, each); };
const without = (query, name) => { const copy = new URLSearchParams(query); copy.delete(name); return copy; };

// Change what is shown, and the address with it.
function change(view, how) {
  how(view.query);
  const address = new URLSearchParams({ graph: view.graph, class: view.iri });
  for (const name of PARTS) for (const value of view.query.getAll(name)) address.append(name, value);
  navigate("?" + address, { quiet: true });
  return draw(view);
}

const parsed = (text) => { const [predicate, sign, ...value] = text.split(" "); return { text, predicate, sign, value: value.join(" ") }; };
const filters = (view) => view.query.getAll("filter").map(parsed);
function toggleFilter(view, text) {
  const set = view.query.getAll("filter");
  return change(view, (query) => setAll(query, "filter", set.includes(text) ? set.filter((each) => each !== text) : [...set, text]));
}

async function draw(view) {
  const own = (view.drawing = (view.drawing || 0) + 1);
  view.body.setAttribute("aria-busy", "true");
  try {
    const table = await get(apiPath("graphs", view.graph, "class", "table") + "?" + view.query);
    if (own !== view.drawing) return;
    for (const each of [...table.columns, ...table.others]) each.label = propertyLabel(each);
    view.table = table;
    view.labels = await loadLabels(view.graph, filters(view).map((each) => each.value).filter(isIri));
    if (own !== view.drawing) return;
    view.columns.replaceChildren(view.columns.firstChild, table.others.length || view.query.has("column") ? button(t("columns") + ": " + t("rowsOf", { n: table.columns.length, all: allColumns(view).length }), (event) => openColumns(view, event.currentTarget)) : "");
    view.body.replaceChildren(chips(view), rows(view), foot(view));
    // drawing took the focus from the button that was pressed
    if (document.activeElement === document.body) [...view.body.querySelectorAll("[data-of]")].find((each) => each.dataset.of === view.pressed)?.focus();
    view.head.textContent = t("members") + (filters(view).length || view.query.has("search") ? ": " + t("rowsOf", { n: countOf(table), all: countPhrase(table.count, "thing") }) : "");
    announce(countOf(table));
    (await import("../../places/files/place_map.js")).appendMap(view.body, view.graph, table.rows.map((row) => row.iri));
  } catch (problem) {
    if (own !== view.drawing) return;
    if (view.table === undefined && problem.status === 422) throw problem;
    view.body.replaceChildren(chips(view), failureBox(problem, button(t("showAll"), () => change(view, (query) => { for (const name of PARTS) query.delete(name); }))));
  } finally {
    view.body.removeAttribute("aria-busy");
  }
}

const allColumns = ({ table }) => (table ? [...table.columns, ...table.others] : []);
const columnLabel = (view, predicate) => allColumns(view).find((each) => each.predicate === predicate)?.label || predicate;
const valueLabel = (view, each) => view.labels.get(each.value) || formatText(view.table.columns.find((column) => column.predicate === each.predicate) || {}, each.value);

function chips(view) {
  const set = filters(view);
  if (!set.length) return "";
  return element("div", { class: "row filters", role: "group", "aria-label": t("filters") }, set.map((each) => {
    const words = columnLabel(view, each.predicate) + " " + (SIGNS[each.sign] || each.sign) + (each.value ? " " + valueLabel(view, each) : "");
    return button([words, icon("close")], () => toggleFilter(view, each.text), "chip", { "aria-label": t("removeFilter", { what: words }) });
  }));
}

function rows(view) {
  const { table, query } = view, sort = query.get("sort") || "", down = query.has("descending");
  if (!table.rows.length) return quiet(t("noneMembers"));
  // a property that all are named by is the column of names
  const naming = table.columns.find((_, i) => table.rows.every(({ label, cells }) => cells[i].length === 1 && cells[i][0].text === label)), columns = table.columns.filter((each) => each !== naming);
  const cellsOf = (row) => row.cells.filter((_, i) => table.columns[i] !== naming), by = columns.findIndex((each) => each.predicate === sort), text = (row) => (by < 0 ? row.label : cellsOf(row)[by][0]?.text);
  // all of them are here: 2 is before 10 in names too
  if (table.rows.length === table.matching && (by < 0 || columns[by].kind === "text")) table.rows.sort((a, b) => (text(a) == null) - (text(b) == null) || compareNames(text(a), text(b)) * (down ? -1 : 1));
  const order = (predicate) => (sort !== predicate || (!predicate && !query.has("sort") && !down && table.count > 100_000) ? "none" : down ? "descending" : "ascending");
  const head = (label, predicate, column) => element("th", { scope: "col", "aria-sort": order(predicate), class: predicate && column.kind === "number" ? "number" : null }, element("span", { class: "head" },
    column?.many ? inline("sort", label) : button(label, () => { view.pressed = label; return change(view, (own) => { const turn = order(predicate) === "ascending"; setPart(own, "sort", predicate); setPart(own, "descending", turn ? "true" : ""); }); }, "sort", { "data-of": label }),
    column ? iconButton("filter", t("filterBy", { what: column.label }), (event) => { view.pressed = column.predicate; return openFacet(view, column, event.currentTarget); }, { class: "icon small", "data-of": column.predicate }) : ""));
  const years = columns.map((column, i) => !column.unit && areYears(table.rows.flatMap((row) => cellsOf(row)[i].map((end) => Number(end.text)))));
  const cell = (end, column, i) => (end.iri ? thingLink(view.graph, end.iri, end.text) : formatText(column, end.text, years[i]));
  return block("grid", scrollTable(t("rows"),
    element("thead", {}, element("tr", {}, head(naming?.label || t("columnName"), "", naming), columns.map((column) => head(withUnit(column.label, column.unit), column.predicate, column)))),
    element("tbody", {}, table.rows.map((row) => element("tr", {}, element("th", { scope: "row" }, thingLink(view.graph, row.iri, row.label)),
      cellsOf(row).map((ends, i) => element("td", { class: columns[i].kind === "number" ? "number" : null, "data-label": columns[i].label }, ends.map((end, n) => [n ? ", " : "", cell(end, columns[i], i)]))))))));
}

// A literal of a column for reading.
function formatText({ kind, label, unit }, text, asYear) {
  if (kind === "boolean") return formatCell(["1", "true"].includes(text));
  return formatCell(kind === "number" && text.trim() && Number.isFinite(Number(text)) ? Number(text) : text, label + unit, asYear);
}

const number = (value) => value.toLocaleString(language);
const countOf = (table) => (table.matching == null ? t("many") : table.at_least ? t("moreThan", { n: number(table.matching) }) : number(table.matching));

function foot(view) {
  const { table } = view, first = table.skip + 1, last = table.skip + table.rows.length;
  const page = (label, skip) => button(label, () => change(view, (query) => { if (skip) query.set("skip", skip); else query.delete("skip"); }), "plain");
  const file = (format) => button([icon("save"), format.toUpperCase()], async () => download(await (await call("GET", apiPath("graphs", view.graph, "class", "file") + "?" + without(view.query, "skip") + "&format=" + format)).blob(), "table." + format), "plain");
  return block("row table-foot", faint(table.rows.length ? t("range", { first: number(first), last: number(last), all: countOf(table) }) : countPhrase(0, "thing")),
    table.skip ? page(t("previous"), Math.max(0, table.skip - PAGE)) : "", table.rows.length === PAGE ? page(t("next"), table.skip + PAGE) : "",
    file("csv"), file("json"),
    button(t("copyLink"), async () => { await navigator.clipboard.writeText(location.href); announce(t("copied")); }, "plain"),
    button(t("askAboutThese"), () => askAbout(view), "plain"));
}

// Put a question about the shown members into the field, to be changed and asked.
function askAbout(view) {
  const conditions = filters(view).map((each) => t(each.sign === "none" ? "conditionNone" : "condition", { property: columnLabel(view, each.predicate), value: (each.sign === "=" ? "" : SIGNS[each.sign] + " ") + valueLabel(view, each) }));
  const field = $("question");
  field.value = conditions.length ? t("askWhichHave", { many: view.many, conditions: conditions.join(t("and")) }) : t("askHowMany", view);
  field.dispatchEvent(new Event("input"));
  field.focus();
}

async function openFacet(view, column, opener) {
  try {
    const facet = await get(apiPath("graphs", view.graph, "class", "facet") + "?" + without(view.query, "skip") + "&" + new URLSearchParams({ property: column.predicate }));
    const pick = (text) => { $("choices").hidePopover(); return toggleFilter(view, text); };
    const active = view.query.getAll("filter");
    const choice = (label, count, text) => button([inline("facet-value", label), count == null ? "" : faint(facet.estimated ? t("aboutCount", { n: number(count) }) : number(count))], () => pick(text), "", { "aria-pressed": String(active.includes(text)) });
    // a value of one thing each says nothing beside the range
    const values = facet.values.filter(() => facet.low == null || facet.values[0].count > 1), asYear = !column.unit && areYears([Number(facet.low), Number(facet.high)]);
    openMenu(opener, quiet(t(facet.complete ? "filterBy" : "filterByFirst", { what: column.label })), facet.low == null ? "" : [histogram(view, column, facet, asYear), rangeForm(view, column, facet)],
      ...values.map((each) => choice(formatText(column, each.text, asYear) || t("empty"), each.count, column.predicate + " = " + (each.iri || each.text))),
      facet.more && values.length ? quiet(t("mostFrequent")) : "", choice(t("noValue"), null, column.predicate + " none"));
  } catch (problem) {
    openMenu(opener, failureBox(problem));
  }
}

function rangeForm(view, column, { low, high }) {
  const field = (label, value) => element("input", { type: column.kind === "number" ? "number" : /^\d{4}-\d\d-\d\d$/.test(low) ? "date" : "text", step: "any", "aria-label": t("of", { property: label, label: column.label }), placeholder: String(value), maxlength: "40" });
  const from = field(t("lowest"), low), to = field(t("highest"), high);
  return element("form", { class: "row range", onsubmit: (event) => {
    event.preventDefault();
    setRange(view, column, from.value.trim(), to.value.trim());
  } }, from, t("to"), to, element("button", { class: "main" }, t("apply")));
}

// An end that is "" stays as it is.
function setRange(view, { predicate }, low, high) {
  $("choices").hidePopover();
  const set = [[">=", low], ["<=", high]].filter(([, value]) => value !== "");
  change(view, (query) => setAll(query, "filter", [...query.getAll("filter").filter((each) => !set.some(([sign]) => each.startsWith(predicate + " " + sign))), ...set.map(([sign, value]) => predicate + " " + sign + " " + value)]));
}

// The values by parts of the range; a bar shows its part.
function histogram(view, column, { bins }, asYear) {
  const top = Math.max(...bins.map((each) => each.count)), text = (end) => formatText(column, String(end), asYear);
  return bins.length < 2 ? "" : [block("bins", bins.map(({ low, high, count }) => {
    const label = text(low) + " – " + text(high) + ": " + number(count);
    return button(bar("height", count / top), () => setRange(view, column, low, high), "", labelled(label));
  })), block("bin-ends", faint(text(bins[0].low)), faint(text(bins.at(-1).high)))];
}

function openColumns(view, opener) {
  const shown = view.table.columns.map((each) => each.predicate);
  openMenu(opener, quiet(t("columns")), ...allColumns(view).slice(0, 60).map((column) => {
    const box = element("input", { type: "checkbox", onchange: () => { const set = box.checked ? [...shown, column.predicate] : shown.filter((each) => each !== column.predicate); shown.splice(0, shown.length, ...set); change(view, (query) => setAll(query, "column", shown.slice(0, 20))); } });
    box.checked = shown.includes(column.predicate);
    return element("label", { class: "check" }, box, column.label);
  }));
}
