// Dated facts of a thing -> dates on a line, described in text.

import { element, svg, t } from "../shared/page.js";

const DATE = /^\d{4}-\d\d(-\d\d)?(T.*)?$/;
const MOST_DATES = 12, ROW = 22;

// A figure of the dates among the facts; "" if there are fewer than two.
export function timeline(facts) {
  const dates = facts.flatMap((each) => each.ends.filter((end) => !end.iri && DATE.test(end.text)).map((end) => ({ name: each.label, text: end.text.slice(0, 10), at: Date.parse(end.text.slice(0, 10)) })))
    .filter((each) => Number.isFinite(each.at)).sort((a, b) => a.at - b.at).slice(0, MOST_DATES);
  if (new Set(dates.map((each) => each.at)).size < 2) return "";
  const [first, last] = [dates[0].at, dates.at(-1).at];
  const wide = matchMedia("(max-width: 40rem)").matches ? 340 : 640, x = (at) => 12 + ((at - first) / (last - first)) * (wide - 24);
  const drawn = svg("svg", { viewBox: `0 0 ${wide} ${dates.length * ROW + 26}`, class: "line", role: "img", "aria-label": t("datesAre", { list: dates.map((each) => each.name + " " + each.text).join(", ") }) },
    svg("line", { x1: 12, x2: wide - 12, y1: 12, y2: 12, class: "rule" }),
    dates.map((each, i) => {
      const isLate = x(each.at) > wide / 2, down = 34 + i * ROW;
      return svg("g", {}, svg("line", { x1: x(each.at), x2: x(each.at), y1: 12, y2: down - 4, class: "rule" }), svg("circle", { cx: x(each.at), cy: 12, r: 4 }),
        svg("text", { x: x(each.at) + (isLate ? -6 : 6), y: down, "text-anchor": isLate ? "end" : "start", class: "name" }, each.text + " " + each.name.slice(0, 28)));
    }));
  return element("figure", { class: "chart" }, element("figcaption", {}, t("dates")), drawn);
}
