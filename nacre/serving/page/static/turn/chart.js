// Rows with numbers -> a figure that fits their shape: bars, a line over time, a scatter of two numbers.

import { areYears, button, element, download, formatCell, svg } from "../shared/dom.js";
import { t } from "../shared/words.js";
import { toCsv } from "./table.js";

const MIN_POINTS = 3, MAX_BARS = 24, MAX_POINTS = 2000, BAR_HEIGHT = 26;
// the width of a digit and of a letter, in units of the drawing
const LETTER = 7.4;
const TIME = /^[12]\d{3}(-\d\d(-\d\d)?)?$/;
const KIND_LABELS = { bars: t("chartBars"), line: t("chartLine"), scatter: t("chartScatter") };
// sized for the viewport, so that text keeps its size
const chartSize = () => (matchMedia("(max-width: 40rem)").matches ? { wide: 350, name: 118, letters: 16 } : { wide: 640, name: 190, letters: 27 });

// A figure for a table of names and numbers, or null; a click changes its kind.
export function chart({ columns, units = [], rows }) {
  const figures = possibleCharts(columns, rows);
  if (!figures.length) return null;
  const root = element("figure", { class: "chart" });
  const draw = (own) => {
    const shown = drawChart(own, columns, units, rows);
    const choices = figures.length < 2 ? "" : element("span", { class: "kinds-of-chart", role: "group", "aria-label": t("chartKind") }, figures.map((each) => button(KIND_LABELS[each.kind], () => { draw(each); root.querySelector("[aria-pressed=true]").focus(); }, "plain", { "aria-pressed": String(each === own) })));
    const save = (label, action) => button(label, action, "plain", { "aria-label": t("saveChart", { what: label }) });
    root.replaceChildren(element("figcaption", {}, shown.title), shown.drawn, element("div", { class: "row table-foot" }, choices,
      save("PNG", () => savePng(shown.drawn)), save("SVG", () => download(styledSvg(shown.drawn), "chart.svg", "image/svg+xml")),
      save("CSV", () => download(toCsv(columns, units, rows), "chart.csv", "text/csv"))));
  };
  draw(figures[0]);
  return root;
}

// The charts that the shape of a table allows, the best one first.
function possibleCharts(columns, rows) {
  const cells = columns.map((_, i) => rows.map((row) => row[i]));
  const isTime = cells.map((column) => column.every((cell) => cell != null && TIME.test(String(cell))));
  const isNumber = cells.map((column, i) => !isTime[i] && column.every((cell) => cell == null || typeof cell === "number") && column.filter((cell) => cell != null).length >= MIN_POINTS && new Set(column).size > 1);
  const time = isTime.indexOf(true), name = cells.findIndex((column, i) => !isTime[i] && column.every((cell) => cell == null || typeof cell === "string") && column.some(Boolean));
  const numbers = columns.map((_, i) => i).filter((i) => isNumber[i]);
  const found = [];
  if (rows.length < MIN_POINTS || !numbers.length) return found;
  if (time >= 0 && new Set(cells[time]).size === rows.length) found.push({ kind: "line", along: time, value: numbers[0] });
  if (numbers.length > 1) found.push({ kind: "scatter", along: numbers[0], value: numbers[1], name });
  if (name >= 0) found[rows.length > MAX_BARS ? "push" : "unshift"]({ kind: "bars", along: name, value: numbers[0] });
  else if (time >= 0) found.push({ kind: "bars", along: time, value: numbers[0] });
  // a line beats bars if the table says of what time each number is
  return found.sort((a, b) => (b.kind === "line") - (a.kind === "line"));
}

function drawChart({ kind, along, value, name }, columns, units, rows) {
  const heading = (i) => columns[i] + (units[i] ? " (" + units[i] + ")" : "");
  const format = (i) => { const asYear = !units[i] && areYears(rows.map((row) => row[i])); return (cell) => formatCell(cell, columns[i], asYear); };
  let points = rows.filter((row) => typeof row[value] === "number" && row[along] != null).map((row) => ({ name: String(row[kind === "scatter" ? name : along] ?? ""), at: row[along], value: row[value] }));
  if (kind === "line") points.sort((a, b) => a.name.localeCompare(b.name));
  const all = points.length;
  points = points.slice(0, kind === "bars" ? MAX_BARS : MAX_POINTS);
  const [write, writeAlong] = [format(value), format(along)];
  const drawn = kind === "bars" ? barChart(points, write) : kind === "line" ? lineChart(points, write) : scatterChart(points, writeAlong, write, [heading(along), heading(value)]);
  drawn.setAttribute("role", "img");
  drawn.setAttribute("aria-label", kind === "scatter" ? t("scatterOf", { what: heading(value), along: heading(along), n: points.length }) : chartDescription(points, write, heading(value), columns[along], kind === "line"));
  const title = (kind === "scatter" ? t("valueBy", { what: heading(value), along: heading(along) }) : heading(value)) + (points.length < all ? t("theFirst", { n: points.length }) : "");
  return { title, drawn };
}

function chartDescription(points, write, what, along, byYear) {
  const sorted = [...points].sort((a, b) => a.value - b.value);
  const [low, high] = [sorted[0], sorted.at(-1)];
  const told = points.slice(0, 12).map((each) => each.name + " " + write(each.value)).join(", ");
  return t(byYear ? "lineChartOf" : "barChartOf", { what, along, low: write(low.value) + " (" + low.name + ")", high: write(high.value) + " (" + high.name + ")", list: told + (points.length > 12 ? t("moreInTable") : ".") });
}

