// Rows with numbers -> a figure that fits their shape: bars, groups, lines, a pie, a scatter, a histogram; by Chartist.

import { areYears, block, button, download, element, formatCell, labelOf, language, quiet, t, withUnit } from "../shared/page.js";
import { toCsv } from "./table.js";

const MIN_VALUES = 8, MIN_DISTINCT = 4, MAX_BINS = 16, MAX_BARS = 24, MAX_GROUPS = 8, MAX_TIMES = 2000, BAR_HEIGHT = 26, BAR_WIDTH = 13;
const BAR_KINDS = ["bars", "grouped", "stacked"];
// the width of a letter, in units of the drawing
const LETTER = 7.4;
const TIME = /^[12]\d{3}(-Q[1-4]|-\d\d(-\d\d(T[\d:.Z+-]*)?)?)?$/;
// a quarter by its first month
const timeOf = (text) => Date.parse(text.replace(/Q(\d)/, (_, quarter) => String(quarter * 3 - 2).padStart(2, 0)));
// the beginnings of words that ask for a kind, which is the first; the most special kind before others
const ASKED = t("chartWords").split("; ");
export const askedKind = (question) => ASKED.find((words) => new RegExp("\\b(" + words + ")", "i").test(question))?.split("|")[0];
const ROUNDED = [{ maximumSignificantDigits: 4 }, { maximumSignificantDigits: 3, notation: "compact" }].map((how) => new Intl.NumberFormat(language, how));

// A figure for a table of names and numbers, or null; of the kind that is asked for if there is one. A click changes it.
// `fill` is what groups and times without a number have, if they are to be shown; rows that are `ordered` stay so.
export async function chart(table, asked) {
  const { columns, units = [], rows } = table, figures = possibleCharts(table, asked).sort((a, b) => (b.kind === asked) - (a.kind === asked));
  if (!figures.length) return null;
  const root = element("figure", { class: "chart" });
  const draw = async (own) => {
    const chosen = selectPoints(own, table), drawn = await drawChart(own.kind, chosen), marks = [...drawn.querySelectorAll(".ct-series title")], note = element("span", { role: "status" });
    const tell = (title) => { note.textContent = title?.textContent ?? ""; drawn.querySelector(".at")?.classList.remove("at"); title?.parentNode.classList.add("at"); };
    root.dataset.kind = own.kind;
    drawn.setAttribute("role", "img");
    drawn.setAttribute("aria-label", chosen.description);
    drawn.dataset.title = chosen.title;
    // a mark is told where it is pointed at, and as arrow keys reach it
    drawn.tabIndex = 0;
    drawn.onpointerover = ({ target }) => tell(target.querySelector(":scope > title"));
    drawn.onkeydown = ({ key }) => { const step = { ArrowRight: 1, ArrowLeft: -1 }[key]; if (step) tell(marks.at((marks.findIndex((each) => each.parentNode.matches(".at")) + step) % marks.length)); };
    const choices = figures.length < 2 ? "" : element("span", { class: "kinds-of-chart", role: "group", "aria-label": t("chartKind") }, figures.map((each) => button(labelOf("chart", each.kind), async () => { await draw(each); root.querySelector("[aria-pressed=true]").focus(); }, "plain", { "aria-pressed": String(each === own) })));
    const save = (label, action) => button(label, action, "plain", { "aria-label": t("saveChart", { what: label }) }), saving = () => import("../../downloads/files/save_chart.js");
    root.replaceChildren(element("figcaption", {}, chosen.title, note), drawn, block("row table-foot", choices,
      save("PNG", async () => (await saving()).savePng(drawn)), save("SVG", async () => (await saving()).saveSvg(drawn)),
      save("CSV", () => download(toCsv(columns, units, rows), "chart.csv", "text/csv"))));
  };
  await draw(figures[0]);
  if (asked && figures[0].kind !== asked && !(asked === "bars" && figures[0].group != null)) root.append(quiet(t("noSuchChart", { kind: labelOf("chart", asked) })));
  return root;
}

