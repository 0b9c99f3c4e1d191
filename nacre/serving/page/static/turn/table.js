// Rows -> a sortable table that shows the first thirty rows and exports CSV.

import { areYears, block, button, compareNames, countPhrase, download, element, faint, formatCell, icon, scrollTable, t, withUnit } from "../shared/page.js";

const FIRST_ROWS = 30, FIRST_CHARTED = 8;
// as in nacre/serving/transcript.py
const FORMULA_START = /^(?=[\t\r\n])|(?:^|(?<=[;\t-\r\x85\u2028\u2029]))(?=[ "\xa0\u2000-\u200b\u202f\u3000\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20])/g;

export function rowTable({ columns, units = [], rows, cell = null, after = () => {}, name = "rows", caption = "", before, isShort }) {
  const isNumber = columns.map((_, i) => rows.some((row) => typeof row[i] === "number") && rows.every((row) => row[i] == null || typeof row[i] === "number"));
  const years = columns.map((_, i) => !units[i] && areYears(rows.map((row) => row[i])));
  const shown = (value, i) => formatCell(value, columns[i] + (units[i] || ""), years[i]);
  // counted from the last column: a table with names replaces one without
  const state = before?.state || { by: 0, down: false, most: isShort ? FIRST_CHARTED : FIRST_ROWS };
  const body = element("tbody");
  const foot = block("row table-foot");
  const heads = columns.map((column, i) => element("th", { scope: "col", class: isNumber[i] ? "number" : null, "aria-sort": "none" },
    button(withUnit(column, units[i]), () => sort(i), "sort")));
  const root = block("grid", scrollTable(caption || t("rows"), element("thead", {}, element("tr", {}, heads)), body), foot);

  function sort(i) {
    const by = columns.length - i;
    state.down = state.by === by && !state.down;
    state.by = by;
    draw();
  }

  const drawn = new Map();
  const line = (row) => drawn.get(row) || drawn.set(row, element("tr", {}, row.map((value, i) => element("td", { class: isNumber[i] ? "number" : null, title: typeof value === "number" && shown(value, i) !== String(value) ? value : null },
    cell?.(value, i, row) ?? shown(value, i))))).get(row);

  function draw() {
    const by = columns.length - state.by;
    const sorted = state.by ? [...rows].sort((a, b) => compareCells(a[by], b[by], state.down ? -1 : 1)) : rows;
    heads.forEach((head, n) => head.setAttribute("aria-sort", n !== by ? "none" : state.down ? "descending" : "ascending"));
    body.replaceChildren(...sorted.slice(0, state.most).map(line));
    const rest = rows.length - state.most;
    foot.replaceChildren(faint(rest > 0 ? t("rowsOf", { n: state.most, all: countPhrase(rows.length, "row") }) : countPhrase(rows.length, "row")),
      rest > 0 ? button(t("showAll"), () => { state.most = rows.length; draw(); }, "plain") : "",
      button([icon("save"), "CSV"], () => download(toCsv(columns, units, rows), name + ".csv", "text/csv"), "plain"));
    foot.hidden = rows.length < 2;
    after(body);
  }

  draw();
  return Object.assign(root, { state });
}

// empty cells come last in both ways
function compareCells(a, b, way) {
  if (a == null || b == null) return a == null ? (b == null ? 0 : 1) : -1;
  return way * (typeof a === "number" && typeof b === "number" ? a - b : compareNames(a, b));
}

export function toCsv(columns, units, rows) {
  const quote = (value) => {
    const text = value == null ? "" : typeof value === "boolean" ? formatCell(value) : typeof value === "string" && isNaN(value) ? value.replace(FORMULA_START, "'") : String(value);
    return /[",\n\r]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  };
  const heads = columns.map((column, i) => (units[i] ? column + " [" + units[i] + "]" : column));
  return [heads, ...rows].map((row) => row.map(quote).join(",")).join("\r\n") + "\r\n";
}