function barChart(points, write) {
  const top = Math.max(0, ...points.map((each) => each.value)), bottom = Math.min(0, ...points.map((each) => each.value));
  const { wide, name, letters } = chartSize();
  // room for the longest value beside its bar
  const room = 16 + LETTER * Math.max(...points.map((each) => write(each.value).length));
  const scale = (value) => ((value - bottom) / (top - bottom || 1)) * Math.max(20, wide - name - room);
  const cut = (text) => (text.length > letters ? text.slice(0, letters - 1) + "…" : text);
  return svg("svg", { viewBox: `0 0 ${wide} ${points.length * BAR_HEIGHT}`, class: "bars" }, points.map((each, i) => {
    const from = name + scale(Math.min(0, each.value)), long = Math.max(1.5, scale(Math.max(0, each.value)) - scale(Math.min(0, each.value)));
    return svg("g", { transform: `translate(0 ${i * BAR_HEIGHT})` }, svg("title", {}, each.name + ": " + write(each.value)),
      svg("text", { x: name - 10, y: 17, "text-anchor": "end", class: "name" }, cut(each.name)),
      svg("rect", { x: from, y: 4, width: long, height: BAR_HEIGHT - 9, rx: 3 }),
      svg("text", { x: from + long + 8, y: 17, class: "value" }, write(each.value)));
  }));
}

// Lowest and highest of numbers, from zero if that is near.
function range(values) {
  const top = Math.max(...values), least = Math.min(...values);
  return [least > 0 && least < top * 0.5 ? 0 : least === top ? least - 1 : least, top];
}

function levels(low, top, y, left, wide, write) {
  const steps = [low, (low + top) / 2, top];
  return steps.map((value) => svg("g", {}, svg("line", { x1: left, x2: wide - 16, y1: y(value), y2: y(value), class: "rule" }), svg("text", { x: left - 10, y: y(value) + 4, "text-anchor": "end", class: "value" }, write(value))));
}

const marginFor = (numbers, write) => 16 + LETTER * Math.max(...numbers.map((value) => write(value).length));

function lineChart(points, write) {
  const { wide } = chartSize();
  const [low, top] = range(points.map((each) => each.value));
  const high = 220, left = marginFor([low, (low + top) / 2, top], write), bottom = 28;
  const x = (i) => left + (i / (points.length - 1)) * (wide - left - 24), y = (value) => 12 + (1 - (value - low) / (top - low || 1)) * (high - bottom - 12);
  const every = Math.ceil(points.length / (wide / 70));
  return svg("svg", { viewBox: `0 0 ${wide} ${high}`, class: "line" }, levels(low, top, y, left, wide, write),
    svg("polyline", { points: points.map((each, i) => x(i) + "," + y(each.value)).join(" ") }),
    points.map((each, i) => svg("circle", { cx: x(i), cy: y(each.value), r: points.length > 40 ? 2 : 3.5 }, svg("title", {}, each.name + ": " + write(each.value)))),
    points.map((each, i) => (i % every ? null : svg("text", { x: x(i), y: high - 8, "text-anchor": "middle", class: "name" }, each.name))));
}

function scatterChart(points, writeAlong, write, [along, what]) {
  const { wide } = chartSize();
  const [low, top] = range(points.map((each) => each.value)), [first, last] = range(points.map((each) => each.at));
  const high = 280, left = marginFor([low, (low + top) / 2, top], write), bottom = 44;
  const x = (at) => left + ((at - first) / (last - first || 1)) * (wide - left - 30), y = (value) => 12 + (1 - (value - low) / (top - low || 1)) * (high - bottom - 12);
  return svg("svg", { viewBox: `0 0 ${wide} ${high}`, class: "scatter" }, levels(low, top, y, left, wide, write),
    points.map((each) => svg("circle", { cx: x(each.at), cy: y(each.value), r: points.length > 200 ? 2 : 4 }, svg("title", {}, each.name + (each.name ? ": " : "") + along + " " + writeAlong(each.at) + ", " + what + " " + write(each.value)))),
    [first, (first + last) / 2, last].map((at, i) => svg("text", { x: x(at), y: high - 26, "text-anchor": ["start", "middle", "end"][i], class: "value" }, writeAlong(at))),
    svg("text", { x: (left + wide) / 2, y: high - 6, "text-anchor": "middle", class: "name" }, along));
}

// The drawing as a file of its own: with its size, and with the styles that the page gives its parts.
function styledSvg(drawn) {
  const copy = drawn.cloneNode(true), parts = [drawn, ...drawn.querySelectorAll("*")], copies = [copy, ...copy.querySelectorAll("*")];
  parts.forEach((part, i) => {
    const style = getComputedStyle(part);
    for (const name of ["fill", "stroke", "stroke-width", "opacity", "font-size", "font-family"]) copies[i].setAttribute(name, style.getPropertyValue(name));
  });
  const [, , wide, high] = drawn.getAttribute("viewBox").split(" ");
  copy.setAttribute("width", wide);
  copy.setAttribute("height", high);
  copy.setAttribute("fill", "none");
  return new XMLSerializer().serializeToString(copy);
}

async function savePng(drawn) {
  const [, , wide, high] = drawn.getAttribute("viewBox").split(" ").map(Number);
  const image = new Image(), canvas = element("canvas", { width: wide * 2, height: high * 2 });
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(styledSvg(drawn));
  await image.decode();
  const pen = canvas.getContext("2d");
  pen.fillStyle = getComputedStyle(document.body).backgroundColor;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  download(await new Promise((done) => canvas.toBlob(done, "image/png")), "chart.png", "image/png");
}