// The charts that the shape of a table allows, the best one first.
function possibleCharts({ columns, rows, named, fill }, asked) {
  const indices = columns.map((_, i) => i), cells = indices.map((i) => rows.map((row) => row[i]).filter((cell) => cell != null));
  const distinct = (...some) => new Set(rows.map((row) => JSON.stringify(some.map((i) => row[i])))).size;
  const isTime = (i) => cells[i].length === rows.length && cells[i].every((cell) => TIME.test(cell)) && (isNaN(cells[i][0]) || areYears(cells[i].map(Number))), allAre = (kind) => (i) => !isTime(i) && cells[i].length && cells[i].every((cell) => typeof cell === kind);
  const numbers = indices.filter((i) => allAre("number")(i) && (asked || distinct(i) > 1)), [value] = numbers;
  if (value == null) return [];
  // the other number is its share
  if (asked === "pie") numbers.length = 1;
  const names = indices.filter(allAre("string")), [name] = names, time = indices.find(isTime), found = [];
  // of two columns of names, the second is the group, unless it has too many values
  const most = fill === 0 ? MAX_BARS : MAX_GROUPS, group = [...names].sort((a, b) => (distinct(a) > most) - (distinct(b) > most) || b - a)[0], other = names.find((i) => i !== group);
  const isGrouped = (along) => along != null && group != null && distinct(group) > 1 && distinct(group) <= most && distinct(along) < rows.length && distinct(along, group) === rows.length, beside = [time, other].find(isGrouped);
  if (time != null && distinct(time) === rows.length) found.push({ kind: "line", along: time, value });
  else if (beside != null) found.push(...[beside === time && "line", ...(fill === 0 ? ["stacked", "grouped"] : ["grouped", "stacked"])].filter(Boolean).map((kind) => ({ kind, along: beside, value, group })));
  if (numbers.length > 1) found.push({ kind: "scatter", along: numbers[1], value, name });
  // a name or time with several rows has no bar of its own
  const bars = { kind: "bars", along: [...names, time].find((i) => i != null && distinct(i) === rows.length), value };
  // a line beats bars if the table says of what time each number is
  if (bars.along != null && found[0]?.group == null) found.splice(found[0]?.kind === "line" ? 1 : named || rows.length > MAX_BARS ? found.length : 0, 0, bars);
  if (bars.along != null && Math.min(...cells[value]) >= 0 && (asked === "pie" || (fill === 0 && rows.length <= MAX_GROUPS))) found.push({ ...bars, kind: "pie" });
  if (cells[value].length >= MIN_VALUES && distinct(value) >= MIN_DISTINCT && (named || bars.along != null || !names.length)) found.push({ kind: "histogram", value });
  return found;
}

// The points of a chart in order, the form of numbers, title and description.
function selectPoints({ kind, along, value, name, group }, { columns, units = [], rows, fill, ordered }) {
  const heading = (i) => withUnit(columns[i], units[i]), isYear = (i) => !units[i] && areYears(rows.map((row) => row[i]));
  const exact = (i) => (cell) => formatCell(cell, heading(i), isYear(i));
  const rounded = (i) => (cell) => (isYear(i) && Number.isInteger(cell) ? String(cell) : ROUNDED[Number(Math.abs(cell) >= 1e5)].format(cell));
  const isScatter = kind === "scatter", isLine = kind === "line", what = heading(value), write = exact(value);
  if (kind === "histogram") return distribution(rows.map((row) => row[value]).filter((each) => each != null), what, rounded(value));
  const by = heading(along), sum = (some) => some.reduce((all, each) => all + each.value, 0), distinct = (key) => [...new Set(points.map((each) => each[key]))];
  const point = (title, of, number, at) => {
    const called = title + (of && ", " + of);
    return { name: title, group: of, at, value: number, title: (called && called + ": ") + (isScatter ? by + " " + exact(along)(at) + ", " + what + " " : "") + write(number) };
  };
  let points = rows.filter((row) => typeof row[value] === "number" && row[along] != null).map((row) => point(...[row[isScatter ? name : along], row[group]].map((cell) => String(cell ?? "")), row[value], row[along]));
  const all = points.length;
  if (points.every((each) => TIME.test(each.name))) points.sort((a, b) => a.name.localeCompare(b.name));
  else if (!isScatter && group == null && !ordered) points.sort((a, b) => b.value - a.value);
  if (BAR_KINDS.includes(kind)) { const shown = distinct("name").slice(0, MAX_BARS); points = points.filter((each) => shown.includes(each.name)); }
  const left = points.length, others = (some) => t("others", { n: some.length });
  if (kind === "pie") {
    const whole = sum(points), rest = points.splice(MAX_GROUPS - (points.length > MAX_GROUPS));
    if (rest.length) points.push(point(others(rest), "", sum(rest)));
    for (const each of points) each.title = each.name = each.title + " (" + (each.value / whole).toLocaleString(language, { style: "percent", maximumFractionDigits: 1 }) + ")";
  } else if (group != null && distinct("group").length > MAX_GROUPS) {
    const of = Object.groupBy(points, (each) => each.group), rest = distinct("group").sort((a, b) => sum(of[b]) - sum(of[a])).slice(MAX_GROUPS - 1), isRest = (each) => rest.includes(each.group);
    points = points.filter((each) => !isRest(each)).concat(distinct("name").map((title) => point(title, others(rest), sum(points.filter((each) => each.name === title && isRest(each))))));
  }
  if (fill !== undefined && (isLine || group != null)) {
    const known = new Map(points.map((each) => [each.name + "\n" + each.group, each])), names = distinct("name"), times = isLine ? eachTime(names) : names, groups = distinct("group");
    // a few averages in many years are joined
    points = (fill === 0 || times.length < 2 * names.length ? times : names).flatMap((title) => groups.map((of) => known.get(title + "\n" + of) ?? point(title, of, fill)));
  }
  const title = t("valueBy", { what, along: [by, columns[group]].filter(Boolean).join(", ") }) + (left < all ? t("theFirst", { n: left, all }) : "");
  return { points, what, by, write: rounded(value), writeAlong: rounded(along), title, description: labelOf("chart", kind) + ": " + title + ". " + points.slice(0, 12).map((each) => each.title).join("; ") };
}

