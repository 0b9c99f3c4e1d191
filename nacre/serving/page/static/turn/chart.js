// Rows with numbers -> a figure that fits their shape: bars, groups, lines, a pie, a scatter, a histogram; by Chartist.

import { areYears, block, button, download, element, formatCell, language, quiet, t, withUnit } from "../shared/page.js";
import { toCsv } from "./table.js";

const MIN_POINTS = 3, MIN_VALUES = 8, MAX_BINS = 16, MAX_BARS = 24, MAX_GROUPS = 8, MAX_POINTS = 2000, BAR_HEIGHT = 26, BAR_WIDTH = 13;
// the width of a letter, in units of the drawing
const LETTER = 7.4, PIE = 220;
const TIME = /^[12]\d{3}(-\d\d(-\d\d(T[\d:.Z+-]*)?)?)?$/;
const KIND_LABELS = { bars: t("chartBars"), grouped: t("chartGrouped"), stacked: t("chartStacked"), line: t("chartLine"), scatter: t("chartScatter"), pie: t("chartPie"), histogram: t("chartHistogram") };
// the beginnings of words that ask for a kind, which is the first; the most special kind before others
const ASKED = t("chartWords").split("; ");
export const askedKind = (question) => ASKED.find((words) => new RegExp("\\b(" + words + ")", "i").test(question))?.split("|")[0];
const ROUNDED = [{ maximumSignificantDigits: 4 }, { maximumSignificantDigits: 3, notation: "compact" }].map((how) => new Intl.NumberFormat(language, how));

// A figure for a table of names and numbers, or null; of the kind that is asked for if there is one. A click changes it.
export async function chart({ columns, units = [], rows, named }, asked) {
  const figures = possibleCharts(columns, rows, named, asked).sort((a, b) => (b.kind === asked) - (a.kind === asked));
  if (!figures.length) return null;
  const root = element("figure", { class: "chart" });
  const draw = async (own) => {
    const chosen = selectPoints(own, columns, units, rows), drawn = await drawChart(own.kind, chosen);
    drawn.setAttribute("role", "img");
    drawn.setAttribute("aria-label", chosen.description);
    const choices = figures.length < 2 ? "" : element("span", { class: "kinds-of-chart", role: "group", "aria-label": t("chartKind") }, figures.map((each) => button(KIND_LABELS[each.kind], async () => { await draw(each); root.querySelector("[aria-pressed=true]").focus(); }, "plain", { "aria-pressed": String(each === own) })));
    const save = (label, action) => button(label, action, "plain", { "aria-label": t("saveChart", { what: label }) });
    root.replaceChildren(element("figcaption", {}, chosen.title), drawn, block("row table-foot", choices,
      save("PNG", () => savePng(drawn)), save("SVG", () => download(styledSvg(drawn), "chart.svg", "image/svg+xml")),
      save("CSV", () => download(toCsv(columns, units, rows), "chart.csv", "text/csv"))));
  };
  await draw(figures[0]);
  if (asked && figures[0].kind !== asked) root.append(quiet(t("noSuchChart", { kind: KIND_LABELS[asked] })));
  return root;
}

