// The page: shows what its address names, and handles keys, buttons and messages from other tabs.

import { access, requestKey, get } from "../shared/api.js";
import { showCompare } from "./compare.js";
import { askQuestion, clearConversation, setTitle, openThread, stopTurn } from "./conversation.js";
import { panel } from "../turn/derivation.js";
import { $, button, failureBox, iconButton } from "../shared/dom.js";
import { selectGraph, loadGraphs, showWelcome } from "./welcome.js";
import { showClass, showThing } from "./browse.js";
import { showNames } from "./names.js";
import { openConfiguration, showActiveOptions } from "./options.js";
import { closeCitation as closeSource } from "../turn/citation.js";
import { navigate, onRouteChange, onTabMessage, currentRoute, isBrowsing, state } from "../shared/state.js";
import { listThreads } from "./thread_list.js";

const THEMES = ["system", "light", "dark"];

// Show what the address names.
async function showRoute(wanted) {
  closeSource();
  toggleMenu(false);
  const looking = isBrowsing(wanted);
  if (!$("turns").hidden) state.scrolled = $("talk").scrollTop;
  $("look").hidden = !looking;
  $("compare").hidden = !("compare" in wanted);
  $("turns").hidden = looking || "compare" in wanted;
  $("welcome").hidden = looking || "compare" in wanted || Boolean(wanted.thread);
  if (wanted.graph && wanted.graph !== state.graph && state.graphs.some((each) => each.name === wanted.graph)) selectGraph(wanted.graph);
  document.title = "Nacre";
  if (looking) {
    $("talk").scrollTop = 0;
    if ("thing" in wanted) await showThing(state.graph, wanted.thing, askQuestion);
    else if ("names" in wanted) await showNames(state.graph);
    else await showClass(state.graph, wanted.class, askQuestion);
    document.title = $("about").textContent + " · Nacre";
  } else if ("compare" in wanted) {
    $("about").textContent = state.graph;
    showCompare();
  } else if (wanted.thread) {
    if (wanted.thread !== state.thread) await openThread(wanted.thread);
    else { setTitle(); $("talk").scrollTop = state.scrolled; }
  } else {
    clearConversation();
    markCurrentThread();
    await showWelcome(askQuestion);
  }
  markCurrentThread();
}

function markCurrentThread() {
  for (const each of $("threads").querySelectorAll("a.open")) {
    if (new URL(each.href).searchParams.get("thread") === state.thread) each.setAttribute("aria-current", "page"); else each.removeAttribute("aria-current");
  }
}

function toggleMenu(shown) {
  document.body.classList.toggle("with-side", shown);
  $("menu").setAttribute("aria-expanded", String(shown));
  if (shown) $("fold").focus();
}

function submit() {
  const field = $("question"), text = field.value.trim();
  if (state.asking || !text) return;
  field.value = "";
  resizeQuestion();
  askQuestion(text);
}

function resizeQuestion() {
  const field = $("question");
  field.style.height = "auto";
  field.style.height = Math.min(field.scrollHeight + 2, 200) + "px";
}

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  localStorage.setItem("nacre-theme", name);
  const words = "Theme: " + (name === "system" ? "as the system" : name);
  $("theme").setAttribute("aria-label", words);
  $("theme").title = words;
}

async function start() {
  try {
    const wanted = currentRoute();
    [state.choices] = await Promise.all([get("/api/choices")]);
    if (!(await loadGraphs(wanted.graph))) return;
    showActiveOptions();
    listThreads();
    await showRoute(wanted);
    $("key").hidden = !access.token;
    if (matchMedia("(pointer: fine)").matches) $("question").focus();
  } catch (problem) {
    $("welcome").hidden = false;
    $("lead").replaceChildren(failureBox(problem, button("Try again", start, "main")));
  }
}

$("ask").addEventListener("submit", (event) => { event.preventDefault(); submit(); });
$("question").addEventListener("keydown", (event) => { if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); submit(); } });
$("question").addEventListener("input", resizeQuestion);
$("stop").addEventListener("click", stopTurn);
$("new").addEventListener("click", () => { navigate({ graph: state.graph }); $("question").focus(); });
$("menu").addEventListener("click", () => toggleMenu(!document.body.classList.contains("with-side")));
$("fold").addEventListener("click", () => { toggleMenu(false); $("menu").focus(); });
$("talk").addEventListener("click", () => toggleMenu(false));
$("derive").addEventListener("click", () => {
  if (!$("panel").hidden) { panel.close(); return; }
  panel.show(panel.turn || [...$("turns").children].at(-1)?.turn || null);
});
$("panel-close").addEventListener("click", () => { panel.close(); $("derive").focus(); });
$("configure").addEventListener("click", openConfiguration);
$("theme").addEventListener("click", () => setTheme(THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length]));
$("key").addEventListener("click", async () => { access.token = ""; await requestKey(""); location.assign("/"); });

// links within the page change the view without loading a page
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const to = new URL(link.getAttribute("href") ?? link.href.baseVal, location.origin);
  if (to.origin !== location.origin || to.pathname !== "/" || to.hash) return;
  event.preventDefault();
  navigate(to.pathname + to.search);
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && document.body.classList.contains("with-side")) { toggleMenu(false); $("menu").focus(); }
  else if (event.key === "Escape" && !$("panel").hidden && $("panel").contains(document.activeElement)) { panel.close(); $("derive").focus(); }
  else if (event.key === "/" && !event.target.closest("input, textarea, select, dialog")) { event.preventDefault(); $("question").focus(); }
});
document.addEventListener("visibilitychange", () => { if (!document.hidden && state.graph) listThreads(); });
window.addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  const box = failureBox(event.reason instanceof Error ? event.reason : { message: String(event.reason) });
  box.append(iconButton("close", "Close", () => box.remove()));
  $("talk").append(box);
  $("talk").scrollTop = $("talk").scrollHeight;
});
onRouteChange(showRoute);
onTabMessage((news) => {
  listThreads();
  if (news.kind === "deleted" && news.thread === state.thread) navigate({ graph: state.graph });
  else if (news.thread && news.thread === currentRoute().thread && !state.asking) openThread(news.thread);
});
setTheme(THEMES.includes(localStorage.getItem("nacre-theme")) ? localStorage.getItem("nacre-theme") : "system");
start();
