// The first rows of a table before it is read: a file -> its sheets with their columns, of which the types and the one that
// names the rows can be changed; what was changed becomes a file of metadata (CSV on the Web) beside the table. Columns of
// texts that name rows of another table here, or things of the graph that is added to, say so.

import { addWords, apiPath, block, button, call, choiceGroup, day, element, get, quiet, scrollTable, send, t } from "../../static/shared/page.js";
import { translate } from "../../static/shell/add_data.js";

await addWords("tables/files/");

// of texts the beginning is enough; a workbook is whole, in one part
const MAX_SENT = 8 << 20, MAX_TEXT = 1 << 20, IS_TEXT = /\.(csv|tsv|tab|jsonl|ndjson)$/i;
// with what metadata call them
const TYPES = {
  text: [t("typeText"), "string"], unlinked: [t("typeUnlinked"), "string"], integer: [t("typeInteger"), "integer"], decimal: [t("typeDecimal"), "number"], quantity: [t("typeQuantity"), "number"],
  year: [t("typeYear"), "gYear"], date: [t("typeDate"), "date"], dayFirst: [t("typeDayFirst"), { base: "date", format: "d.M.yyyy" }],
  monthFirst: [t("typeMonthFirst"), { base: "date", format: "M/d/yyyy" }], dateTime: [t("typeDateTime"), "dateTime"], time: [t("typeTime"), "time"], boolean: [t("typeBoolean"), "boolean"],
};
const SHOWN_ROWS = 5, MIN_SHARE = 0.8, MAX_CLASSES = 8, MAX_SEARCHED = 3;
const NUMBERS = ["integer", "decimal", "quantity", "year"];
let last = Promise.resolve();
// the previews on the page, and the names of things by graph and class
let shown = [];
const members = new Map();

// One file after the other; what is shown below its name. `sendPart(upload, file, offset)` sends it.
export function preview(file, sendPart) {
  return last = last.then(() => show(file, sendPart)).catch((problem) => quiet(problem.message));
}

async function show(file, sendPart) {
  const isText = IS_TEXT.test(file.name);
  if (!isText && file.size > MAX_SENT) return quiet(t("previewTooLarge"));
  const { upload } = await send("POST", "api/uploads");
  const forget = () => call("DELETE", apiPath("uploads", upload)).catch(() => {
    // the server removes it later
  });
  // also when the page is left before the end
  addEventListener("pagehide", forget);
  try {
    await sendPart(upload, new File([isText ? file.slice(0, MAX_TEXT) : file], file.name), 0);
    const { sheets, problem } = await get(apiPath("uploads", upload, "preview", { name: file.name }));
    const changed = new Map(), root = block("preview", problem && quiet(t("previewNone", { why: translate(problem) })), sheets.map((each) => sheet(file, each, changed)), sheets.length > 0 && quiet(t("previewTypes")));
    root.metadata = () => changed.size > 0 && metadata(file, sheets, changed);
    shown = [...shown.filter((each) => each.root.isConnected), { root, sheets }];
    return root;
  } finally {
    removeEventListener("pagehide", forget);
    forget();
  }
}

// Say what columns refer to: rows of the other tables, or things of a graph ("" is none).
export async function sayLinks(graph) {
  const tables = shown.filter((each) => each.root.isConnected).flatMap((each) => each.sheets);
  for (const own of tables) for (const [i, column] of own.columns.entries()) {
    if (column.type !== "text" || column.name === own.named_by) continue;
    const texts = [...new Set(own.rows.map((row) => row[i]).filter(Boolean))], isIn = (names) => texts.filter((each) => names.has(each)).length >= Math.max(2, MIN_SHARE * texts.length);
    const other = tables.find((each) => each !== own && each.columns.some((key, k) => { const names = each.rows.map((row) => row[k]), all = new Set(names); return all.size === names.length && isIn(all); }));
    const label = other?.label ?? (texts.length > 1 && graph ? await classOf(graph, texts, isIn) : "");
    column.option.textContent = label ? t("typeRefers", { what: label }) : TYPES.text[0];
  }
}

