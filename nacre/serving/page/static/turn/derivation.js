// The derivation of an answer, live or from its record.

import { apiPath, bar, block, button, countPhrase, element, failureBox, faint, formatCell, formatSeconds, get, h3, icon, inline, isIri, item, labelOf, language, para, quiet, row, send, state, t, thingLink, LINK_BY_KIND, quoted, section, strong, summaryOf } from "../shared/page.js";
import { highlightQuery, inlineParameters } from "./highlight.js";
import { highlightWords } from "./markdown.js";
import { questionSteps } from "./question_steps.js";
import { rowTable } from "./table.js";
import { addsWords, branchLabel, isConfirmed, teachingButtons, writtenBy } from "./turn.js";

const MAX_LISTED = 6;
const BRANCH_ORDER = ["sql", "sparql", "vector", "lexical"];
// an agent's or a branch's
const stepLabel = (name) => labelOf("step", branchLabel(name));

// Draw the derivation of a turn into `root`, at each event.
export function drawDerivation(root, turn) {
  const { live } = turn, { record } = live;
  const queries = record?.queries || live.queries;
  const rounds = new Map();
  for (const each of live.routes) rounds.set(each.round, new Set(each.branches));
  for (const each of [...queries.map(({ tool, round }) => ({ branch: tool, round })), ...live.evidence]) rounds.set(each.round, (rounds.get(each.round) || new Set()).add(each.branch));
  root.replaceChildren(
    para("asked", live.question), record ? summary(record) : para("working", t("underWay")),
    understandingSection(live, record), record && teachingButtons(turn, record, true), questionSteps(record), timeSection(live, record),
    ...[...rounds].sort(([a], [b]) => a - b).map(([round, branches]) => section(element("h3", {}, t("roundN", { n: round })),
      [...branches].sort((a, b) => BRANCH_ORDER.indexOf(a) - BRANCH_ORDER.indexOf(b)).map((branch) => branchSection(branch, round, live, record, queries.filter((each) => each.tool === branch && each.round === round))))),
    record ? agentsSection(record) : "", record?.llm_calls ? promptsSection(record) : "");
  if (language !== "en") import("../shell/add_data.js").then(({ translate }) => { for (const each of root.querySelectorAll(".readings li, .query > summary > span:first-child, .unavailable")) each.textContent = translate(each.textContent); });
}

function summary(record) {
  const has = record.llm_calls, told = [["status", labelOf("status", record.status)], ["probability", record.confidence == null ? "" : Math.round(record.confidence * 100) + " %"],
    ["took", formatSeconds(record.seconds)], ["firstWord", formatSeconds(record.first_token_seconds)], ["rounds", record.rounds], ["strategy", t(record.strategy)],
    ["modelCalls", has], ["tokens", has && t("tokensRead", { read: formatCell(record.input_tokens), cached: formatCell(record.cached_tokens), written: formatCell(record.output_tokens) })],
    ["price", has && (record.price == null ? t("unknown") : "$ " + record.price.toFixed(5))], ["unsupported", record.unsupported && t("leftOut", { n: record.unsupported })],
    ["branchNotAvailable", Object.entries(record.unavailable).map(([branch, why]) => para(null, branchLabel(branch) + ": ", inline("unavailable", why), ". ", labelOf("did", branch, "")))], ["graphVersion", record.version]];
  return element("dl", { class: "summary" }, told.filter(([, value]) => value?.length ?? value).map(([key, value]) => [element("dt", {}, t(key)), element("dd", {}, value)]));
}

