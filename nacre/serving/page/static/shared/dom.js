// DOM elements: tag name and attributes -> elements that contain text, never markup.

import { language, t } from "./words.js";

export const $ = (id) => document.getElementById(id);

const SVG = "http://www.w3.org/2000/svg";
const PATHS = {
  menu: "M4 7h16M4 12h16M4 17h16", close: "M6 6l12 12M18 6L6 18", plus: "M12 5v14M5 12h14", send: "M12 19V5M5 12l7-7 7 7",
  stop: "M7 7h10v10H7z", copy: "M9 9h11v11H9zM5 15H4V4h11v1", up: "M7 11v9H4v-9zM7 11l4-7c2 0 3 1 2.5 3L13 10h6c1 0 1.5 1 1.3 2l-1.5 6.5c-.2 1-1 1.5-2 1.5H7",
  down: "M7 13V4H4v9zM7 13l4 7c2 0 3-1 2.5-3L13 14h6c1 0 1.5-1 1.3-2l-1.5-6.5c-.2-1-1-1.5-2-1.5H7", pencil: "M4 20l1-4L16 5l3 3L8 19z",
  fork: "M7 4v9M7 13a3 3 0 1 0 0 6 3 3 0 0 0 0-6M17 4a3 3 0 1 1 0 6 3 3 0 0 1 0-6M17 10c0 4-4 3-7.5 4.5",
  more: "M5 12h.01M12 12h.01M19 12h.01", route: "M6 4a2 2 0 1 1 0 4 2 2 0 0 1 0-4M18 16a2 2 0 1 1 0 4 2 2 0 0 1 0-4M8 6h6a3 3 0 0 1 0 6h-4a3 3 0 0 0 0 6h6",
  gear: "M4 7h9M17 7h3M4 17h3M11 17h9M15 5v4M9 15v4", theme: "M12 4v16M12 4a8 8 0 1 0 0 16M12 4a8 8 0 1 1 0 16", key: "M14 10a4 4 0 1 1 0 .01M11 13l-7 7M6 18l2 2", play: "M8 5l11 7-11 7z",
  filter: "M4 5h16l-6 7v6l-4 2v-8z", save: "M12 4v11M7 11l5 5 5-5M5 20h14",
  link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
};

function fill(created, attributes, inside) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) created.addEventListener(name.slice(2), value);
    else if (value === true) created.setAttribute(name, "");
    else if (value !== false && value != null) created.setAttribute(name, value);
  }
  created.append(...inside.flat(9).filter((each) => each != null && each !== false));
  return created;
}

export const svg = (tag, attributes = {}, ...inside) => fill(document.createElementNS(SVG, tag), attributes, inside);
export const element = (tag, attributes = {}, ...inside) => fill(document.createElement(tag), attributes, inside);

const classed = (tag) => (kind, ...inside) => element(tag, { class: kind }, inside), plain = (tag) => (...inside) => element(tag, {}, inside);
export const [item, strong, section, quoted, summaryOf, h2] = ["li", "strong", "section", "q", "summary", "h2"].map(plain);
export const block = classed("div"), inline = classed("span"), para = classed("p"), quiet = (...inside) => para("quiet", inside), row = (...inside) => block("row", inside), faint = (...inside) => inline("quiet", inside), card = (...inside) => element("section", { class: "card" }, inside), h3 = (key) => element("h3", {}, t(key));

// A bar of so much of the room that it has.
export function bar(side, part) {
  const drawn = inline("bar");
  drawn.style[side] = Math.min(1, part) * 100 + "%";
  return drawn;
}

export function icon(name) {
  return svg("svg", { viewBox: "0 0 24 24", class: "drawn", "aria-hidden": "true", focusable: "false" }, svg("path", { d: PATHS[name] }));
}

// The accessible name and tooltip of a control.
export const labelled = (label) => ({ "aria-label": label, title: label });

export function iconButton(name, label, onclick, more = {}) {
  return element("button", { type: "button", class: "icon", ...labelled(label), onclick, ...more }, icon(name));
}

export function button(label, onclick, kind = "", more = {}) {
  return element("button", { type: "button", class: kind, onclick, ...more }, label);
}

// Buttons below what they are for.
export const choiceGroup = (lead, choices, kind = "") => element("div", { class: "options " + kind, role: "group", "aria-label": lead }, element("p", {}, lead), choices);

export const searchField = (label, oninput, more = {}) => element("input", { type: "search", maxlength: "200", "aria-label": label, placeholder: label, oninput, ...more });

// Names in the order of people: 2 before 10.
export const { compare: compareNames } = new Intl.Collator(language, { numeric: true });

// A table that the keyboard scrolls.
export const scrollTable = (label, ...inside) => element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, element("table", {}, inside));

