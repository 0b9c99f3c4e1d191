// Rows -> a table that sorts by a click, shows the first thirty rows, and goes away as CSV.

import { button, count, icon, make, save, shown } from "./dom.js";

const FIRST = 30;
const ORDER = new Intl.Collator("en", { numeric: true });
// a cell that begins so is run as a formula by spreadsheets
const FORMULA = /^[=+\-@\t\r]/;

export function grid({ columns, units = [], rows, cell = null, after = () => {}, name = "rows", caption = "" }) {
  const isNumber = columns.map((_, i) => rows.some((row) => typeof row[i] === "number") && rows.every((row) => row[i] == null || typeof row[i] === "number"));
  const state = { by: null, down: false, most: FIRST };
  const body = make("tbody");
  const foot = make("div", { class: "row table-foot" });
  const heads = columns.map((column, i) => make("th", { scope: "col", class: isNumber[i] ? "number" : null, "aria-sort": "none" },
    button([units[i] ? column + " (" + units[i] + ")" : column, make("span", { class: "sign", "aria-hidden": "true" })], () => sort(i), "sort")));
  const root = make("div", { class: "grid" }, make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption || "Rows" },
    make("table", {}, make("thead", {}, make("tr", {}, heads)), body)), foot);

  function sort(i) {
    state.down = state.by === i ? !state.down : false;
    state.by = i;
    heads.forEach((head, n) => head.setAttribute("aria-sort", n !== i ? "none" : state.down ? "descending" : "ascending"));
    draw();
  }

  const drawn = new Map();
  const line = (row) => drawn.get(row) || drawn.set(row, make("tr", {}, row.map((value, i) => make("td", { class: isNumber[i] ? "number" : null, title: typeof value === "number" && shown(value, columns[i]) !== String(value) ? value : null },
    cell?.(value, i, row) ?? shown(value, columns[i]))))).get(row);

  function draw() {
    const sorted = state.by === null ? rows : [...rows].sort((a, b) => compare(a[state.by], b[state.by]) * (state.down ? -1 : 1));
    body.replaceChildren(...sorted.slice(0, state.most).map(line));
    const rest = rows.length - state.most;
    foot.replaceChildren(make("span", { class: "quiet" }, rest > 0 ? state.most + " of " + count(rows.length, "row") : count(rows.length, "row")),
      rest > 0 ? button("Show all", () => { state.most = rows.length; draw(); }, "plain") : "",
      make("button", { type: "button", class: "plain", onclick: () => save(csv(columns, units, rows), name + ".csv", "text/csv") }, icon("save"), "CSV"));
    foot.hidden = rows.length < 2;
    after(body);
  }

  draw();
  return root;
}

function compare(a, b) {
  if (a == null || b == null) return a == null ? (b == null ? 0 : 1) : -1;
  if (typeof a === "number" && typeof b === "number") return a - b;
  return ORDER.compare(a, b);
}

export function csv(columns, units, rows) {
  const quote = (value) => {
    const text = value == null ? "" : typeof value === "string" && FORMULA.test(value) ? "'" + value : String(value);
    return /[",\n\r]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  };
  const heads = columns.map((column, i) => (units[i] ? column + " [" + units[i] + "]" : column));
  return [heads, ...rows].map((row) => row.map(quote).join(",")).join("\r\n") + "\r\n";
}