function understandingSection(live, record) {
  const known = live.understand;
  const plans = [...new Set((record?.queries || live.queries).filter((each) => each.words && !each.words.startsWith("passages like")).map((each) => each.words))];
  // the record has the words in the language of the question
  const selected = record?.derivation?.planned.selected || [], glossed = record && record.language !== "en";
  const readings = selected.length ? selected.map((each) => each.words) : known?.readings.length ? known.readings.map((each) => each.words) : plans;
  const parts = [];
  if (record && (record.standalone_own || addsWords(record))) parts.push(para(null, t("ownQuestion"), quoted(record.standalone_own || record.standalone)));
  if (known?.mentions.length && !glossed) parts.push(element("ul", { class: "mentions" }, known.mentions.slice(0, 20).map((each) => item(quoted(each.text), " → ", isIri(each.target) && record && each.kind in LINK_BY_KIND ? LINK_BY_KIND[each.kind](record.graph, each.target, each.label) : each.label, " ", inline("tag", labelOf("kind", each.kind))))));
  if (known?.unknown.length) parts.push(para("note", t("notKnown", { list: known.unknown.map((each) => each.word + (each.nearest ? t("nearest", { what: each.nearest }) : "")).join(", ") })));
  if (readings.length) parts.push(element("ol", { class: "readings" }, readings.slice(0, MAX_LISTED).map((words) => item(words))));
  return parts.length ? section(h3("whatUnderstood"), parts) : "";
}

// Time bars: the steps of a live turn by the arrival of their events, else the durations of queries.
function timeSection(live, record) {
  const whole = record?.seconds || live.steps.at(-1)?.at;
  // events arrive later than the server sent them, by the way and the wait before the turn
  const late = record ? Math.max(0, (live.steps.at(-1)?.at || 0) - record.seconds) : 0;
  const steps = live.steps.map((each) => ({ ...each, at: Math.max(0, each.at - late) }));
  // branches run in parallel, starting with the tool selection
  const heard = steps.map((each, i) => ({ name: each.name, from: (BRANCH_ORDER.includes(each.name) ? steps.findLast((one, n) => n < i && one.name === "tool_selector") : steps[i - 1])?.at || 0, to: each.at }));
  const ran = (record?.queries || []).filter((each) => each.seconds > 0).sort((a, b) => b.seconds - a.seconds).slice(0, MAX_LISTED).map((each) => ({ name: branchLabel(each.tool), from: 0, to: each.seconds }));
  const merged = [];
  for (const each of heard) if (merged.at(-1)?.name === each.name) merged.at(-1).to = each.to; else merged.push({ ...each });
  const bars = merged.length ? merged : ran;
  if (!bars.length) return "";
  const top = Math.max(whole || 0, ...bars.map((each) => each.to)) || 1;
  return section(element("h3", {}, t(merged.length ? "time" : "queryTime")), element("ul", { class: "bars" }, bars.map((each) => {
    const drawn = bar("width", Math.max(0.01, (each.to - each.from) / top));
    drawn.style.marginInlineStart = (each.from / top) * 100 + "%";
    return item(inline("bar-name", stepLabel(each.name)), inline("bar-room", drawn), inline("bar-time", formatSeconds(each.to - each.from)));
  })));
}

function branchSection(branch, round, live, record, queries) {
  const sentences = live.evidence.filter((each) => each.branch === branch && each.round === round && each.kind === "sentence");
  const worded = ["sql", "sparql"].includes(branch);
  const by = record?.by[branch];
  const told = worded ? countPhrase(queries.length, "query") : sentences.length ? countPhrase(sentences.length, "sentence") : countPhrase(queries.reduce((sum, each) => sum + each.rows, 0), "passage");
  return element("details", { class: "part", open: worded || null }, summaryOf(strong(branchLabel(branch)), faint(" " + told + (by ? t("by", { by: writtenBy(by) }) : ""))),
    quiet(labelOf("did", branch, ""), " ", record && t(record.citations.some((each) => each.tool === branch) ? "restsOnIt" : "doesNotUseIt")),
    worded ? queries.map((each) => queryDetails(each, record)) : queries.filter((each) => each.error).map((each) => para("error", each.error.message)),
    sentences.slice(0, 24).map((each) => block("passage", para(null, strong(each.title), each.title ? ": " : "", highlightWords(each.text, live.question)), each.score == null ? "" : element("span", { class: "tag", title: t("branchScore") }, formatCell(each.score)))));
}

