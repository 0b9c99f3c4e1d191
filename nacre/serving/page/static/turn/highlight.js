// Query text -> highlighted tokens; query text and parameters -> text with the values inlined.

import { element } from "../shared/page.js";

const KEYWORDS = /^([A-Z]+|a)$/;
const TOKENS = /(--[^\n]*|#[^\n<>]*$|\/\*[\s\S]*?\*\/)|('(?:[^']|'')*'|"""[\s\S]*?""")|("(?:[^"]|"")*"|`[^`]*`)|(<[^<>\s]*>)|([?$][A-Za-z_]\w*)|(\b\d+(?:\.\d+)?\b)|([A-Za-z_]\w*)|([\s\S])/gm;
const TOKEN_KINDS = ["comment", "string", "name", "iri", "variable", "digits"];

export function highlightQuery(text) {
  return element("code", {}, [...text.matchAll(TOKENS)].map((match) => {
    const kind = TOKEN_KINDS[match.slice(1, 7).findIndex((each) => each !== undefined)] || (match[7] && KEYWORDS.test(match[7]) ? "word" : "");
    return kind ? element("span", { class: "hl-" + kind }, match[0]) : match[0];
  }));
}

// SQL with each ? replaced by its value, so that it can be read, edited and run alone.
export function inlineParameters(text, params) {
  const left = [...params];
  return text.replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"|\?/g, (part) => (part === "?" && left.length ? literal(left.shift()) : part));
}

function literal(value) {
  if (value === null) return "NULL";
  if (typeof value !== "string") return String(Number(value));
  return "'" + value.replaceAll("'", "''") + "'";
}
