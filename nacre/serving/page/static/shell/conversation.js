// The conversation in the middle: ask, show, continue, fork.

import { $, announce, apiPath, button, call, currentRoute, failureBox, get, isBrowsing, keepFocus, navigate, send, state, streamTurn as stream, t } from "../shared/page.js";
import { panel } from "../turn/panel.js";
import { selectGraph } from "./welcome.js";
import { savedOptions } from "./options.js";
import { refreshThreads, listThreads } from "./thread_list.js";
import { failTurn, finishTurn, handleEvent, newTurn, suggestFollowUps, withoutHint } from "../turn/turn.js";

// turns that are drawn first; earlier ones follow in the background
const FIRST_TURNS = 12;
// pixels above a question
const ABOVE = 8;
let view = 0;

const hooks = { ask: askQuestion, fork: forkThread, derive: (turn) => panel.show(turn) };
const turnElements = () => [...$("turns").children];
// the end, or the question of the last answer where that is higher than the screen
const scrollToEnd = () => { $("talk").scrollTop = Math.min($("talk").scrollHeight, ($("turns").lastElementChild?.offsetTop ?? Infinity) - $("talk").offsetTop - ABOVE); };
const scrollToEndSoon = () => { scrollToEnd(); requestAnimationFrame(scrollToEnd); };

// scrolling follows a growing answer until the user scrolls
let following = null;
new ResizeObserver(() => { if (following) scrollToEnd(); }).observe($("turns"));
for (const kind of ["wheel", "touchmove", "pointerdown"]) $("talk").addEventListener(kind, () => { following = null; }, { passive: true });
$("talk").addEventListener("keydown", () => { following = null; });

// Show no conversation; the next question starts one.
export function clearConversation() {
  view += 1;
  state.thread = null;
  $("turns").replaceChildren();
  panel.turn = null;
  panel.close();
}

export async function openThread(thread) {
  const own = ++view, live = state.asking;
  try {
    const whole = await get(apiPath("threads", thread));
    if (own !== view) return;
    state.thread = thread;
    selectGraph(whole.thread.graph);
    setTitle(whole.thread.title || whole.thread.graph);
    const shown = whole.turns.map((each, i) => turnElement(each, whole.turns[i - 1]?.record));
    $("turns").replaceChildren(...shown.slice(-FIRST_TURNS).map((each) => each()));
    // a question of this conversation that was being answered
    if (live?.thread === thread && whole.turns.at(-1)?.record.id !== live.run) $("turns").append(live.turn.root);
    else if (whole.unanswered && !live) $("turns").append(unansweredTurn(whole.unanswered));
    // what was searched for, else the end
    const sought = $("search").value.trim().toLowerCase(), hit = sought && turnElements().find((each) => each.textContent.toLowerCase().includes(sought));
    following = null;
    if (hit) hit.scrollIntoView(); else scrollToEndSoon();
    const last = turnElements().at(-1)?.turn;
    panel.turn = last || null;
    panel.draw();
    listThreads();
    if (last?.live.record) suggestFollowUps(last).catch(() => {
      // suggestions are optional
    });
    await prependTurns(shown.slice(0, -FIRST_TURNS), own);
  } catch (problem) {
    if (own !== view) return;
    state.thread = null;
    setTitle(t("conversationNotFound"));
    $("turns").replaceChildren(failureBox(problem, problem.status === 404 ? button(t("newConversation"), () => navigate({ graph: state.graph })) : button(t("tryAgain"), () => openThread(thread))));
  }
}

const turnElement = (each, before) => () => {
  const turn = newTurn(each.record.question, hooks);
  turn.before = before;
  finishTurn(turn, each.record, each);
  return turn.root;
};

// The question of a turn that was stopped.
function unansweredTurn(question) {
  const turn = newTurn(question, hooks);
  failTurn(turn, { message: t("stopped") }, button(t("askAgain"), () => { turn.root.remove(); askQuestion(question); }, "main"));
  return turn.root;
}

// Draw earlier turns in small groups, the latest first.
async function prependTurns(left, own) {
  while (left.length) {
    await new Promise((wait) => setTimeout(wait, 30));
    if (own !== view) return;
    const high = $("talk").scrollHeight, at = $("talk").scrollTop;
    $("turns").prepend(...left.splice(-FIRST_TURNS).map((each) => each()));
    $("talk").scrollTop = at + $("talk").scrollHeight - high;
  }
}