// One query: in words, as text, and its rows. It can be edited and run again.
function queryDetails(each, record) {
  const language = each.tool === "sparql" ? "sparql" : "sql";
  const text = inlineParameters(each.text, each.params);
  const out = block("rows");
  const code = element("pre", { tabindex: "0", "aria-label": t("theQuery") }, highlightQuery(text));
  const box = element("div", {}, code);
  const buttons = row();
  const begin = () => {
    buttons.replaceChildren(...(record && text ? [button([icon("play"), t("rows")], () => run(text), "plain"), button([icon("pencil"), t("editAndRun")], edit, "plain")] : []));
  };
  async function run(written) {
    out.replaceChildren(para("working", t("running")));
    try {
      const ran = await send("POST", apiPath("graphs", record.graph, "query"), { language, text: written });
      out.replaceChildren(quiet(countPhrase(ran.rows.length, "row") + (ran.truncated ? t("cutOff") : "") + ", " + formatSeconds(ran.seconds)), ran.columns.length ? rowTable({ ...ran, name: "rows", caption: each.words || t("rows"), cell: (value) => (typeof value === "string" && isIri(value) ? thingLink(record.graph, value) : null) }) : "", ran.rows.length && !ran.truncated && !state.choices?.is_visitor ? confirmRows(written) : "");
    } catch (problem) {
      out.replaceChildren(failureBox(problem));
    }
  }
  // these rows answer the question: it becomes a verified one with this query
  function confirmRows(written) {
    const question = record.standalone_own || record.standalone;
    const own = button(t("rowsAnswer", { question }), async () => {
      own.disabled = true;
      out.querySelector(".failure")?.remove();
      const { confirm, confirmedNote } = await import("./feedback.js");
      try {
        own.replaceWith(confirmedNote(await confirm(record.graph, { question, standalone: record.standalone, query: { tool: language, text: written } })));
        out.tabIndex = -1;
        out.focus();
      } catch (problem) {
        own.disabled = false;
        out.append(failureBox(problem));
      }
    }, "chip");
    return row(own);
  }
  function edit() {
    const field = element("textarea", { class: "code", rows: String(Math.min(16, text.split("\n").length + 1)), spellcheck: "false", maxlength: "10000", "aria-label": t("queryToRun") });
    field.value = text;
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run(field.value);
      if (event.key === "Escape") { event.stopPropagation(); stop(); }
    });
    const stop = () => { box.replaceChildren(code); begin(); };
    box.replaceChildren(field);
    buttons.replaceChildren(button(t("run"), () => run(field.value), "main", { title: "Ctrl+Enter" }), button(t("asItWas"), stop));
    field.focus();
  }
  begin();
  return element("details", { class: "query" + (each.error ? " bad" : "") }, summaryOf(element("span", {}, each.words || t("theQuery")), faint(" " + (each.error ? t("queryFailed") : countPhrase(each.rows, "row") + (each.truncated ? t("cutOff") : "")) + ", " + formatSeconds(each.seconds) + (isConfirmed(record) ? t("asConfirmed") : each.by === "model" ? t("byModel") : ""))),
    each.error ? para("error", each.error.message) : "", text ? box : "", buttons, out);
}

function agentsSection(record) {
  return element("details", { class: "part" }, summaryOf(strong(t("whoDidWhat"))), element("dl", { class: "summary" }, Object.entries(record.by).map(([agent, by]) => [element("dt", {}, stepLabel(agent)), element("dd", {}, writtenBy(by))])));
}

function promptsSection(record) {
  const body = element("div");
  const root = element("details", { class: "part" }, summaryOf(strong(t("prompts")), faint(" " + countPhrase(record.llm_calls, "call"))), body);
  root.addEventListener("toggle", async () => {
    if (!root.open || body.firstChild) return;
    try {
      const calls = await get(apiPath("runs", record.id, "calls"));
      body.replaceChildren(...calls.map((call, i) => element("details", { class: "query" }, summaryOf(t("callN", { n: i + 1 }), faint(t("callTokens", { time: formatSeconds(call.seconds), read: formatCell(call.input_tokens), written: formatCell(call.output_tokens) }))),
        call.messages.map(([role, text]) => [element("h4", {}, role), element("pre", { tabindex: "0" }, text)]), element("h4", {}, t("columnAnswer")), element("pre", { tabindex: "0" }, call.answer))));
      if (!calls.length) body.append(quiet(t("noCallKept")));
    } catch (problem) {
      body.replaceChildren(failureBox(problem));
    }
  });
  return root;
}
