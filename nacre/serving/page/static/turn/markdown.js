// Markdown of an answer -> elements: the syntax that answers use, never raw HTML.

import { element } from "../shared/page.js";

const FENCE = /^\s*```/, HEAD = /^(#{1,6})\s+(.*)$/, ITEM = /^(\s*)([-*+]|\d{1,4}[.)])\s+(.*)$/, QUOTE = /^>\s?/, RULE = /^\s*([-*_])(\s*\1){2,}\s*$/;
const ROW = /^\s*\|.*\|\s*$/, TABLE_RULE = /^\s*\|(\s*:?-+:?\s*\|)+\s*$/;
// levels of lists and quotes; deeper ones stay text
const MAX_DEPTH = 20;
const CITATION = /(\[\d+\])/;
const INLINE_MARKS = /(`[^`\n]+`)|\*\*(?=\S)([\s\S]+?\S?)\*\*|(?<![\w*])\*(?=\S)([^*\n]+?)\*(?!\w)|(?<!\w)_(?=\S)([^_\n]+?)_(?!\w)|\\([\\`*_{}[\]()#+.!|>~-])/;

// Render `text` into `root`. Without `rich`, inline marks stay text, since names may contain them.
// `cite(n)` gives the element for [n], or null; `table(block)` the one for a table. Unchanged blocks stay.
export function renderMarkdown(root, text, { rich = false, cite = () => null, table = null } = {}) {
  const draw = { rich, cite, table };
  const found = parseBlocks(text.split("\n"), rich);
  found.forEach((each, i) => {
    const before = root.children[i];
    if (before && before.raw === each.raw) return;
    const drawn = blockElement(each, draw);
    drawn.raw = each.raw;
    if (before) before.replaceWith(drawn); else root.append(drawn);
  });
  while (root.children.length > found.length) root.lastElementChild.remove();
}

// Lines -> blocks, each with its kind and source lines.
function parseBlocks(lines, rich, depth = 0) {
  const found = [];
  const begins = (at) => !lines[at].trim() || isTable(lines, at) || ITEM.test(lines[at]) || (rich && (FENCE.test(lines[at]) || HEAD.test(lines[at]) || QUOTE.test(lines[at]) || RULE.test(lines[at])));
  for (let at = 0; at < lines.length;) {
    const from = at;
    const line = lines[at];
    let block;
    if (!line.trim()) { at += 1; continue; }
    if (isTable(lines, at)) {
      while (at < lines.length && ROW.test(lines[at])) at += 1;
      block = { kind: "table", head: tableCells(line), right: tableCells(lines[from + 1]).map((each) => each.endsWith(":")), rows: lines.slice(from + 2, at).map(tableCells) };
    } else if (rich && FENCE.test(line)) {
      do at += 1; while (at < lines.length && !FENCE.test(lines[at]));
      block = { kind: "code", text: lines.slice(from + 1, at).join("\n") };
      at += 1;
    } else if (depth < MAX_DEPTH && ITEM.test(line) && !(rich && RULE.test(line))) {
      const items = [];
      const indent = line.match(ITEM)[1].length;
      while (at < lines.length) {
        const item = lines[at].match(ITEM);
        if (item && item[1].length <= indent) items.push([item[3]]);
        else if (lines[at].trim() && /^\s/.test(lines[at])) items.at(-1).push(lines[at].replace(/^\s{1,4}/, ""));
        else break;
        at += 1;
      }
      block = { kind: "list", first: parseInt(line.match(ITEM)[2], 10), items: items.map((each) => parseBlocks(each, rich, depth + 1)) };
    } else if (depth < MAX_DEPTH && rich && QUOTE.test(line)) {
      while (at < lines.length && QUOTE.test(lines[at])) at += 1;
      block = { kind: "quote", inside: parseBlocks(lines.slice(from, at).map((each) => each.replace(QUOTE, "")), rich, depth + 1) };
    } else if (rich && (HEAD.test(line) || RULE.test(line))) {
      at += 1;
      block = HEAD.test(line) ? { kind: "head", depth: line.match(HEAD)[1].length, text: line.match(HEAD)[2] } : { kind: "rule" };
    } else {
      do at += 1; while (at < lines.length && !begins(at));
      block = { kind: "text", text: lines.slice(from, at).join("\n") };
    }
    found.push({ ...block, raw: lines.slice(from, at).join("\n") });
  }
  return found;
}

const isTable = (lines, at) => ROW.test(lines[at]) && at + 1 < lines.length && TABLE_RULE.test(lines[at + 1]);
const tableCells = (row) => row.trim().slice(1, -1).split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|").replaceAll("\\\\", "\\"));

function blockElement(block, draw) {
  switch (block.kind) {
    case "table": return draw.table ? draw.table(block) : plainTable(block, draw);
    case "code": return element("pre", {}, element("code", {}, block.text));
    case "list": return element(block.first >= 0 ? "ol" : "ul", { start: block.first > 1 ? block.first : null }, block.items.map((item) => element("li", {}, item.map((each) => (each.kind === "text" ? inlineElements(each.text, draw) : blockElement(each, draw))))));
    case "quote": return element("blockquote", {}, block.inside.map((each) => blockElement(each, draw)));
    case "head": return element("h" + Math.min(6, block.depth + 2), {}, inlineElements(block.text, draw));
    case "rule": return element("hr");
    default: return element("p", {}, inlineElements(block.text, draw));
  }
}

function inlineElements(text, draw) {
  const found = [];
  const plain = (part) => part.split(CITATION).filter(Boolean).map((each) => (CITATION.test(each) && draw.cite(Number(each.slice(1, -1)))) || each);
  let rest = text;
  for (let match; (match = draw.rich ? rest.match(INLINE_MARKS) : null); rest = rest.slice(match.index + match[0].length)) {
    const [, code, strong, star, line, escaped] = match;
    const inside = code ? element("code", {}, code.slice(1, -1)) : strong ? element("strong", {}, inlineElements(strong, draw)) : star || line ? element("em", {}, inlineElements(star || line, draw)) : escaped;
    found.push(...plain(rest.slice(0, match.index)), inside);
  }
  return [...found, ...plain(rest)];
}

function plainTable(block, draw) {
  const line = (tag, row) => element("tr", {}, row.map((cell, i) => element(tag, { class: block.right[i] ? "number" : null, scope: tag === "th" ? "col" : null }, inlineElements(cell, draw))));
  return element("div", { class: "grid" }, element("table", {}, element("thead", {}, line("th", block.head)), element("tbody", {}, block.rows.map((row) => line("td", row)))));
}

// Replace names in the text by links; `names` maps a name to its link target.
export function linkNames(root, names, link) {
  const known = [...names.keys()].filter((name) => name.length > 1).sort((a, b) => b.length - a.length);
  if (!known.length) return;
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT, (node) => (node.parentElement.closest("a, button, pre, code, svg") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT));
  const nodes = [];
  while (walker.nextNode()) nodes.push(walker.currentNode);
  for (const node of nodes) {
    const parts = splitAtNames(node.data, known);
    if (parts.some(([, name]) => name)) node.replaceWith(...parts.map(([part, name]) => (name ? link(part, names.get(name)) : part)));
  }
}

function splitAtNames(text, known) {
  const found = [];
  const taken = (from, to) => found.some((each) => from < each.to && to > each.from);
  for (const name of known) {
    for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + name.length)) {
      const to = at + name.length;
      const whole = !/[\p{L}\p{N}]/u.test(text[at - 1] || " ") && !/[\p{L}\p{N}]/u.test(text[to] || " ");
      if (whole && !taken(at, to)) found.push({ from: at, to, name });
    }
  }
  const parts = [];
  let end = 0;
  for (const { from, to, name } of found.sort((a, b) => a.from - b.from)) {
    parts.push([text.slice(end, from)], [text.slice(from, to), name]);
    end = to;
  }
  return [...parts, [text.slice(end)]].filter(([part]) => part);
}

// A passage with the words of the question highlighted.
export function highlightWords(text, question) {
  const words = (question.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) || []).map((word) => word.slice(0, Math.max(4, word.length - 2)));
  return text.split(/([\p{L}\p{N}]+)/u).map((part) => (words.some((word) => part.toLowerCase().startsWith(word)) ? element("mark", {}, part) : part));
}
