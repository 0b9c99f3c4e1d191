// How an answer was found, live or from its record: steps, rounds, branches, queries, sentences, prompts, time.

import { get, place, send } from "./api.js";
import { $, button, count, failure, icon, make, seconds, shown } from "./dom.js";
import { highlighted, inlined } from "./highlight.js";
import { classLink, isIri, thingLink } from "./names.js";
import { marked } from "./prose.js";
import { steps } from "./steps.js";
import { grid } from "./table.js";
import { placeOf } from "./turn.js";

const FEW = 6;
const ORDER = ["sql", "sparql", "vector", "lexical"];
const LEADS = { entity: thingLink, class: classLink };
const MAKERS = { rewriter: "Rewriting", understand: "Understanding", tool_selector: "Choosing", fuser: "Answering", answer: "Answering" };

// Draw the derivation of a turn into `root`; what was opened there is drawn anew, so call it when something came.
export function derive(root, { live }) {
  const { record } = live;
  const queries = record?.queries || live.queries;
  const rounds = new Map();
  for (const each of live.routes) rounds.set(each.round, new Set(each.branches));
  for (const each of [...queries.map(({ tool, round }) => ({ branch: tool, round })), ...live.evidence]) rounds.set(each.round, (rounds.get(each.round) || new Set()).add(each.branch));
  root.replaceChildren(
    make("p", { class: "asked" }, live.question), record ? summary(record) : make("p", { class: "working" }, "Under way …"),
    understanding(live, record), steps(record), time(live, record),
    ...[...rounds].sort(([a], [b]) => a - b).map(([round, branches]) => make("section", {}, make("h3", {}, "Round " + round),
      [...branches].sort((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b)).map((branch) => part(branch, round, live, record, queries.filter((each) => each.tool === branch && each.round === round))))),
    record ? makers(record) : "", record?.llm_calls ? prompts(record) : "");
}

function summary(record) {
  const told = [["Status", record.status.replaceAll("_", " ")], ["Probability", record.confidence == null ? null : Math.round(record.confidence * 100) + " %"],
    ["Took", seconds(record.seconds)], ["First word", seconds(record.first_token_seconds)], ["Rounds", record.rounds], ["Strategy", record.strategy],
    ["Model calls", record.llm_calls || null], ["Tokens", record.llm_calls ? shown(record.input_tokens) + " read, of which " + shown(record.cached_tokens) + " cached; " + shown(record.output_tokens) + " written" : null],
    ["Price", record.llm_calls ? (record.price == null ? "unknown" : "$ " + record.price.toFixed(5)) : null], ["Unsupported claims", record.unsupported ? record.unsupported + " left out" : null], ...Object.entries(record.unavailable).map(([branch, why]) => ["Not available", placeOf(branch) + ": " + why]), ["Graph version", record.version]];
  return make("dl", { class: "summary" }, told.filter(([, value]) => value != null && value !== "").map(([name, value]) => [make("dt", {}, name), make("dd", {}, String(value))]));
}

function understanding(live, record) {
  const known = live.understand;
  const plans = [...new Set((record?.queries || live.queries).filter((each) => each.words && !each.words.startsWith("passages like")).map((each) => each.words))];
  const readings = known?.readings.length ? known.readings.map((each) => each.words) : plans;
  const parts = [];
  if (record && record.standalone !== record.question) parts.push(make("p", {}, "As a question of its own: ", make("q", {}, record.standalone)));
  if (known?.mentions.length) parts.push(make("ul", { class: "mentions" }, known.mentions.slice(0, 20).map((each) => make("li", {}, make("q", {}, each.text), " → ", isIri(each.target) && record && each.kind in LEADS ? LEADS[each.kind](record.graph, each.target, each.label) : each.label, " ", make("span", { class: "tag" }, each.kind)))));
  if (known?.unknown.length) parts.push(make("p", { class: "note" }, "Not known here: " + known.unknown.map((each) => each.word + (each.nearest ? " (nearest: " + each.nearest + ")" : "")).join(", ")));
  if (readings.length) parts.push(make("ol", { class: "readings" }, readings.slice(0, FEW).map((words) => make("li", {}, words))));
  return parts.length ? make("section", {}, make("h3", {}, "What was understood"), parts) : "";
}

