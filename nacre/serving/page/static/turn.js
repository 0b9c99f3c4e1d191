// One question and its answer: events as they come, or a record that was kept -> an article.

import { get, place, send } from "./api.js";
import { chart } from "./chart.js";
import { $, button, count, failure, icon, make, save, say, tool } from "./dom.js";
import { names, thingLink } from "./names.js";
import { fill, linkNames } from "./prose.js";
import { citeButton } from "./source.js";
import { grid } from "./table.js";

const PLACES = { sql: "tables", sparql: "triples", lexical: "passages by words", vector: "passages by meaning" };
const STATUS = {
  answered: "Answered", partial: "A part is missing", clarify: "Several readings", not_in_graph: "Not in this graph",
  not_understood: "Not understood", failed: "Failed",
};
const TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
// from so many names on a sentence becomes a list; a sentence names so many, and says of the others how many they are
const LONG_LIST = 6, MOST_NAMED = 30;
const ELSEWHERE = /(; the first are shown)?,? ask with --json for the rest|the first are shown, ask with --json for the rest| \(ask with --json for all\)/;
export const placeOf = (branch) => PLACES[branch] || branch;

// `hooks`: ask(question, insteadOf), derive(turn, show), fork(record); those that are missing leave out their buttons.
export function newTurn(question, hooks) {
  const turn = {
    live: { question, began: performance.now(), steps: [], understand: null, routes: [], queries: [], evidence: [], record: null },
    hooks, text: "", drawing: 0,
    asked: make("div", { class: "question" }), understood: make("div", { class: "understood" }),
    steps: make("ol", { class: "steps" }), answer: make("div", { class: "answer" }), rest: make("div", { class: "rest" }),
  };
  turn.root = make("article", { "aria-busy": "true", "aria-label": question }, turn.asked, turn.understood, turn.steps, turn.answer, turn.rest);
  turn.root.turn = turn;
  turn.asked.append(make("p", {}, question));
  return turn;
}

// One event of the stream.
export function hear(turn, kind, payload) {
  const { live } = turn;
  if (kind === "token") {
    if (!turn.text) { turn.steps.hidden = true; mark(live, "answer"); }
    turn.text += payload;
    // the first words at once, the others with the next picture
    if (turn.answer.firstChild) turn.drawing ||= requestAnimationFrame(() => draw(turn)); else draw(turn);
    return;
  }
  if (kind === "rewriter") { mark(live, "rewriter"); if (payload.depends) showUnderstood(turn, payload.own || payload.standalone); step(turn, "read", "Question read"); }
  else if (kind === "understand") { mark(live, "understand"); live.understand = payload; step(turn, "understand", payload.mentions.length ? "Names found: " + [...new Set(payload.mentions.map((each) => each.label))].slice(0, 4).join(", ") : "No names found"); }
  else if (kind === "route") { mark(live, "tool_selector"); live.routes.push(payload); for (const branch of payload.branches) step(turn, branch + payload.round, "Looking in " + placeOf(branch), true); }
  else if (kind === "query") { mark(live, payload.tool); live.queries.push(payload); found(turn, payload.tool, payload.round); }
  else if (kind === "evidence") { live.evidence.push(payload); found(turn, payload.branch, payload.round); }
  else if (kind === "line") lost(turn, !payload);
}

function mark(live, name) { live.steps.push({ name, at: (performance.now() - live.began) / 1000 }); }

function step(turn, key, words, busy = false) {
  let item = [...turn.steps.children].find((each) => each.dataset.key === key);
  if (!item) { item = make("li", { "data-key": key }); turn.steps.append(item); }
  item.className = busy ? "busy" : "done";
  item.textContent = words;
}

function found(turn, branch, round) {
  const of = (list, name) => list.filter((each) => each[name] === branch && each.round === round).length;
  const queries = of(turn.live.queries, "tool"), evidence = of(turn.live.evidence, "branch");
  step(turn, branch + round, placeOf(branch) + ": " + (branch in { sql: 1, sparql: 1 } ? count(queries, "query", "queries") : count(evidence, "sentence")));
}