// All months, quarters or years from the first to the last; the times themselves, if they are of another kind.
function eachTime(times) {
  const found = [], [first] = times, isQuarter = first[5] === "Q", months = isQuarter ? 3 : first.length > 4 ? 1 : 12;
  const time = (n) => {
    const at = new Date(timeOf(first));
    at.setUTCMonth(at.getUTCMonth() + n * months);
    return isQuarter ? at.getUTCFullYear() + "-Q" + (at.getUTCMonth() / 3 + 1) : at.toISOString().slice(0, first.length);
  };
  if (times.every((each) => each.length === first.length && first.length < 8)) while (found.at(-1) !== times.at(-1) && found.length < MAX_TIMES) found.push(time(found.length));
  return found.length ? found : times;
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
  const isNarrow = innerWidth <= 640, wide = isNarrow ? 350 : Math.max(640, Math.min(1100, innerWidth - 400)), isBars = BAR_KINDS.includes(kind), isStacked = kind === "stacked", isPie = kind === "pie";
  const [names, groups] = ["name", isPie ? "name" : "group"].map((key) => [...new Set(points.map((each) => each[key]))]), columns = isNarrow ? 2 - isPie : 4, top = groups.length > 1 ? Math.ceil(groups.length / columns) * 20 : 0;
  const room = (texts) => LETTER * Math.max(...texts.map((each) => each.length)), written = room(points.map((each) => write(each.value))), name = Math.min(isNarrow ? 118 : 190, room(names) + 18);
  const isWhole = (key) => points.every((each) => Number.isInteger(each[key])), values = points.map((each) => each.value).filter((each) => each != null), step = Math.max(BAR_HEIGHT, isStacked ? 0 : groups.length * BAR_WIDTH + 8);
  const high = top + (isBars ? names.length * step + 56 : kind === "scatter" ? 310 : 260), root = element("div");
  const size = { viewBox: { width: wide, height: high }, chartPadding: { top: top + (kind === "scatter" ? 30 : 10), right: isBars && !isStacked ? written + 8 : 32, bottom: 24, left: 6 } };
  const scale = { labelInterpolationFnc: write, scaleMinSpace: isBars ? 30 + written : 40, onlyInteger: isWhole("value") };
  size.axisY = { ...scale, offset: written + 20 };
  const make = (point, value) => ({ ...value, meta: point }), series = (of) => groups.map((group, i) => ({ className: "tone-" + i, data: of(points.filter((each) => each.group === group)) }));
  let drawing;
  if (isPie) drawing = new PieChart(root, { series: points.map((each, i) => make(each, { value: each.value, className: "tone-" + i })) }, { viewBox: { width: wide, height: high - top }, showLabel: false });
  else if (kind === "histogram") drawing = new BarChart(root, { labels: names, series: series((own) => own.map((each) => make(each, { value: each.value }))) }, { ...size, axisX: { offset: 22, showGrid: false } });
  else if (isBars) {
    // from below
    names.reverse();
    const data = series((own) => names.map((each) => { const point = own.find((one) => one.name === each); return point?.value != null ? make(point, { value: point.value }) : 0; }));
    drawing = new BarChart(root, { labels: names, series: isStacked ? data : data.reverse() }, { ...size, horizontalBars: true, stackBars: isStacked, seriesBarDistance: BAR_WIDTH, axisX: { ...scale, offset: 22 }, axisY: { offset: name, showGrid: false } });
  } else {
    const isLine = kind === "line", times = new Map(isLine ? names.map((each) => [timeOf(each), each]) : []);
    const along = isLine ? { type: FixedScaleAxis, ticks: spaced([...times.keys()], wide / 95), labelInterpolationFnc: (at) => formatCell(times.get(at), by) } : { type: AutoScaleAxis, scaleMinSpace: 70, labelInterpolationFnc: writeAlong, onlyInteger: isWhole("at") };
    const low = Math.min(...values), fromZero = low >= 0 && low < Math.max(...values) / 2 ? { low: 0 } : {};
    drawing = new LineChart(root, { series: series((own) => own.map((each) => make(each, { x: isLine ? timeOf(each.name) : each.at, y: each.value }))) }, { ...size, showLine: isLine, lineSmooth: Interpolation.none(), axisY: { ...size.axisY, ...fromZero }, axisX: { ...along, offset: 22 } });
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
    if (isPie) svg.attr({ viewBox: [0, -top, wide, high].join(" ") });
    if (top) groups.forEach((group, i) => {
      const x = 6 + ((i % columns) * wide) / columns, y = 4 + Math.floor(i / columns) * 20 - isPie * top;
      svg.elem("rect", { x, y, width: 11, height: 11 }, "tone-" + i);
      svg.elem("text", { x: x + 16, y: y + 10 }, "name").text(cut(group, wide / columns / LETTER - 4));
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
