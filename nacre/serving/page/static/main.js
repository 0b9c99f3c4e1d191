// The page as a whole: what its address asks for is shown; keys, buttons and other tabs are heard.

import { access, enter, get } from "./api.js";
import { showCompare } from "./compare.js";
import { ask, clear, named, open, stop } from "./conversation.js";
import { panel } from "./derivation.js";
import { $, button, failure, tool } from "./dom.js";
import { choose, graphs, welcome } from "./first.js";
import { lookAtClass, lookAtThing } from "./look.js";
import { configure, showChosen } from "./options.js";
import { close as closeSource } from "./source.js";
import { go, onAddress, onNews, route, state } from "./state.js";
import { list } from "./threads.js";

const THEMES = ["system", "light", "dark"];

// Show what the address names.
async function show(wanted) {
  closeSource();
  menu(false);
  const looking = "thing" in wanted || "class" in wanted;
  if (!$("turns").hidden) state.scrolled = $("talk").scrollTop;
  $("look").hidden = !looking;
  $("compare").hidden = !("compare" in wanted);
  $("turns").hidden = looking || "compare" in wanted;
  $("welcome").hidden = looking || "compare" in wanted || Boolean(wanted.thread);
  if (wanted.graph && wanted.graph !== state.graph && state.graphs.some((each) => each.name === wanted.graph)) choose(wanted.graph);
  document.title = "Nacre";
  if (looking) {
    $("talk").scrollTop = 0;
    if ("thing" in wanted) await lookAtThing(state.graph, wanted.thing, ask); else await lookAtClass(state.graph, wanted.class, ask);
    document.title = $("about").textContent + " · Nacre";
  } else if ("compare" in wanted) {
    $("about").textContent = state.graph;
    showCompare();
  } else if (wanted.thread) {
    if (wanted.thread !== state.thread) await open(wanted.thread);
    else { named(); $("talk").scrollTop = state.scrolled; }
  } else {
    clear();
    mark();
    await welcome(ask);
  }
  mark();
}

function mark() {
  for (const each of $("threads").querySelectorAll("a.open")) {
    if (new URL(each.href).searchParams.get("thread") === state.thread) each.setAttribute("aria-current", "page"); else each.removeAttribute("aria-current");
  }
}

function menu(shown) {
  document.body.classList.toggle("with-side", shown);
  $("menu").setAttribute("aria-expanded", String(shown));
  if (shown) $("fold").focus();
}

function submit() {
  const field = $("question"), text = field.value.trim();
  if (state.asking || !text) return;
  field.value = "";
  grow();
  ask(text);
}

function grow() {
  const field = $("question");
  field.style.height = "auto";
  field.style.height = Math.min(field.scrollHeight + 2, 200) + "px";
}

function theme(name) {
  document.documentElement.dataset.theme = name;
  localStorage.setItem("nacre-theme", name);
  const words = "Theme: " + (name === "system" ? "as the system" : name);
  $("theme").setAttribute("aria-label", words);
  $("theme").title = words;
}

async function begin() {
  try {
    const wanted = route();
    [state.choices] = await Promise.all([get("/api/choices")]);
    if (!(await graphs(wanted.graph))) return;
    showChosen();
    list();
    await show(wanted);
    $("key").hidden = !access.token;
    if (matchMedia("(pointer: fine)").matches) $("question").focus();
  } catch (problem) {
    $("welcome").hidden = false;
    $("lead").replaceChildren(failure(problem, button("Try again", begin, "main")));
  }
}

$("ask").addEventListener("submit", (event) => { event.preventDefault(); submit(); });
$("question").addEventListener("keydown", (event) => { if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); submit(); } });
$("question").addEventListener("input", grow);
$("stop").addEventListener("click", stop);
$("new").addEventListener("click", () => { go({ graph: state.graph }); $("question").focus(); });
$("menu").addEventListener("click", () => menu(!document.body.classList.contains("with-side")));
$("fold").addEventListener("click", () => { menu(false); $("menu").focus(); });
$("talk").addEventListener("click", () => menu(false));
$("derive").addEventListener("click", () => {
  if (!$("panel").hidden) { panel.close(); return; }
  panel.show(panel.turn || [...$("turns").children].at(-1)?.turn || null);
});
$("panel-close").addEventListener("click", () => { panel.close(); $("derive").focus(); });
$("configure").addEventListener("click", configure);
$("theme").addEventListener("click", () => theme(THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length]));
$("key").addEventListener("click", async () => { access.token = ""; await enter(""); location.assign("/"); });

// links within the page change what is shown, not the page
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const to = new URL(link.getAttribute("href") ?? link.href.baseVal, location.origin);
  if (to.origin !== location.origin || to.pathname !== "/" || to.hash) return;
  event.preventDefault();
  go(to.pathname + to.search);
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && document.body.classList.contains("with-side")) { menu(false); $("menu").focus(); }
  else if (event.key === "Escape" && !$("panel").hidden && $("panel").contains(document.activeElement)) { panel.close(); $("derive").focus(); }
  else if (event.key === "/" && !event.target.closest("input, textarea, select, dialog")) { event.preventDefault(); $("question").focus(); }
});
document.addEventListener("visibilitychange", () => { if (!document.hidden && state.graph) list(); });
window.addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  const told = failure(event.reason instanceof Error ? event.reason : { message: String(event.reason) });
  told.append(tool("close", "Close", () => told.remove()));
  $("talk").append(told);
  $("talk").scrollTop = $("talk").scrollHeight;
});
onAddress(show);
onNews((news) => {
  list();
  if (news.kind === "deleted" && news.thread === state.thread) go({ graph: state.graph });
  else if (news.thread && news.thread === route().thread && !state.asking) open(news.thread);
});
theme(THEMES.includes(localStorage.getItem("nacre-theme")) ? localStorage.getItem("nacre-theme") : "system");
begin();
