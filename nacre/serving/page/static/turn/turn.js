// One question and its answer: events of a running turn, or a stored record -> an article.

import { $, TYPE, announce, apiPath, block, button, call, choiceGroup, countPhrase, day, download, element, failureBox, get, icon, iconButton, inline, item, labelOf, labelled, language, loadLabels, localName, openMenu, para, query, quiet, row, send, state, t, thingLink, quoted } from "../shared/page.js";
import { renderMarkdown, linkNames } from "./markdown.js";
import { citationButton } from "./citation.js";
import { rowTable } from "./table.js";

// who confirms on a server without keys
const LOCAL = "local";
// an answer of MIN_LIST names becomes a list, which shows MAX_NAMED at first
const NO_VECTORS = /^ingested with --no-vectors/;
const MIN_LIST = 6, MAX_NAMED = 30;
const FILES = ["xlsx", "csv", "json", "md", "ttl"];
// what is said of the rest is for the command line; the page shows all rows
const COMMAND_LINE_HINT = / \(the first are shown, ask with --json for the rest\)|(; the first are shown)?,? ask with --json for the rest| \(ask with --json for all\)/;
export const withoutHint = (text) => text.replace(COMMAND_LINE_HINT, "");
const wordsOf = (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) || [];
// Whether the standalone question has words that the question lacks.
export function addsWords({ question, standalone, standalone_own: own }) {
  const asked = wordsOf(question);
  return wordsOf(own || standalone).some((word) => !asked.includes(word));
}
export const branchLabel = (branch) => labelOf("branch", branch);
// who did a step: rules or model, or in words of the server
export const writtenBy = (by) => (by === "rules" || by === "model" ? t(by) : by);

// `hooks`: ask(question, insteadOf), derive(turn, show), fork(record); without a hook its buttons are omitted.
export function newTurn(question, hooks) {
  const turn = {
    live: { question, began: performance.now(), steps: [], understand: null, routes: [], queries: [], evidence: [], record: null },
    hooks, text: "", drawing: 0,
    asked: block("question"), understood: block("understood"),
    steps: element("ol", { class: "steps" }), answer: block("answer"), rest: block("rest"),
  };
  turn.root = element("article", { "aria-busy": "true", "aria-label": question }, turn.asked, turn.understood, turn.steps, turn.answer, turn.rest);
  turn.root.turn = turn;
  turn.asked.append(para(null, question));
  return turn;
}

// Show one event of the stream.
export function handleEvent(turn, kind, payload) {
  const { live } = turn;
  if (kind === "token") {
    if (!turn.text) { turn.steps.hidden = true; recordStep(live, "fuser"); }
    turn.text += payload;
    // the first token is drawn at once, later ones with the next frame
    if (turn.answer.firstChild) turn.drawing ||= requestAnimationFrame(() => drawTokens(turn)); else drawTokens(turn);
    return;
  }
  if (kind === "rewriter") { recordStep(live, "rewriter"); if (payload.depends) showUnderstood(turn, payload.own || payload.standalone); showStep(turn, "read", t("questionRead")); }
  else if (kind === "understand") { recordStep(live, "understand"); live.understand = payload; showStep(turn, "understand", payload.mentions.length ? t("namesFound", { list: [...new Set(payload.mentions.map((each) => each.label))].slice(0, 4).join(", ") }) : t("noNamesFound")); }
  else if (kind === "route") { recordStep(live, "tool_selector"); live.routes.push(payload); for (const branch of payload.branches) showStep(turn, branch + payload.round, t("lookingIn", { where: branchLabel(branch) }), true); }
  else if (kind === "query") { recordStep(live, payload.tool); live.queries.push(payload); showResultCount(turn, payload.tool, payload.round); }
  else if (kind === "evidence") { live.evidence.push(payload); showResultCount(turn, payload.branch, payload.round); }
  else if (kind === "line") showConnection(turn, !payload);
}

function recordStep(live, name) { live.steps.push({ name, at: (performance.now() - live.began) / 1000 }); }

function showStep(turn, key, words, busy = false) {
  let item = [...turn.steps.children].find((each) => each.dataset.key === key);
  if (!item) { item = element("li", { "data-key": key }); turn.steps.append(item); }
  item.className = busy ? "busy" : "done";
  item.textContent = words;
}