// A menu below the button that opens it.
export function openMenu(opener, ...entries) {
  // it leaves the question field free
  const pop = $("choices"), at = opener.getBoundingClientRect(), bottom = $("ask").getBoundingClientRect().top;
  pop.replaceChildren(...entries.flat(2).filter(Boolean));
  pop.showPopover();
  pop.style.maxHeight = "min(32rem, " + (bottom - 16) + "px)";
  pop.style.left = Math.max(8, Math.min(at.left, innerWidth - pop.offsetWidth - 8)) + "px";
  pop.style.top = Math.max(8, Math.min(at.bottom + 4, bottom - pop.offsetHeight - 8)) + "px";
  pop.querySelector("button, input, a")?.focus();
  pop.onkeydown = (event) => moveFocus(event, pop.querySelectorAll("button, a"));
}

// Arrow keys move the focus within a list.
export function moveFocus(event, list) {
  const all = [...list], at = all.indexOf(document.activeElement), to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
  if (to == null || at < 0) return;
  event.preventDefault();
  all.at(to % all.length).focus();
}

// The focus goes to the question if what had it is gone, and a keyboard is there.
export function keepFocus() { if (self === top && document.activeElement === document.body && matchMedia("(pointer: fine)").matches) $("question").focus(); }

// A day for reading: 3 May 2026.
export const day = (time, timeZone) => new Date(time).toLocaleDateString(language === "en" ? "en-GB" : language, { day: "numeric", month: "long", year: "numeric", timeZone });

// Announce a text to screen readers.
export function announce(text) { $("said").textContent = text; }

const DIGITS = new Intl.NumberFormat(language, { maximumSignificantDigits: 6, maximumFractionDigits: 2, roundingPriority: "morePrecision" }), MONEY = new Intl.NumberFormat(language, { minimumFractionDigits: 2, maximumFractionDigits: 2 });

// Whether numbers read as years: whole and of a size that years have.
export const areYears = (cells) => cells.every((cell) => cell == null || (Number.isInteger(cell) && cell >= 1000 && cell < 2200));

// A heading with the unit of its numbers, unless it names it: "weight in kg".
export const withUnit = (label, unit) => (unit && !label.split(/[\s()]+/).includes(unit) ? label + " (" + unit + ")" : label);

// A number with its unit; English has a sign of money before it.
export const withSign = (text, unit) => (language === "en" && /^\p{Sc}$/u.test(unit) ? text.replace(/\d/, (digit) => unit + digit) : unit ? text + " " + unit : text);

// Format a cell for reading: six significant digits or cents for long fractions, two places in money, no separator in years.
export function formatCell(cell, column = "", asYear = areYears([cell])) {
  if (cell === null || cell === undefined) return "";
  if (typeof cell === "boolean") return t(cell ? "yes" : "no");
  if (typeof cell !== "number") {
    const [, amount, sign] = /^(-?\d+(?:\.\d+)?) ?(\p{Sc})$/u.exec(cell) || [];
    if (sign) return withSign(formatCell(Number(amount), sign), sign);
    // a point in time without a zone; it stays on one line
    const [, date, time] = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d)(?::00)?)?$/.exec(cell) || [];
    if (/^\d{4}-\d\d$/.test(cell) && /\bmon(th|at)/i.test(column)) return new Date(cell).toLocaleDateString(language, { month: "short", year: "numeric", timeZone: "UTC" });
    return date ? (day(date, "UTC") + (time ? ", " + time : "")).replaceAll(" ", "\u00a0") : String(cell);
  }
  if (Number.isInteger(cell)) return asYear || /\b(year|date|code|id|number)\b/i.test(column) ? String(cell) : cell.toLocaleString(language);
  if (/[£$€]/.test(column)) return MONEY.format(cell);
  return Math.abs(cell) >= 1e-4 && Math.abs(cell) < 1e15 ? DIGITS.format(cell) : String(cell);
}

export function formatSeconds(value) {
  if (value == null) return "";
  const [number, unit] = value < 1 ? [value * 1000, " ms"] : [value, " s"];
  return number.toLocaleString(language, { maximumFractionDigits: number < 10 ? 1 : 0 }) + unit;
}

export async function download(content, name, type) {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

// An error message with a hint and buttons for next steps.
export function failureBox(problem, ...actions) {
  return element("div", { class: "failure", role: "alert", "data-offline": problem.status === 0 }, element("p", {}, problem.message || String(problem)), problem.hint && element("p", { class: "quiet" }, problem.hint), actions.length > 0 && element("div", { class: "row" }, actions));
}

for (const each of document.querySelectorAll("[data-icon]")) each.prepend(icon(each.dataset.icon));
