// The conversation in the middle: asked, shown again, gone on with, forked.

import { ask as stream, call, get, place, send } from "./api.js";
import { compare } from "./compare.js";
import { panel } from "./derivation.js";
import { $, button, failure, say } from "./dom.js";
import { choose } from "./first.js";
import { kept } from "./options.js";
import { go, route, state } from "./state.js";
import { changed, list } from "./threads.js";
import { fail, finish, hear, newTurn, suggest } from "./turn.js";

// turns that are drawn at once; the others follow while nobody waits
const AT_ONCE = 12;
let view = 0;

const hooks = { ask, fork, derive: (turn) => panel.show(turn) };
const turns = () => [...$("turns").children];
const toEnd = () => { $("talk").scrollTop = $("talk").scrollHeight; };
const toEndSoon = () => { toEnd(); requestAnimationFrame(toEnd); };

// an answer is followed while it grows, until somebody looks elsewhere
let following = null;
new ResizeObserver(() => { if (following) toEnd(); }).observe($("turns"));
for (const kind of ["wheel", "touchmove", "pointerdown"]) $("talk").addEventListener(kind, () => { following = null; }, { passive: true });
$("talk").addEventListener("keydown", () => { following = null; });

// Nothing is shown; the next question begins a conversation.
export function clear() {
  view += 1;
  state.thread = null;
  $("turns").replaceChildren();
  panel.turn = null;
  panel.draw();
}

export async function open(thread) {
  const own = ++view;
  try {
    const whole = await get(place("threads", thread));
    if (own !== view) return;
    state.thread = thread;
    choose(whole.thread.graph);
    named(whole.thread.title || whole.thread.graph);
    const shown = whole.turns.map(drawn);
    $("turns").replaceChildren(...shown.slice(-AT_ONCE).map((each) => each()));
    toEndSoon();
    const last = turns().at(-1)?.turn;
    panel.turn = last || null;
    panel.draw();
    list();
    if (last) suggest(last).catch(() => {
      // suggestions are an offer: without them the answer stands
    });
    await before(shown.slice(0, -AT_ONCE), own);
  } catch (problem) {
    if (own !== view) return;
    $("turns").replaceChildren(failure(problem, problem.status === 404 ? button("New conversation", () => go({ graph: state.graph })) : button("Try again", () => open(thread))));
  }
}

const drawn = (each) => () => {
  const turn = newTurn(each.record.question, hooks);
  finish(turn, each.record, each);
  return turn.root;
};

// Draw earlier turns a few at a time, the latest first, without moving what is looked at.
async function before(left, own) {
  while (left.length) {
    await new Promise((wait) => setTimeout(wait, 30));
    if (own !== view) return;
    const high = $("talk").scrollHeight, at = $("talk").scrollTop;
    $("turns").prepend(...left.splice(-AT_ONCE).map((each) => each()));
    $("talk").scrollTop = at + $("talk").scrollHeight - high;
  }
}

export async function ask(question, insteadOf) {
  question = question.trim();
  if (state.asking || !question || !state.graph) return;
  const stopping = new AbortController();
  busy({ stopping, run: null });
  if ("compare" in route()) {
    await compare(question, stopping.signal).finally(() => busy(null));
    return;
  }
  // what is asked on the page of a thing begins a conversation
  if ("thing" in route() || "class" in route()) go({ graph: state.graph });
  $("welcome").hidden = true;
  const own = view;
  const turn = newTurn(question, hooks);
  if (insteadOf) for (const each of turns()) if ((each.turn.live.record?.turn ?? Infinity) >= insteadOf) each.remove();
  for (const each of $("turns").querySelectorAll(".onward")) each.remove();
  $("turns").append(turn.root);
  if (!$("panel").hidden) panel.show(turn);
  following = turn;
  toEnd();
  const again = () => { turn.root.remove(); ask(question, insteadOf); };
  try {
    if (!state.thread) {
      // where no conversation can be kept now, the question is answered all the same
      const begun = await send("POST", "/api/threads", { graph: state.graph }).catch((problem) => { if (problem.status !== 503) throw problem; });
      if (own !== view) return;
      if (begun) {
        state.thread = begun.thread;
        go({ thread: begun.thread }, { quiet: true });
      }
    }
    await stream({ question, graph: state.graph, thread: state.thread, instead_of: insteadOf, ...kept() }, (kind, payload) => {
      if (kind === "run") { if (state.asking) state.asking.run = payload; }
      else if (kind === "answer") { finish(turn, payload); say(payload.answer); if (payload.turn === 1) named(payload.question.slice(0, 80)); }
      else if (kind === "error") fail(turn, payload, button("Ask again", again, "main"));
      else hear(turn, kind, payload);
      panel.changed(turn);
    }, stopping.signal);
    if (turn.live.record && own === view) suggest(turn).then(() => setTimeout(() => { if (following === turn) following = null; }, 500), () => {
      // suggestions are an offer: without them the answer stands
    });
  } catch (problem) {
    await broke(turn, problem, again, own);
  } finally {
    busy(null);
    changed(state.thread);
  }
}

// What became of a turn whose stream broke for good: it may have been kept, else it can be asked again.
async function broke(turn, problem, again, own) {
  if (problem.name === "AbortError") { fail(turn, { message: "Stopped." }, button("Ask again", again)); return; }
  if (problem.status === 404 && state.thread && own === view) {
    try {
      const { turns: known } = await get(place("threads", state.thread));
      const last = known.at(-1);
      if (last?.record.question === turn.live.question && last.record.turn > shownBefore(turn)) { finish(turn, last.record, last); return; }
      problem = { message: "The server was restarted in the middle of this answer.", todo: "What came so far is not kept." };
    } catch {
      // the first problem says enough
    }
  }
  fail(turn, problem, button("Ask again", again, "main"));
}

const shownBefore = (turn) => turn.root.previousElementSibling?.turn?.live.record?.turn ?? 0;

export function named(title = state.title) {
  state.title = title;
  $("about").textContent = title;
  document.title = title + " · Nacre";
}

async function fork(record) {
  try {
    const made = await send("POST", place("threads", record.thread, "fork"), { turn: record.turn });
    go({ thread: made.thread });
    changed();
    say("This is a copy of the conversation up to here.");
  } catch (problem) {
    $("turns").append(failure(problem));
  }
}

export function stop() {
  const { run, stopping } = state.asking || {};
  if (run) call("DELETE", place("runs", run)).catch(() => stopping.abort());
  else stopping?.abort();
}

function busy(asking) {
  state.asking = asking;
  $("send").hidden = Boolean(asking);
  $("stop").hidden = !asking;
}