function showResultCount(turn, branch, round) {
  const of = (list, name) => list.filter((each) => each[name] === branch && each.round === round).length;
  const queries = of(turn.live.queries, "tool"), evidence = of(turn.live.evidence, "branch");
  showStep(turn, branch + round, branchLabel(branch) + ": " + (branch in { sql: 1, sparql: 1 } ? countPhrase(queries, "query") : countPhrase(evidence, "sentence")));
}

function showConnection(turn, is) {
  turn.rest.querySelector(".lost")?.remove();
  if (is) turn.rest.append(element("p", { class: "lost note", role: "status" }, t("reconnecting")));
}

function drawTokens(turn) {
  turn.drawing = 0;
  renderMarkdown(turn.answer, turn.text, { cite: (n) => inline("cite", String(n)) });
}

// Show the complete record; `kept` is the stored turn with its feedback.
export function finishTurn(turn, record, kept = null) {
  const { live, hooks } = turn;
  cancelAnimationFrame(turn.drawing);
  live.record = record;
  turn.root.removeAttribute("aria-busy");
  turn.steps.remove();
  turn.answer.lang = record.language;
  if (record.derivation?.depends || addsWords(record)) showUnderstood(turn, record.standalone_own || record.standalone, record);
  const cited = new Map(record.citations.map((each) => [each.n, each]));
  const cite = (n) => (cited.has(n) ? citationButton(record, cited.get(n), () => hooks.derive?.(turn)) : null);
  const rich = (record.by.fuser || "").startsWith("model");
  const whole = record.table;
  turn.answer.replaceChildren();
  renderMarkdown(turn.answer, withoutHint(record.answer), { rich, cite, table: whole || !rich ? (block) => answerTable(turn, whole || writtenTable(block, record), record) : null });
  removeListedOptions(turn, record);
  namesAsList(turn, record);
  let rows = whole || record.citations.find((each) => each.rows.length > 2 && record.answer.includes("[" + each.n + "]"));
  // a source has the first rows of a list only
  if (rows?.columns.length === 1 && typeof record.values[0] === "number") rows = { ...rows, rows: record.values.map((value) => [value]) };
  if (["answered", "partial", "clarify"].includes(record.status)) showRows(turn, record, rows);
  const sources = element("ol", { class: "printed-sources", "aria-hidden": "true" }, record.citations.map((each) => item("[" + each.n + "] " + each.text)));
  turn.rest.replaceChildren(...statusLines(turn, record), sources, readingButtons(turn, record), teachingButtons(turn, record), toolbar(turn, record, kept));
  whenSeen(turn.root, () => linkThings(turn, turn.answer));
}

function answerTable(turn, table, record, before) {
  return rowTable({ ...table, name: "answer", after: (body) => linkThings(turn, body), caption: record.question, before, isShort: isCharted(record) });
}

const isCharted = ({ display }) => display === "chart" || display === "shares";

// The table of a text; one column has all values, of which the text has the first.
function writtenTable({ head, rows }, { values, unit }) {
  const isList = head.length === 1 && values.length >= rows.length;
  return { columns: head, units: isList && typeof values[0] === "number" ? [unit] : [], rows: isList ? values.map((value) => [value]) : rows };
}

// Rows with names of things, a chart, a map: as the question wants it, or as they allow.
async function showRows(turn, record, found) {
  const { graph, display, things = [] } = record, { answer } = turn, rows = found && await withNames(graph, things, found);
  const old = answer.querySelector(":scope > .grid");
  if (rows && (rows !== found ? old || display : display === "table" && !old)) {
    const grid = answerTable(turn, rows, record, old);
    if (old) old.replaceWith(grid); else answer.append(grid);
  }
  if (display === "table") return;
  if (rows?.rows.length > (display ? 1 : 2) && display !== "map") {
    const { chart, askedKind } = await import("./chart.js"), { answers, order } = record.plan?.body ?? {}, number = answers?.find((each) => each.kind === "aggregate");
    // another question about a chart keeps its kind, but no distribution of numbers by group
    const before = record.derivation?.depends && turn.root.previousElementSibling?.turn.kind;
    turn.kind = isCharted(record) ? askedKind(record.question) ?? (display === "shares" ? "pie" : number && before === "histogram" ? "" : before) : "";
    const figure = await chart({ ...rows, ordered: order, fill: number && (/count|sum/.test(number.function) ? 0 : null) }, turn.kind), grid = answer.querySelector(":scope > .grid");
    if (figure) (grid || answer.lastChild)[grid ? "before" : "after"](figure);
  }
  if (!isCharted(record) && things.length) await (await import("../../places/files/place_map.js")).appendMap(answer, graph, things, display ? 1 : 2);
}