function lost(turn, is) {
  turn.rest.querySelector(".lost")?.remove();
  if (is) turn.rest.append(make("p", { class: "lost note", role: "status" }, "The connection was lost. Trying to go on where it broke …"));
}

function draw(turn) {
  turn.drawing = 0;
  fill(turn.answer, turn.text, { cite: (n) => make("span", { class: "cite" }, String(n)) });
}

// The whole record; `kept` is the turn as the thread keeps it, with what was thought of it.
export function finish(turn, record, kept = null) {
  const { live, hooks } = turn;
  cancelAnimationFrame(turn.drawing);
  live.record = record;
  turn.root.removeAttribute("aria-busy");
  turn.steps.remove();
  turn.answer.lang = record.language;
  if (record.standalone !== record.question) showUnderstood(turn, record.standalone_own || record.standalone, record);
  const cited = new Map(record.citations.map((each) => [each.n, each]));
  const cite = (n) => (cited.has(n) ? citeButton(record, cited.get(n), () => hooks.derive?.(turn)) : null);
  const rich = (record.by.fuser || "").startsWith("model");
  const whole = record.table;
  turn.answer.replaceChildren();
  // on a command line the rest is asked for; here it is below
  fill(turn.answer, record.answer.replace(ELSEWHERE, ""), { rich, cite, table: whole ? () => grid({ ...whole, name: "answer", after: (body) => link(turn, body), caption: record.question }) : null });
  withoutOptions(turn, record);
  asList(turn, record);
  const rows = whole || record.citations.find((each) => each.rows.length > 2 && record.answer.includes("[" + each.n + "]"));
  const figure = rows && ["answered", "partial", "clarify"].includes(record.status) ? chart(rows) : null;
  if (figure) turn.answer.append(figure);
  turn.rest.replaceChildren(...statusOf(turn, record), choices(turn, record), tools(turn, record, kept));
  whenSeen(turn.root, () => link(turn, turn.answer));
}

export function fail(turn, problem, ...ways) {
  turn.root.removeAttribute("aria-busy");
  for (const each of turn.steps.querySelectorAll(".busy")) each.remove();
  turn.steps.hidden = !turn.steps.children.length || Boolean(turn.text);
  turn.rest.replaceChildren(failure(problem, ...ways));
}

function showUnderstood(turn, text, record) {
  const correct = turn.hooks.ask && record?.thread && tool("pencil", "Correct what was understood", () => editing(turn.understood, text, "What you meant", "Ask this", (said) => turn.hooks.ask(said, record.turn), () => showUnderstood(turn, text, record)), { class: "icon small" });
  turn.understood.replaceChildren(make("p", {}, "Understood as: ", make("q", {}, text), " ", correct));
}

// A long list in a sentence is easier to read as a list; and where a sentence stops, the list goes on.
function asList(turn, record) {
  const said = record.values.map((value) => (typeof value === "number" ? value.toLocaleString("en", { maximumFractionDigits: 2, useGrouping: Math.abs(value) >= 10000 || !Number.isInteger(value) ? "always" : true }) : String(value)));
  if (said.length < LONG_LIST || record.table) return;
  const named = said.slice(0, MOST_NAMED), lead = named.slice(0, -1).join(", ") + (named.length > 2 ? "" : ",");
  for (const paragraph of turn.answer.querySelectorAll(":scope > p")) {
    const node = [...paragraph.childNodes].find((each) => each.nodeType === Node.TEXT_NODE && each.data.includes(lead));
    const at = node ? node.data.indexOf(lead) : -1;
    if (at < 0 || !node.data.slice(at + lead.length).startsWith(" and " + named.at(-1))) continue;
    node.after(node.data.slice(at + lead.length + 5 + named.at(-1).length).replace(/^ and [\d,]+ more/, ""));
    node.data = (node.data.slice(0, at).trimEnd() || count(said.length, "value")).replace(/:$/, "") + " ";
    const list = make("ul", { class: "names" }, named.map((value) => make("li", {}, value)));
    const rest = said.length - named.length;
    const next = after(node);
    if (next) paragraph.after(next);
    paragraph.after(list, rest > 0 ? button("and " + rest.toLocaleString("en") + " more", (event) => { event.currentTarget.remove(); list.append(...said.slice(MOST_NAMED).map((value) => make("li", {}, value))); link(turn, list); }, "plain more") : "");
  }
}