// The class of a graph whose things have these names, of the largest classes; "" if there is none.
async function classOf(graph, texts, isIn) {
  if (!members.has(graph)) members.set(graph, get(apiPath("graphs", graph)).then(({ classes }) => [...classes].sort((a, b) => b.count - a.count).slice(0, MAX_CLASSES)));
  for (const each of await members.get(graph)) {
    const names = async (search) => (await get(apiPath("graphs", graph, "class", "table", { iri: each.iri, search }))).rows.map((row) => row.label);
    each.names ??= names("");
    const first = new Set(await each.names);
    if (isIn(first)) return each.label;
    if (each.count === first.size) continue;
    const searched = texts.slice(0, MAX_SEARCHED);
    let found = 0;
    for (const text of searched) { if (!(await names(text)).includes(text)) break; found += 1; }
    if (found === searched.length) return each.label;
  }
  return "";
}

// The file that states what was changed: the types of columns, and the names of rows.
function metadata(file, sheets, changed) {
  const described = ({ columns }) => {
    const all = Array.from({ length: Math.max(...columns.map((each) => each.place)) + 1 }, () => ({}));
    for (const each of columns) if (changed.has(each)) all[each.place].datatype = TYPES[changed.get(each)][1];
    return all;
  };
  const tables = sheets.map((each) => ({ url: each.url, tableSchema: { columns: described(each), rowTitles: changed.get(each) === "" ? [] : changed.get(each) } }));
  return new File([JSON.stringify({ "@context": "http://www.w3.org/ns/csvw", tables })], file.name + "-metadata.json");
}

function sheet(file, own, changed) {
  const { sheet: name, label, named_by: namedBy, columns, more_columns: more, rows, notes } = own;
  const naming = element("select", { onchange: () => changed.set(own, naming.value) }, element("option", { value: "", selected: !namedBy }, t("previewNoName")), columns.map((each) => element("option", { selected: each.name === namedBy }, each.name)));
  const types = columns.map((each) => typeOf(each, changed));
  const isNumber = columns.map((each) => (NUMBERS.includes(each.type) ? "number" : null));
  const title = (name ? name + ": " : "") + t("previewRows", { label });
  return [element("p", {}, title), element("label", { class: "row quiet" }, t("previewNamedBy"), naming),
    block("grid", scrollTable(t("previewOf", { name: name || file.name }),
      element("thead", {}, element("tr", {}, columns.map((each, i) => element("th", { scope: "col", class: isNumber[i] }, each.name, element("br"), types[i])))),
      element("tbody", {}, rows.slice(0, SHOWN_ROWS).map((row) => element("tr", {}, row.map((cell, i) => element("td", { class: isNumber[i] }, cell))))))),
    columns.map((each, i) => each.days.length > 0 && dayOrMonth(each, types[i])), more > 0 && quiet(t("previewMore", { n: more })), notes.map((each) => quiet(translate(each)))];
}

// Dates that do not show whether the day or the month is first: a click says it.
function dayOrMonth({ name, days }, field) {
  const [first, second, year] = days[0].split(/\D/), choices = { dayFirst: [second, first], monthFirst: [first, second] };
  const said = ([month, date]) => day(Date.UTC(year.length < 3 ? 2000 + +year : year, month - 1, date), "UTC");
  const buttons = Object.entries(choices).map(([type, at]) => button(t(type === "dayFirst" ? "dayIsFirst" : "monthIsFirst", { date: said(at) }), () => { field.value = type; field.dispatchEvent(new Event("change")); }, "chip"));
  field.addEventListener("change", () => buttons.forEach((each, i) => each.setAttribute("aria-pressed", String(Object.keys(choices)[i] === field.value))));
  return choiceGroup(t("dayOrMonth", { column: name, dates: days.join(", ") }), buttons);
}

// The type of a column, to be changed. A number with a unit is no other kind of number; a text may name rows of another table or things of the graph.
function typeOf(column, changed) {
  const offered = Object.keys(TYPES).filter((each) => each === column.type || (each === "unlinked" ? column.type === "text" : column.type === "quantity" ? !NUMBERS.includes(each) : each !== "quantity"));
  const words = (each) => TYPES[each][0] + (each === column.type && column.unit ? " (" + column.unit + ")" : "");
  const field = element("select", { "aria-label": t("typeOf", { column: column.name }), onchange: () => { if (field.value === column.type) changed.delete(column); else changed.set(column, field.value); } },
    offered.map((each) => element("option", { value: each, selected: each === column.type }, words(each))));
  column.option = field.selectedOptions[0];
  return field;
}