// Rows of nothing but numbers and dates, with the names of the things that have them.
async function withNames(graph, things, table) {
  const isNamed = table.rows.some((row) => row.some((cell) => typeof cell === "string" && !/^[\d-]{4,10}$/.test(cell)));
  if (isNamed || !table.rows.length || things.length !== table.rows.length) return table;
  const labels = await loadLabels(graph, things);
  return { named: true, columns: [t("columnName"), ...table.columns], units: ["", ...(table.units || [])], rows: table.rows.map((row, i) => [labels.get(things[i]) || localName(things[i]), ...row]) };
}

export function failTurn(turn, problem, ...ways) {
  turn.root.removeAttribute("aria-busy");
  for (const each of turn.steps.querySelectorAll(".busy")) each.remove();
  turn.steps.hidden = !turn.steps.children.length || Boolean(turn.text);
  turn.rest.replaceChildren(failureBox(problem, ...ways));
}

function showUnderstood(turn, text, record) {
  const correct = turn.hooks.ask && record?.thread && iconButton("pencil", t("correctUnderstood"), () => editInPlace(turn.understood, text, t("whatYouMeant"), t("askThis"), (said) => turn.hooks.ask(said, record.turn), () => showUnderstood(turn, text, record)), { class: "icon small" });
  const about = element("span"), iris = record && !addsWords(record) ? record.derivation.matches.filter((each) => each.kind === "entity").map((each) => each.chosen) : [];
  turn.understood.replaceChildren(...(record && !iris.length && !addsWords(record) ? [] : [para(null, t("understoodAs"), quoted(text), about, " ", correct)]));
  // the words of the question alone do not say whom it is about
  if (iris.length) loadLabels(record.graph, iris).then((known) => { if (known.size) about.textContent = " (" + [...known.values()].join(", ") + ")"; });
}

// A long list in a sentence becomes a list.
function namesAsList(turn, record) {
  const said = record.values.map((value) => (typeof value === "number" ? value.toLocaleString(record.language || "en", { maximumFractionDigits: 2, useGrouping: Math.abs(value) >= 10000 || !Number.isInteger(value) ? "always" : true }) : String(value)));
  if (said.length < MIN_LIST || record.table) return;
  const named = said.slice(0, MAX_NAMED), lead = named.slice(0, -1).join(", ") + (named.length > 2 ? "" : ",");
  for (const paragraph of turn.answer.querySelectorAll(":scope > p")) {
    const node = [...paragraph.childNodes].find((each) => each.nodeType === Node.TEXT_NODE && each.data.includes(lead));
    const at = node ? node.data.indexOf(lead) : -1;
    // " and ", and then " and 12 more"
    const end = at < 0 ? "" : node.data.slice(at + lead.length).replace(/^(,| \p{L}+) /u, "");
    if (!end.startsWith(named.at(-1))) continue;
    node.after(end.slice(named.at(-1).length).replace(/^ \p{L}+ [\d.,]+ \p{L}+/u, ""));
    node.data = (node.data.slice(0, at).trimEnd() || countPhrase(said.length, "value")).replace(/:$/, "") + " ";
    const list = element("ul", { class: "names" }, named.map((value) => item(value)));
    const rest = said.length - named.length;
    const next = splitAfterCitations(node);
    if (next) paragraph.after(next);
    paragraph.after(list, row(rest > 0 ? button(t("showNMore", { n: rest.toLocaleString(language) }), (event) => { event.currentTarget.remove(); list.append(...said.slice(MAX_NAMED).map((value) => item(value))); linkThings(turn, list); }, "chip") : ""));
  }
}