// What follows the numbers of a sentence's sources, as a paragraph of its own; null where nothing does.
function after(node) {
  const paragraph = node.parentElement;
  let each = node.nextSibling;
  while (each && (each.nodeType !== Node.TEXT_NODE || !/^\s*[.;,]/.test(each.data))) each = each.nextSibling;
  if (!each) return null;
  each.data = each.data.replace(/^\s*[.;,]\s*/, "");
  const rest = make("p");
  while (each) { const following = each.nextSibling; rest.append(each); each = following; }
  paragraph.append(":");
  return rest.textContent.trim() ? rest : null;
}

// The other readings stand below as buttons, so that a sentence need not list them too.
function withoutOptions(turn, record) {
  if (!record.options.length || !turn.hooks.ask) return;
  for (const paragraph of turn.answer.querySelectorAll(":scope > p")) {
    const last = paragraph.lastChild;
    if (last?.nodeType !== Node.TEXT_NODE || !record.options.every((option) => last.data.includes(option.words))) continue;
    last.data = last.data.replace(/\s*Or did you mean:? .*$/s, "");
    if (!paragraph.textContent.trim()) paragraph.remove();
  }
}

function statusOf(turn, record) {
  const sure = record.confidence == null ? "" : Math.round(record.confidence * 100) + " %";
  const parts = [make("p", { class: "status " + record.status }, make("span", { class: "dot", "aria-hidden": "true" }), STATUS[record.status] || record.status,
    sure && make("span", { class: "sure", title: "How likely this is right, as measured on other graphs" }, " · " + sure + " sure"))];
  const notes = [];
  if (record.reason && !record.answer.includes(record.reason)) notes.push(record.reason);
  notes.push(...record.caveats);
  if (!record.thread && turn.hooks.ask) notes.push("This turn is not kept: the conversations can't be written now.");
  for (const [agent, by] of Object.entries(record.by)) if (by !== "rules" && by !== "model") notes.push(agent + ": " + by);
  if (record.status !== "answered") for (const [branch, why] of Object.entries(record.unavailable)) notes.push("Not looked in " + placeOf(branch) + ": " + why);
  if (["not_understood", "not_in_graph", "failed", "partial"].includes(record.status)) {
    const tried = [...new Set(record.visited)].map((branch) => placeOf(branch) + " (" + count(record.queries.filter((each) => each.tool === branch).length, "query", "queries") + ")");
    if (tried.length) notes.push("Tried: " + tried.join(", ") + ".");
  }
  return notes.length ? [...parts, make("ul", { class: "notes" }, [...new Set(notes)].map((note) => make("li", {}, note)))] : parts;
}

function choices(turn, record) {
  if (record.status === "clarify" && !record.options.length && turn.hooks.ask) return make("div", { class: "options" }, button("Yes, that is what I meant", () => turn.hooks.ask("Yes"), "chip"));
  if (!record.options.length || !turn.hooks.ask) return "";
  return make("div", { class: "options", role: "group", "aria-label": "Or did you mean" }, make("p", {}, "Or did you mean"), record.options.map((option) => button(option.words, () => turn.hooks.ask(option.words), "chip")));
}

function tools(turn, record, kept) {
  const { hooks } = turn;
  const bar = make("div", { class: "tools", role: "group", "aria-label": "This answer" });
  bar.append(tool("copy", "Copy the answer", async (event) => {
    const own = event.currentTarget;
    await navigator.clipboard.writeText(record.answer);
    own.classList.add("did");
    say("Copied.");
    setTimeout(() => own.classList.remove("did"), 1200);
  }));
  if (record.thread) {
    bar.append(thumb(turn, record, kept, 1), thumb(turn, record, kept, -1));
    if (hooks.ask) bar.append(tool("pencil", "Edit the question", () => editing(turn.asked, record.question, "Edit the question", "Ask again", (said) => hooks.ask(said, record.turn), () => turn.asked.replaceChildren(make("p", {}, record.question)))));
    if (hooks.fork) bar.append(tool("fork", "Go on from here in a new conversation", () => hooks.fork(record)));
  }
  bar.append(tool("save", "JSON of this answer", () => save(JSON.stringify(record, null, 1), "answer.json", "application/json")));
  if (hooks.derive) bar.append(make("button", { type: "button", class: "plain derive", onclick: () => hooks.derive(turn) }, icon("route"), "How it was found"));
  bar.querySelector(".derive")?.setAttribute("aria-label", "How it was found");
  return bar;
}

