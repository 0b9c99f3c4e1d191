// Rows with numbers -> bars for things or a line for years, described in text.

import { element, formatCell, svg } from "../shared/dom.js";

const MIN_POINTS = 3, MAX_BARS = 24, BAR_HEIGHT = 26;
// sized for the viewport, so that text keeps its size
const chartSize = () => (matchMedia("(max-width: 40rem)").matches ? { wide: 350, name: 118, letters: 16 } : { wide: 640, name: 190, letters: 27 });

// A figure for a table with names and numbers; null if there is nothing to compare.
export function chart({ columns, units = [], rows }) {
  const numeric = (i) => rows.filter((row) => typeof row[i] === "number").length >= MIN_POINTS;
  const isYear = (i) => rows.every((row) => /^[12]\d{3}(-\d\d(-\d\d)?)?$/.test(String(row[i] ?? "")));
  const year = columns.findIndex((_, i) => rows.length >= MIN_POINTS && isYear(i));
  const name = columns.findIndex((_, i) => i !== year && rows.every((row) => typeof row[i] === "string" || row[i] == null));
  const value = columns.findIndex((_, i) => i !== year && i !== name && numeric(i));
  if (value < 0 || (year < 0 && name < 0)) return null;
  const byYear = year >= 0 && new Set(rows.map((row) => row[year])).size === rows.length;
  const along = byYear ? year : name;
  if (along < 0) return null;
  const points = rows.filter((row) => typeof row[value] === "number").map((row) => ({ name: String(row[along] ?? ""), value: row[value] }));
  if (points.length < MIN_POINTS || new Set(points.map((each) => each.value)).size < 2) return null;
  const unit = units[value] || "";
  const what = columns[value] + (unit ? " (" + unit + ")" : "");
  if (byYear) points.sort((a, b) => a.name.localeCompare(b.name));
  const kept = points.slice(0, byYear ? points.length : MAX_BARS);
  const words = chartDescription(kept, what, columns[along], byYear);
  const drawn = byYear ? lineChart(kept, columns[value]) : barChart(kept, columns[value]);
  drawn.setAttribute("role", "img");
  drawn.setAttribute("aria-label", words);
  return element("figure", { class: "chart" }, element("figcaption", {}, what + (kept.length < points.length ? ", the first " + kept.length : "")), drawn);
}

function chartDescription(points, what, along, byYear) {
  const sorted = [...points].sort((a, b) => a.value - b.value);
  const [low, high] = [sorted[0], sorted.at(-1)];
  const told = points.slice(0, 12).map((each) => each.name + " " + formatCell(each.value)).join(", ");
  return (byYear ? "Line chart" : "Bar chart") + " of " + what + " by " + along + ": from " + formatCell(low.value) + " (" + low.name + ") to " + formatCell(high.value) + " (" + high.name + "). " + told + (points.length > 12 ? " and more in the table." : ".");
}

function barChart(points, column) {
  const top = Math.max(0, ...points.map((each) => each.value)), bottom = Math.min(0, ...points.map((each) => each.value));
  const { wide, name, letters } = chartSize();
  const scale = (value) => ((value - bottom) / (top - bottom || 1)) * (wide - name - 76);
  const cut = (text) => (text.length > letters ? text.slice(0, letters - 1) + "…" : text);
  return svg("svg", { viewBox: `0 0 ${wide} ${points.length * BAR_HEIGHT}`, class: "bars" }, points.map((each, i) => {
    const from = name + scale(Math.min(0, each.value)), long = Math.max(1.5, scale(Math.max(0, each.value)) - scale(Math.min(0, each.value)));
    return svg("g", { transform: `translate(0 ${i * BAR_HEIGHT})` }, svg("title", {}, each.name + ": " + formatCell(each.value, column)),
      svg("text", { x: name - 10, y: 17, "text-anchor": "end", class: "name" }, cut(each.name)),
      svg("rect", { x: from, y: 4, width: long, height: BAR_HEIGHT - 9, rx: 3 }),
      svg("text", { x: from + long + 8, y: 17, class: "value" }, formatCell(each.value, column)));
  }));
}

function lineChart(points, column) {
  const { wide } = chartSize();
  const high = 220, left = 64, bottom = 28, values = points.map((each) => each.value);
  const top = Math.max(...values), least = Math.min(...values, top * 0.999), low = least > 0 && least < top * 0.5 ? 0 : least;
  const x = (i) => left + (i / (points.length - 1)) * (wide - left - 24), y = (value) => 12 + (1 - (value - low) / (top - low || 1)) * (high - bottom - 12);
  const every = Math.ceil(points.length / (wide / 70));
  return svg("svg", { viewBox: `0 0 ${wide} ${high}`, class: "line" },
    [low, (low + top) / 2, top].map((value) => svg("g", {}, svg("line", { x1: left, x2: wide - 16, y1: y(value), y2: y(value), class: "rule" }), svg("text", { x: left - 10, y: y(value) + 4, "text-anchor": "end", class: "value" }, formatCell(value)))),
    svg("polyline", { points: points.map((each, i) => x(i) + "," + y(each.value)).join(" ") }),
    points.map((each, i) => svg("circle", { cx: x(i), cy: y(each.value), r: points.length > 40 ? 2 : 3.5 }, svg("title", {}, each.name + ": " + formatCell(each.value, column)))),
    points.map((each, i) => (i % every ? null : svg("text", { x: x(i), y: high - 8, "text-anchor": "middle", class: "name" }, each.name))));
}