// Move the text after a sentence's citations into a paragraph of its own; null if there is none.
function splitAfterCitations(node) {
  const paragraph = node.parentElement;
  let each = node.nextSibling;
  while (each && (each.nodeType !== Node.TEXT_NODE || !/^\s*[.;,]/.test(each.data))) each = each.nextSibling;
  if (!each) return null;
  each.data = each.data.replace(/^\s*[.;,]\s*/, "");
  const rest = para();
  while (each) { const following = each.nextSibling; rest.append(each); each = following; }
  paragraph.append(":");
  return rest.textContent.trim() ? rest : null;
}

// Remove the list of other readings from the text, since buttons below show them.
function removeListedOptions(turn, record) {
  if (!record.options.length || !turn.hooks.ask) return;
  for (const paragraph of turn.answer.querySelectorAll(":scope > p")) {
    const last = paragraph.lastChild;
    if (last?.nodeType !== Node.TEXT_NODE || !record.options.every((option) => last.data.includes(option.words))) continue;
    // from the beginning of their sentence, in any language; several have numbers
    last.data = last.data.slice(0, Math.min(...record.options.map((option) => last.data.indexOf(option.words)))).replace(/\s*[^.!?]*(\b1\.[^.!?]*)?$/, "");
    if (!paragraph.textContent.trim()) paragraph.remove();
  }
}

// What else the question may mean.
export const readingsOf = (record) => [...record.options.map((option) => option.words), ...(record.others || [])];

// Whether the question is a reading picked below the answer before it.
function isChosen(turn, record) {
  const before = turn.before ?? turn.root.previousElementSibling?.turn?.live.record;
  return Boolean(before) && readingsOf(before).includes(record.question);
}

function statusLines(turn, record) {
  const sure = record.confidence == null || isChosen(turn, record) ? "" : record.confidence > 0.99 ? t("moreThan99") : Math.round(record.confidence * 100) + " %";
  const reason = !record.reason || record.answer.includes(record.reason) ? [] : [record.reason], notes = [];
  const line = [element("span", { class: "dot", "aria-hidden": "true" }), labelOf("status", record.status), isChosen(turn, record) && t("chosenReading"),
    sure && element("span", { class: "sure", title: t("sureTitle") }, t("sure", { percent: sure })), [...new Set([...reason, ...record.caveats])].map((each) => [" · ", inline("note", each)])];
  if (!record.thread && turn.hooks.ask) notes.push(t("turnNotStored"));
  for (const [agent, by] of Object.entries(record.by)) if (by !== "rules" && by !== "model") notes.push(agent + ": " + by);
  if (record.status !== "answered") for (const [branch, why] of Object.entries(record.unavailable)) notes.push(t("notSearched", { branch: branchLabel(branch), why: NO_VECTORS.test(why) ? t("noVectors", record) : why }));
  if (["not_understood", "not_in_graph", "failed", "partial"].includes(record.status)) {
    const tried = [...new Set(record.visited)].map((branch) => branchLabel(branch) + " (" + countPhrase(record.queries.filter((each) => each.tool === branch).length, "query") + ")");
    if (tried.length) notes.push(t("tried", { list: tried.join(", ") }));
  }
  // what was not searched, and how, is a click away
  const status = { class: "status " + record.status };
  return [notes.length ? element("details", {}, element("summary", status, line), element("ul", { class: "notes" }, notes.map((note) => item(note)))) : element("p", status, line), record.verified ? confirmation(record.verified) : ""];
}

function readingButtons(turn, record) {
  if (record.status === "clarify" && !record.options.length && turn.hooks.ask) return block("options", button(t("yesMeant"), () => turn.hooks.ask(t("sayYes")), "chip"));
  if (!record.options.length || !turn.hooks.ask) return "";
  return choiceGroup(t("orDidYouMean"), record.options.map((option) => button(option.words, () => turn.hooks.ask(option.words), "chip")));
}

// The question that was understood.
export const askedText = (record) => (record.derivation?.depends ? record.standalone : record.question);