function thumb(turn, record, kept, value) {
  const url = place("threads", record.thread, "turns", record.turn, "feedback");
  const own = tool(value > 0 ? "up" : "down", value > 0 ? "This answer is right" : "This answer is wrong", async () => {
    if (own.getAttribute("aria-pressed") === "true") return judge(0, "");
    return value > 0 ? judge(1, "") : reason();
  }, { "aria-pressed": String(kept?.thumb === value) });
  async function judge(thumb, comment) {
    try { await send("PUT", url, { thumb, comment }); } catch (problem) { own.closest(".rest").append(failure(problem)); return; }
    for (const each of own.parentElement.querySelectorAll("[aria-pressed]")) each.setAttribute("aria-pressed", "false");
    own.setAttribute("aria-pressed", String(thumb === value));
    say(thumb ? "Kept. Thank you." : "Taken back.");
  }
  function reason() {
    const box = make("div", { class: "reason" });
    own.closest(".tools").after(box);
    editing(box, kept?.comment || "", "What is wrong with it? You may leave this empty.", "Keep", (said) => { box.remove(); return judge(-1, said); }, () => { box.remove(); own.focus(); }, true);
  }
  return own;
}

// A text to change in its place: Enter takes it, Escape leaves all as it was.
export function editing(root, text, label, action, take, leave, empty = false) {
  const field = make("textarea", { rows: "2", maxlength: "4000", "aria-label": label, placeholder: label });
  field.value = text;
  const done = () => (field.value.trim() || empty ? take(field.value.trim()) : field.focus());
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); done(); }
    if (event.key === "Escape") { event.stopPropagation(); leave(); }
  });
  root.replaceChildren(make("div", { class: "editing" }, field, make("div", { class: "row" }, button(action, done, "main"), button("Cancel", leave))));
  field.focus();
}

// Every name that the answer rests on leads to its thing.
async function link(turn, root) {
  const { record } = turn.live;
  const iris = record.citations.flatMap((each) => [...each.keys, ...each.triples.filter(([, predicate]) => predicate !== TYPE).flatMap(([subject, , object]) => [subject, object])]).filter((iri) => /^(https?|urn):/.test(iri));
  if (!iris.length) return;
  try {
    const known = await names(record.graph, iris.slice(0, 400));
    linkNames(root, new Map([...known].map(([iri, label]) => [label, iri])), (label, iri) => thingLink(record.graph, iri, label));
  } catch {
    // the answer reads as well without links
  }
}

const seen = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) if (isIntersecting) { seen.unobserve(target); target.whenSeen?.(); }
}, { root: $("talk"), rootMargin: "300px" });

export function whenSeen(root, then) { root.whenSeen = then; seen.observe(root); }

// Questions that go on from an answer, below it, which the graph answers.
export async function suggest(turn) {
  const { record } = turn.live;
  const things = [...new Set(record.citations.flatMap((each) => each.keys))].slice(0, 2);
  if (!things.length || record.status === "clarify" || !turn.hooks.ask) return;
  const query = new URLSearchParams([...things.map((iri) => ["thing", iri]), ["asked", record.standalone.slice(0, 4000)]]);
  const found = await get(place("graphs", record.graph, "follow-ups") + "?" + query);
  if (!found.length || turn.root.nextElementSibling) return;
  const row = make("div", { class: "onward", role: "group", "aria-label": "Ask next" }, found.map((text) => button(text, () => turn.hooks.ask(text), "chip")));
  turn.rest.append(row);
}