// Time as bars: when each step was heard of, where one listened; else how long queries took.
function time(live, record) {
  const whole = record?.seconds || live.steps.at(-1)?.at;
  // branches run beside each other, from the choice of where to look on
  const heard = live.steps.map((each, i) => ({ name: each.name, from: (ORDER.includes(each.name) ? live.steps.findLast((one, n) => n < i && one.name === "tool_selector") : live.steps[i - 1])?.at || 0, to: each.at }));
  const ran = (record?.queries || []).filter((each) => each.seconds > 0).sort((a, b) => b.seconds - a.seconds).slice(0, FEW).map((each) => ({ name: placeOf(each.tool), from: 0, to: each.seconds }));
  const merged = [];
  for (const each of heard) if (merged.at(-1)?.name === each.name) merged.at(-1).to = each.to; else merged.push({ ...each });
  const bars = merged.length ? merged : ran;
  if (!bars.length) return "";
  const top = Math.max(whole || 0, ...bars.map((each) => each.to)) || 1;
  return make("section", {}, make("h3", {}, merged.length ? "Time" : "Time of queries"), make("ul", { class: "bars" }, bars.map((each) => {
    const bar = make("span", { class: "bar" });
    bar.style.marginInlineStart = (each.from / top) * 100 + "%";
    bar.style.width = Math.max(1, ((each.to - each.from) / top) * 100) + "%";
    return make("li", {}, make("span", { class: "bar-name" }, MAKERS[each.name] || placeOf(each.name)), make("span", { class: "bar-room" }, bar), make("span", { class: "bar-time" }, seconds(each.to - each.from)));
  })));
}

function part(branch, round, live, record, queries) {
  const sentences = live.evidence.filter((each) => each.branch === branch && each.round === round && each.kind === "sentence");
  const worded = ["sql", "sparql"].includes(branch);
  const by = record?.by[branch];
  const told = worded ? count(queries.length, "query", "queries") : sentences.length ? count(sentences.length, "sentence") : count(queries.reduce((sum, each) => sum + each.rows, 0), "passage");
  return make("details", { class: "part", open: worded || null }, make("summary", {}, make("strong", {}, placeOf(branch)), make("span", { class: "quiet" }, " " + told + (by ? ", by " + by : ""))),
    worded ? queries.map((each) => query(each, record)) : queries.filter((each) => each.error).map((each) => make("p", { class: "error" }, each.error.message)),
    sentences.slice(0, 24).map((each) => make("div", { class: "passage" }, make("p", {}, make("strong", {}, each.title), each.title ? ": " : "", marked(each.text, live.question)), each.score == null ? "" : make("span", { class: "tag", title: "Score within this branch" }, shown(each.score)))));
}