// Buttons that teach words: of an unsure answer those that nothing accounts for, and behind one more the others, which may be misread; with `all`, each word.
export function teachingButtons(turn, record, all) {
  if (!state.choices?.may_teach || !turn.hooks.ask || !(all || record.status !== "answered")) return "";
  const meanings = block("options"), left = all ? [] : record.unclear || [];
  const chip = (word) => button(word, async () => (await import("../../teaching/files/teach.js")).showMeanings(turn, record, word, meanings), "chip", labelled(t("teachWord", { word })));
  const others = [...new Set(askedText(record).match(/\p{L}[\p{L}\p{M}\p{N}'’-]+/gu))].filter((word) => !left.includes(word)).map(chip);
  const more = button(t(left.length ? "teachOther" : "teachWhich"), () => { more.replaceWith(...others); others[0].focus(); }, "plain");
  return choiceGroup(t(left.length ? "teachLead" : "teachAny"), [left.map(chip), all ? others : others.length > 0 && more, meanings], "teaching");
}

// The answer as text that is complete without this page: all names of a list, all rows of a table.
function copiedText(record) {
  const text = withoutHint(record.answer);
  if (record.table) return text + "\n\n" + [record.table.columns, ...record.table.rows].map((row) => row.map((cell) => String(cell ?? "").replace(/\s+/g, " ")).join("\t")).join("\n");
  return record.values.length > MAX_NAMED ? text + "\n\n" + record.values.join("\n") : text;
}

function toolbar(turn, record, kept) {
  const { hooks } = turn, { sharing, may_share } = state.choices ?? {};
  const bar = element("div", { class: "tools", role: "group", "aria-label": t("thisAnswer") });
  bar.append(iconButton("copy", t("copyAnswer"), async (event) => {
    const own = event.currentTarget;
    await navigator.clipboard.writeText(copiedText(record));
    own.classList.add("did");
    announce(t("copied"));
    setTimeout(() => own.classList.remove("did"), 1200);
  }));
  if (record.thread) {
    bar.append(thumbButton(turn, record, kept, 1), thumbButton(turn, record, kept, -1));
    if (hooks.ask) bar.append(iconButton("pencil", t("editQuestion"), () => editInPlace(turn.asked, record.question, t("editQuestion"), t("askAgain"), (said) => hooks.ask(said, record.turn), () => turn.asked.replaceChildren(para(null, record.question)))));
    if (hooks.fork && !state.choices?.is_visitor) bar.append(iconButton("fork", t("forkFromHere"), () => hooks.fork(record)));
    if (may_share) bar.append(iconButton("link", t("shareAnswer"), async ({ currentTarget: own }) => (await import("../../share/files/share.js")).shareAnswer(turn, record, own), { "data-share": "" }));
  }
  bar.append(iconButton("save", t("downloadAnswer"), ({ currentTarget: own }) => openMenu(own, ...(record.thread ? FILES : ["json"]).map((format) => button(labelOf("file", format), () => save(record, format, own))), sharing && !may_share && record.thread && quiet(t("sharingOff")))));
  if (hooks.derive) bar.append(button([icon("route"), t("howFound")], () => hooks.derive(turn), "plain derive", { "aria-label": t("howFound") }));
  return bar;
}

async function save(record, format, own) {
  $("choices").hidePopover();
  own.focus();
  try {
    download(format === "json" ? JSON.stringify(record, null, 1) : await (await call("GET", apiPath("threads", record.thread, "turns", record.turn, "answer." + format))).blob(), "answer." + format, "application/json");
  } catch (problem) {
    own.closest(".tools").after(failureBox(problem));
  }
}

// "This is right" is stored with the turn; of a plan or query it makes a verified question.
function thumbButton(turn, record, kept, value) {
  const confirms = value > 0 && turn.hooks.ask && isConfirmable(record), label = t(value > 0 ? "thisIsRight" : "answerWrong");
  const judge = async (thumb, comment = "") => { await send("PUT", apiPath("threads", record.thread, "turns", record.turn, "feedback"), { thumb, comment }); for (const each of own.parentElement.querySelectorAll("[data-thumb]")) each.ariaPressed = String(Number(each.dataset.thumb) === thumb); };
  const own = element("button", { type: "button", class: confirms ? (isChosen(turn, record) ? "chip" : "plain") + " confirm" : "icon", "aria-label": label, title: confirms ? t("confirmTitle") : label, "aria-pressed": String(kept?.thumb === value), "data-thumb": value, onclick: async () => {
    const { askWhatIsWrong, press, toggleConfirmed } = await import("./feedback.js"), isPressed = own.ariaPressed === "true";
    const keep = (thumb, comment) => press(turn, own, ".reason", async () => { await judge(thumb, comment); announce(t(thumb ? "thanks" : "takenBack")); });
    if (confirms) toggleConfirmed(turn, record, own, isPressed, judge);
    else if (isPressed || value > 0) keep(isPressed ? 0 : 1);
    else askWhatIsWrong(turn, record, kept?.comment || "", own, (said) => keep(-1, said));
  } }, icon(value > 0 ? "up" : "down"), confirms && label);
  return own;
}

// Who confirmed this question, or one of the same shape.
function confirmation({ by, at, how, question }) {
  const who = by === LOCAL ? t("you") : by;
  const said = how === "same shape" ? [t("confirmedLike", { by: who, date: day(at) }), quoted(question)] : [t("confirmedBy", { by: who, date: day(at) })];
  return para("quiet confirmation", said);
}

export const isConfirmed = (record) => Boolean(record?.verified) && record.verified.how !== "same shape";

const isConfirmable = (record) => !state.choices?.is_visitor && !isConfirmed(record) && !["failed", "not_understood"].includes(record.status) && Boolean(record.plan || record.citations.some((each) => each.query != null));

export function editInPlace(root, text, label, action, take, leave, empty = false) {
  const field = element("textarea", { rows: "2", maxlength: "4000", "aria-label": label, placeholder: label });
  field.value = text;
  const done = () => (field.value.trim() || empty ? take(field.value.trim()) : field.focus());
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); done(); }
    if (event.key === "Escape") { event.stopPropagation(); leave(); }
  });
  root.replaceChildren(block("editing", field, row(button(action, done, "main"), button(t("cancel"), leave))));
  field.focus();
}