// The charts that the shape of a table allows, the best one first.
function possibleCharts(columns, rows, named, asked) {
  const indices = columns.map((_, i) => i), cells = indices.map((i) => rows.map((row) => row[i]).filter((cell) => cell != null));
  const distinct = (...some) => new Set(rows.map((row) => JSON.stringify(some.map((i) => row[i])))).size;
  const isTime = (i) => cells[i].length === rows.length && cells[i].every((cell) => TIME.test(cell)) && (isNaN(cells[i][0]) || areYears(cells[i].map(Number))), allAre = (kind) => (i) => !isTime(i) && cells[i].length && cells[i].every((cell) => typeof cell === kind);
  const fewest = asked ? 2 : MIN_POINTS, numbers = indices.filter((i) => allAre("number")(i) && cells[i].length >= fewest && (asked || distinct(i) > 1)), [value] = numbers;
  if (value == null) return [];
  const names = indices.filter(allAre("string")), [name] = names, time = indices.find(isTime), found = [];
  // counts are parts of a whole; of two columns of names, the second is the group, unless it has too many values
  const isCount = cells[value].every((cell) => Number.isInteger(cell) && cell >= 0), group = [...names].sort((a, b) => (distinct(a) > MAX_GROUPS) - (distinct(b) > MAX_GROUPS) || b - a)[0], other = names.find((i) => i !== group);
  const isGrouped = (along) => along != null && group != null && distinct(group) > 1 && distinct(group) <= MAX_GROUPS && distinct(along) < rows.length && distinct(along, group) === rows.length;
  if (time != null && distinct(time) === rows.length) found.push({ kind: "line", along: time, value });
  else if (isGrouped(time)) found.push({ kind: "line", along: time, value, group });
  else if (isGrouped(other)) found.push(...["grouped", "stacked"].map((kind) => ({ kind, along: other, value, group })));
  if (isCount) found.reverse();
  if (numbers.length > 1) found.push({ kind: "scatter", along: numbers[1], value, name });
  // a name or time with several rows has no bar of its own
  const bars = { kind: "bars", along: [...names, time].find((i) => i != null && distinct(i) === rows.length), value };
  // a line beats bars if the table says of what time each number is
  if (bars.along != null && found[0]?.group == null) found.splice(found[0]?.kind === "line" ? 1 : named || rows.length > MAX_BARS ? found.length : 0, 0, bars);
  if (bars.along != null && Math.min(...cells[value]) >= 0 && (asked === "pie" || (isCount && rows.length <= MAX_GROUPS))) found.push({ ...bars, kind: "pie" });
  if (cells[value].length >= MIN_VALUES && distinct(value) > MIN_POINTS && (named || bars.along != null || !names.length)) found.push({ kind: "histogram", value });
  return found;
}

// The points of a chart in order, the form of numbers, title and description.
function selectPoints({ kind, along, value, name, group }, columns, units, rows) {
  const heading = (i) => withUnit(columns[i], units[i]), isYear = (i) => !units[i] && areYears(rows.map((row) => row[i]));
  const exact = (i) => (cell) => formatCell(cell, heading(i), isYear(i));
  const rounded = (i) => (cell) => (isYear(i) && Number.isInteger(cell) ? String(cell) : ROUNDED[Number(Math.abs(cell) >= 1e5)].format(cell));
  const isScatter = kind === "scatter", what = heading(value), write = exact(value);
  if (kind === "histogram") return distribution(rows.map((row) => row[value]).filter((each) => each != null), what, rounded(value));
  const by = heading(along);
  let points = rows.filter((row) => typeof row[value] === "number" && row[along] != null).map((row) => {
    const [title, of] = [row[isScatter ? name : along], row[group]].map((cell) => String(cell ?? "")), called = title + (of && ", " + of);
    return { name: title, group: of, at: row[along], value: row[value], called, title: (called && called + ": ") + (isScatter ? by + " " + exact(along)(row[along]) + ", " + what + " " : "") + write(row[value]) };
  });
  const all = points.length, isSorted = [1, -1].some((way) => points.every((each, i) => !i || (each.value - points[i - 1].value) * way >= 0));
  if (points.every((each) => TIME.test(each.name))) points.sort((a, b) => a.name.localeCompare(b.name));
  else if (!isScatter && group == null && !isSorted) points.sort((a, b) => b.value - a.value);
  const place = (each) => (isScatter || group == null ? each : each.name), shown = new Set([...new Set(points.map(place))].slice(0, kind === "line" || isScatter ? MAX_POINTS : MAX_BARS));
  points = points.filter((each) => shown.has(place(each)));
  const whole = points.reduce((sum, each) => sum + each.value, 0), share = (each) => (each.value / whole).toLocaleString(language, { style: "percent", maximumFractionDigits: 1 });
  if (kind === "pie") {
    const rest = points.splice(MAX_GROUPS - (points.length > MAX_GROUPS)), sum = rest.reduce((all, each) => all + each.value, 0);
    if (rest.length) points.push({ name: t("others", { n: rest.length }), called: t("others", { n: rest.length }), value: sum });
    for (const each of points) each.title = each.name = each.called + ": " + write(each.value) + " (" + share(each) + ")";
  }
  const sorted = [...points].sort((a, b) => a.value - b.value), end = (each) => write(each.value) + " (" + each.called + ")";
  const list = points.slice(0, 12).map((each) => each.called + " " + write(each.value)).join(", ") + (points.length > 12 ? t("moreInTable") : ".");
  return {
    points, what, by, write: rounded(value), writeAlong: rounded(along),
    title: t("valueBy", { what, along: [by, columns[group]].filter(Boolean).join(", ") }) + (points.length < all ? t("theFirst", { n: points.length, all }) : ""),
    description: isScatter ? t("scatterOf", { what, along: by, n: points.length }) : t("chartOf", { kind: KIND_LABELS[kind], what, along: columns[along], low: end(sorted[0]), high: end(sorted.at(-1)), list }),
  };
}