// One query: in words, as it was written, with its rows; it can be changed and run again.
function query(each, record) {
  const language = each.tool === "sparql" ? "sparql" : "sql";
  const text = inlined(each.text, each.params);
  const out = make("div", { class: "rows" });
  const code = make("pre", { tabindex: "0", "aria-label": "Query" }, highlighted(text));
  const box = make("div", {}, code);
  const buttons = make("div", { class: "row" });
  const begin = () => {
    buttons.replaceChildren(!record || !text ? "" : make("button", { type: "button", class: "plain", onclick: () => run(text) }, icon("play"), "Rows"),
      !record || !text ? "" : make("button", { type: "button", class: "plain", onclick: edit }, icon("pencil"), "Edit and run"));
  };
  async function run(written) {
    out.replaceChildren(make("p", { class: "working" }, "Running …"));
    try {
      const ran = await send("POST", place("graphs", record.graph, "query"), { language, text: written });
      out.replaceChildren(make("p", { class: "quiet" }, count(ran.rows.length, "row") + (ran.truncated ? ", cut off" : "") + ", " + seconds(ran.seconds)), ran.columns.length ? grid({ ...ran, name: "rows", caption: each.words || "Rows", cell: (value) => (typeof value === "string" && isIri(value) ? thingLink(record.graph, value) : null) }) : "");
    } catch (problem) {
      out.replaceChildren(failure(problem));
    }
  }
  function edit() {
    const field = make("textarea", { class: "code", rows: String(Math.min(16, text.split("\n").length + 1)), spellcheck: "false", maxlength: "10000", "aria-label": "Query to run" });
    field.value = text;
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run(field.value);
      if (event.key === "Escape") { event.stopPropagation(); stop(); }
    });
    const stop = () => { box.replaceChildren(code); begin(); };
    box.replaceChildren(field);
    buttons.replaceChildren(button("Run", () => run(field.value), "main", { title: "Ctrl+Enter" }), button("As it was", stop));
    field.focus();
  }
  begin();
  return make("details", { class: "query" + (each.error ? " bad" : "") }, make("summary", {}, make("span", {}, each.words || "query"), make("span", { class: "quiet" }, " " + (each.error ? "failed" : count(each.rows, "row") + (each.truncated ? ", cut off" : "")) + ", " + seconds(each.seconds) + (each.by === "model" ? ", by the model" : ""))),
    each.error ? make("p", { class: "error" }, each.error.message) : "", text ? box : "", buttons, out);
}

function makers(record) {
  return make("details", { class: "part" }, make("summary", {}, make("strong", {}, "Who did what")), make("dl", { class: "summary" }, Object.entries(record.by).map(([agent, by]) => [make("dt", {}, MAKERS[agent] || placeOf(agent)), make("dd", {}, by)])));
}

function prompts(record) {
  const body = make("div");
  const root = make("details", { class: "part" }, make("summary", {}, make("strong", {}, "Prompts"), make("span", { class: "quiet" }, " " + count(record.llm_calls, "call"))), body);
  root.addEventListener("toggle", async () => {
    if (!root.open || body.firstChild) return;
    try {
      const calls = await get(place("runs", record.id, "calls"));
      body.replaceChildren(...calls.map((call, i) => make("details", { class: "query" }, make("summary", {}, "Call " + (i + 1), make("span", { class: "quiet" }, " " + seconds(call.seconds) + ", " + shown(call.input_tokens) + " + " + shown(call.output_tokens) + " tokens")),
        call.messages.map(([role, text]) => [make("h4", {}, role), make("pre", { tabindex: "0" }, text)]), make("h4", {}, "answer"), make("pre", { tabindex: "0" }, call.answer))));
      if (!calls.length) body.append(make("p", { class: "quiet" }, "No call was kept."));
    } catch (problem) {
      body.replaceChildren(failure(problem));
    }
  });
  return root;
}

// The panel at the right follows one turn.
export const panel = {
  turn: null,
  pending: 0,
  show(turn, open = true) {
    this.turn = turn;
    if (open) this.open();
    this.draw();
  },
  open() {
    if (!$("panel").hidden) return;
    $("panel").hidden = false;
    document.body.classList.add("with-panel");
    $("derive").setAttribute("aria-expanded", "true");
    if (matchMedia("(max-width: 80rem)").matches) $("panel-close").focus();
  },
  close() {
    $("panel").hidden = true;
    document.body.classList.remove("with-panel");
    $("derive").setAttribute("aria-expanded", "false");
  },
  changed(turn) {
    if (turn !== this.turn || $("panel").hidden || this.pending) return;
    this.pending = requestAnimationFrame(() => { this.pending = 0; this.draw(); });
  },
  draw() {
    if ($("panel").hidden) return;
    if (this.turn) derive($("derivation"), this.turn);
    else $("derivation").replaceChildren(make("p", { class: "quiet" }, "Ask a question: each step of its answer is shown here."));
  },
};