// Link the names of things in the answer to their pages.
async function linkThings(turn, root) {
  const { record } = turn.live;
  const iris = record.citations.flatMap((each) => [...each.keys, ...each.triples.filter(([, predicate]) => predicate !== TYPE).flatMap(([subject, , object]) => [subject, object])]).filter((iri) => /^(https?|urn):/.test(iri));
  if (!iris.length) return;
  try {
    const known = await loadLabels(record.graph, iris.slice(0, 400));
    // a count is no thing that is called by a number
    const isCounted = record.plan?.body.answers?.some((each) => each.kind === "aggregate");
    linkNames(root, new Map([...known].filter(([, label]) => !isCounted || isNaN(label)).map(([iri, label]) => [label, iri])), (label, iri) => thingLink(record.graph, iri, label));
  } catch {
    // links are optional
  }
}

const visibility = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) if (isIntersecting) { visibility.unobserve(target); target.whenSeen?.(); }
}, { root: $("talk"), rootMargin: "300px" });

export function whenSeen(root, then) { root.whenSeen = then; visibility.observe(root); }

// Questions to ask next; below an answer without anything, those of the graph.
export async function suggestFollowUps(turn) {
  const { record } = turn.live;
  const things = [...new Set(record.citations.flatMap((each) => each.keys))].slice(0, 2);
  const isNothing = record.status.startsWith("not_");
  if (!(things.length || isNothing) || record.status === "clarify" || !turn.hooks.ask) return;
  const about = query([...things.map((iri) => ["thing", iri]), ["asked", record.standalone.slice(0, 1000)], ["answered", record.answer.slice(0, 2000)]]);
  const found = (await get(apiPath("graphs", record.graph, isNothing ? "examples" : "follow-ups") + about)).slice(0, 3);
  if (!found.length || turn.root.nextElementSibling) return;
  const row = element("div", { class: "onward", role: "group", "aria-label": t("askNext") }, found.map((text) => button(text, () => turn.hooks.ask(text), "chip")));
  turn.rest.append(row);
}