// How many numbers lie in each of equal parts of their range.
function distribution(numbers, what, write) {
  const low = Math.min(...numbers), rough = (Math.max(...numbers) - low) / Math.min(MAX_BINS, Math.ceil(Math.sqrt(numbers.length)) + 1), power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough), first = Math.floor(low / step), points = [];
  for (const each of numbers) { const at = Math.floor(each / step) - first; while (points.length <= at) points.push({ name: write((first + points.length) * step), value: 0 }); points[at].value += 1; }
  points.forEach((each, i) => { each.title = each.name + " – " + write((first + i + 1) * step) + ": " + each.value; });
  const title = t("distributionOf", { what, n: numbers.length });
  return { points, what, by: what, write: String, title, description: title + ": " + points.map((each) => each.title).join(", ") };
}

let library = null;
const chartist = () => (library ??= import("../vendor/chartist-1.5.0/chartist.js").then(() => {
  const { Svg } = window.Chartist, set = Svg.prototype.attr;
  // styles as attributes are refused by the page's policy; the sheet has them
  Svg.prototype.attr = function (given, ns) { return set.call(this, given?.style ? { ...given, style: undefined } : given, ns); };
  return window.Chartist;
}));

// Draw with Chartist: labels become texts of the drawing, and each mark has its exact value as a title.
async function drawChart(kind, { points, what, by, write, writeAlong }) {
  const { BarChart, LineChart, PieChart, AutoScaleAxis, FixedScaleAxis, Interpolation } = await chartist();
  const isNarrow = innerWidth <= 640, wide = isNarrow ? 350 : Math.max(640, Math.min(1100, innerWidth - 400)), isBars = ["bars", "grouped", "stacked"].includes(kind), isStacked = kind === "stacked", isPie = kind === "pie";
  const [names, groups] = ["name", isPie ? "name" : "group"].map((key) => [...new Set(points.map((each) => each[key]))]), columns = isNarrow ? 2 : 4, top = groups.length > 1 && !isPie ? Math.ceil(groups.length / columns) * 20 : 0;
  const room = (texts) => LETTER * Math.max(...texts.map((each) => each.length)), written = room(points.map((each) => write(each.value))), name = Math.min(isNarrow ? 118 : 190, room(names) + 18);
  const isWhole = (key) => points.every((each) => Number.isInteger(each[key])), values = points.map((each) => each.value), step = Math.max(BAR_HEIGHT, isStacked ? 0 : groups.length * BAR_WIDTH + 8);
  const high = top + (isBars ? names.length * step + 56 : kind === "scatter" ? 310 : 260), root = element("div");
  const size = { viewBox: { width: wide, height: high }, chartPadding: { top: top + (kind === "scatter" ? 30 : 10), right: isBars && !isStacked ? written + 8 : 32, bottom: 24, left: 6 } };
  const scale = { labelInterpolationFnc: write, scaleMinSpace: isBars ? 30 + written : 40, onlyInteger: isWhole("value") };
  size.axisY = { ...scale, offset: written + 20 };
  const make = (point, value) => ({ ...value, meta: point }), series = (of) => groups.map((group, i) => ({ className: "tone-" + i, data: of(points.filter((each) => each.group === group)) }));
  let drawing;
  if (isPie) drawing = new PieChart(root, { series: points.map((each, i) => make(each, { value: each.value, className: "tone-" + i })) }, { viewBox: { width: PIE, height: PIE }, showLabel: false });
  else if (kind === "histogram") drawing = new BarChart(root, { labels: names, series: [{ className: "tone-0", data: points.map((each) => make(each, { value: each.value })) }] }, { ...size, axisX: { offset: 22, showGrid: false } });
  else if (isBars) {
    // from below
    names.reverse();
    const data = series((own) => names.map((each) => { const point = own.find((one) => one.name === each); return point ? make(point, { value: point.value }) : 0; }));
    drawing = new BarChart(root, { labels: names, series: isStacked ? data : data.reverse() }, { ...size, horizontalBars: true, stackBars: isStacked, seriesBarDistance: BAR_WIDTH, axisX: { ...scale, offset: 22 }, axisY: { offset: name, showGrid: false } });
  } else {
    const isLine = kind === "line", times = new Map(isLine ? names.map((each) => [Date.parse(each), each]) : []);
    const along = isLine ? { type: FixedScaleAxis, ticks: spaced([...times.keys()], wide / 95), labelInterpolationFnc: (at) => times.get(at) } : { type: AutoScaleAxis, scaleMinSpace: 70, labelInterpolationFnc: writeAlong, onlyInteger: isWhole("at") };
    const low = Math.min(...values), fromZero = low >= 0 && low < Math.max(...values) / 2 ? { low: 0 } : {};
    drawing = new LineChart(root, { series: series((own) => own.map((each) => make(each, { x: isLine ? Date.parse(each.name) : each.at, y: each.value }))) }, { ...size, showLine: isLine, lineSmooth: Interpolation.none(), axisY: { ...size.axisY, ...fromZero }, axisX: { ...along, offset: 22 } });
  }
  drawing.on("draw", ({ type, element: mark, group, axis, text, x, y, width, height, meta: point, chartRect, ...part }) => {
    if (type === "label") {
      const isBeside = axis.units.pos === "y", isName = isBars && isBeside, most = Math.floor(name / LETTER);
      mark.remove();
      group.elem("text", isBeside ? { x: x + width, y: y + (isName ? height / 2 : height) + 4, "text-anchor": "end" } : { x, y: y + 14, "text-anchor": "middle" }, isName ? "name" : "value").text(isName ? cut(text, most) : String(text)).elem("title").text(isName && text.length > most ? text : "");
    } else if (point) {
      mark.elem("title").text(point.title);
      if (kind === "histogram") mark.attr({ "stroke-width": chartRect.width() / points.length - 2, transform: "translate(1)" });
      else if (type === "bar" && !isStacked) group.elem("text", { x: Math.max(part.x1, part.x2) + 6, y: part.y2 + 4 }, "value").text(write(point.value));
    } else if (type === "bar") mark.remove();
  });
  await new Promise((done) => drawing.on("created", ({ svg, chartRect }) => {
    if (!isPie) svg.elem("text", { x: (chartRect.x1 + chartRect.x2) / 2, y: high - 6, "text-anchor": "middle" }, "value axis").text(isBars ? what : by);
    // the title of a line says what it is of
    if (kind === "scatter") svg.elem("text", { x: 6, y: 14 }, "value axis").text(what);
    // the legend is above, of a pie beside it
    if (isPie) svg.attr({ viewBox: "0 0 " + [wide, isNarrow ? PIE + 20 * groups.length : PIE].join(" ") });
    if (top || isPie) groups.forEach((group, i) => {
      const x = isPie ? (isNarrow ? 6 : PIE + 40) : 6 + ((i % columns) * wide) / columns, y = isPie ? (isNarrow ? PIE : PIE / 2 - 10 * groups.length) + 20 * i : 4 + Math.floor(i / columns) * 20;
      svg.elem("rect", { x, y, width: 11, height: 11 }, "tone-" + i);
      svg.elem("text", { x: x + 16, y: y + 10 }, "name").text(cut(group, (isPie ? wide - x : wide / columns) / LETTER - 4));
    });
    done(svg);
  }));
  drawing.detach();
  const drawn = root.firstChild;
  drawn.classList.add(kind, isBars ? "bars" : kind);
  return drawn;
}

const cut = (text, most) => (text.length > most ? text.slice(0, most - 1) + "…" : text);

// At most so many of some times, apart from each other.
function spaced(times, most) {
  const apart = (times.at(-1) - times[0]) / Math.max(1, most), kept = [];
  for (const each of times) if (!kept.length || each - kept.at(-1) >= apart) kept.push(each);
  return kept;
}

// The drawing as a file: with its size and the styles of its parts.
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