export async function askQuestion(question, insteadOf) {
  question = question.trim();
  if (state.asking || !question || !state.graph) return;
  const stopping = new AbortController();
  setBusy({ stopping, run: null });
  if ("compare" in currentRoute()) {
    await import("./compare.js").then(({ compareAnswers }) => compareAnswers(question, stopping.signal)).finally(() => setBusy(null));
    return;
  }
  // a question from another page starts a conversation
  if (isBrowsing(currentRoute())) navigate({ graph: state.graph });
  $("welcome").hidden = true;
  const own = view, graph = state.graph;
  const turn = newTurn(question, hooks);
  const asking = Object.assign(state.asking, { turn, thread: state.thread });
  if (insteadOf) for (const each of turnElements()) if ((each.turn.live.record?.turn ?? Infinity) >= insteadOf) each.remove();
  for (const each of $("turns").querySelectorAll(".onward")) each.remove();
  $("turns").append(turn.root);
  if (!$("panel").hidden) panel.show(turn);
  following = turn;
  keepFocus();
  scrollToEnd();
  const again = () => { turn.root.remove(); askQuestion(question, insteadOf); };
  try {
    if (!asking.thread) {
      // if conversations can't be stored now, the question is answered anyway
      const begun = await send("POST", "api/threads", { graph }).catch((problem) => { if (problem.status !== 503) throw problem; });
      asking.thread = begun?.thread;
      if (begun && own === view) {
        state.thread = begun.thread;
        navigate({ thread: begun.thread }, { quiet: true });
      }
    }
    await stream({ question, graph, thread: asking.thread, instead_of: insteadOf, ...savedOptions() }, (kind, payload) => {
      if (kind === "run") asking.run = payload;
      else if (kind === "answer") { finishTurn(turn, payload); announce(withoutHint(payload.answer).replace(/^\|.*\n?/gm, "")); if (payload.turn === 1 && turn.root.isConnected) setTitle(payload.question.slice(0, 80)); }
      else if (kind === "error") failTurn(turn, payload, button(t("askAgain"), again, "main"));
      else handleEvent(turn, kind, payload);
      panel.changed(turn);
    }, stopping.signal);
    if (turn.live.record && turn.root.isConnected) suggestFollowUps(turn).then(() => setTimeout(() => { if (following === turn) following = null; }, 500), () => {
      // suggestions are optional
    });
  } catch (problem) {
    await recoverTurn(turn, problem, again, asking.thread);
  } finally {
    setBusy(null);
    refreshThreads(asking.thread);
  }
}

// After a lost stream: show the turn if it was stored, else offer to ask again.
async function recoverTurn(turn, problem, again, thread) {
  if (problem.name === "AbortError") { failTurn(turn, { message: t("stopped") }, button(t("askAgain"), again)); return; }
  if (problem.status === 404 && thread && turn.root.isConnected) {
    try {
      const { turns: known } = await get(apiPath("threads", thread));
      const last = known.at(-1);
      if (last?.record.question === turn.live.question && last.record.turn > (turn.root.previousElementSibling?.turn?.live.record?.turn ?? 0)) { finishTurn(turn, last.record, last); return; }
      problem = { message: t("serverRestarted"), hint: t("partialNotStored") };
    } catch {
      // report the first problem
    }
  }
  failTurn(turn, problem, button(t("askAgain"), again, "main"));
}

export function setTitle(title = state.title) {
  state.title = title;
  $("about").textContent = title;
  document.title = title + " · Nacre";
}

async function forkThread(record) {
  try {
    const made = await send("POST", apiPath("threads", record.thread, "fork"), { turn: record.turn });
    navigate({ thread: made.thread });
    refreshThreads();
    announce(t("copyUpToHere"));
  } catch (problem) {
    $("turns").append(failureBox(problem));
  }
}

export function stopTurn() {
  const { run, stopping } = state.asking || {};
  if (run) call("DELETE", apiPath("runs", run)).catch(() => stopping.abort());
  else stopping?.abort();
}

function setBusy(asking) {
  state.asking = asking;
  $("send").hidden = Boolean(asking);
  $("stop").hidden = !asking;
}
