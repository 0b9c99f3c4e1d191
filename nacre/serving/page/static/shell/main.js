// The page: shows what its address names, and handles keys, buttons and messages from other tabs.

import { $, access, button, currentRoute, failureBox, get, iconButton, isBrowsing, isKnown, keepFocus, labelOf, navigate, onRouteChange, onTabMessage, pageLink, requestKey, send, state, t } from "../shared/page.js";
import { askQuestion, clearConversation, setTitle, openThread, stopTurn } from "./conversation.js";
import { panel } from "../turn/panel.js";
import { selectGraph, loadGraphs, showWelcome } from "./welcome.js";
import { openConfiguration, showActiveOptions } from "./options.js";
import { closeCitation as closeSource } from "../turn/citation.js";
import { listThreads } from "./thread_list.js";

const THEMES = ["system", "light", "dark"];

// Show what the address names.
async function showRoute(wanted) {
  closeSource();
  toggleMenu(false);
  const looking = isBrowsing(wanted), comparing = "compare" in wanted;
  if (!$("turns").hidden) state.scrolled = $("talk").scrollTop;
  $("look").hidden = !looking;
  $("compare").hidden = !comparing;
  $("turns").hidden = looking || comparing;
  $("welcome").hidden = looking || comparing || Boolean(wanted.thread);
  if (wanted.graph && wanted.graph !== state.graph && isKnown(wanted.graph)) selectGraph(wanted.graph);
  document.title = "Nacre";
  if (wanted.graph && wanted.graph !== state.graph) return showUnknownGraph(wanted.graph);
  if (looking) {
    $("talk").scrollTop = 0;
    await showView(wanted);
    document.title = $("about").textContent + " · Nacre";
  } else if (comparing) {
    $("about").textContent = state.graph;
    (await import("./compare.js")).showCompare();
  } else if (wanted.thread) {
    if (wanted.thread !== state.thread) { await openThread(wanted.thread); keepFocus(); }
    else { setTitle(); $("talk").scrollTop = state.scrolled; }
  } else {
    clearConversation();
    markCurrentThread();
    await showWelcome(askQuestion);
  }
  markCurrentThread();
}

// Views of a graph, whose code is loaded when they are opened.
async function showView(wanted) {
  if ("shares" in wanted) return (await import("../../share/files/shares.js")).showShares();
  if ("add" in wanted) return (await import("./add_data.js")).showAddData(wanted.add);
  if ("names" in wanted) return (await import("./names.js")).showNames(state.graph);
  if ("picture" in wanted) return (await import("./class_map.js")).showClassMap(state.graph);
  if ("verified" in wanted) return (await import("../../verified/files/verified.js")).showVerified(state.graph);
  const { showClass, showThing } = await import("./browse.js");
  return "thing" in wanted ? showThing(state.graph, wanted.thing, askQuestion) : showClass(state.graph, wanted.class, askQuestion);
}

function showUnknownGraph(name) {
  for (const id of ["welcome", "compare", "turns"]) $(id).hidden = true;
  $("look").hidden = false;
  $("about").textContent = t("unknownGraph");
  clearConversation();
  const others = state.graphs.slice(0, 12).map((each) => pageLink({ graph: each.name }, each.name));
  $("look").replaceChildren(failureBox({ message: t("noSuchGraph", { name: name.slice(0, 100) }), hint: t("selectOne") }, ...others));
}

function markCurrentThread() {
  for (const each of $("threads").querySelectorAll("a.open")) {
    each.ariaCurrent = new URL(each.href).searchParams.get("thread") === state.thread ? "page" : null;
  }
}

function toggleMenu(shown) {
  document.body.classList.toggle("with-side", shown);
  $("menu").ariaExpanded = shown;
  if (shown) $("fold").focus();
}

function submit() {
  const field = $("question"), text = field.value.trim();
  if (state.asking || !text) return;
  field.value = "";
  resizeQuestion();
  askQuestion(text);
}

// The arrow keys bring back earlier questions of this conversation, as a shell does.
let recalled = 0;
function recall(event) {
  const field = $("question"), asked = [...$("turns").children].map((each) => each.turn?.live.question).filter(Boolean);
  if (field.value && field.value !== asked[asked.length - recalled]) recalled = 0;
  if (field.value && !recalled) return;
  const next = recalled + (event.key === "ArrowUp" ? 1 : -1);
  if (next < 0 || next > asked.length) return;
  event.preventDefault();
  recalled = next;
  field.value = next ? asked[asked.length - next] : "";
  resizeQuestion();
}

function resizeQuestion() {
  const field = $("question");
  field.style.height = "auto";
  field.style.height = Math.min(field.scrollHeight + 2, 200) + "px";
}

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  localStorage.setItem("nacre-theme", name);
  $("theme").ariaLabel = $("theme").title = labelOf("theme", name);
}

async function start() {
  try {
    const wanted = currentRoute();
    const { person, may_log_out } = state.choices = await get("api/choices");
    $("who").textContent = person;
    if (may_log_out) $("key").ariaLabel = $("key").title = t("logOut");
    $("key").hidden = !access.token && !may_log_out;
    if (!(await loadGraphs(wanted.graph)) && !("add" in wanted && state.choices.may_write)) return;
    showActiveOptions();
    listThreads();
    await showRoute(wanted);
    keepFocus();
  } catch (problem) {
    $("welcome").hidden = false;
    $("lead").replaceChildren(failureBox(problem, button(t("tryAgain"), start, "main")));
  }
}

$("ask").onsubmit = (event) => { event.preventDefault(); submit(); };
$("question").addEventListener("keydown", (event) => { if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); submit(); } else if (["ArrowUp", "ArrowDown"].includes(event.key)) recall(event); });
$("question").oninput = resizeQuestion;
$("stop").onclick = stopTurn;
$("new").onclick = () => { navigate({ graph: state.graph }); $("question").focus(); };
$("menu").onclick = () => toggleMenu(!document.body.classList.contains("with-side"));
$("fold").onclick = () => { toggleMenu(false); $("menu").focus(); };
$("talk").onclick = () => toggleMenu(false);
$("derive").onclick = () => {
  if (!$("panel").hidden) { panel.close(); return; }
  panel.show(panel.turn || [...$("turns").children].at(-1)?.turn || null);
};
$("panel-close").onclick = () => { panel.close(); $("derive").focus(); };
$("configure").onclick = openConfiguration;
$("theme").onclick = () => setTheme(THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length]);
$("key").onclick = async () => {
  if (state.choices.may_log_out) { await send("POST", "logout"); location.assign("logout"); return; }
  access.token = "";
  await requestKey("");
  location.assign("./");
};

// links within the page change the view without loading a page
document.onclick = (event) => {
  const link = event.target.closest("a[href]");
  if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const to = new URL(link.getAttribute("href") ?? link.href.baseVal, location);
  if (to.origin !== location.origin || to.pathname !== location.pathname || to.hash) return;
  event.preventDefault();
  link.closest(".menu")?.hidePopover();
  navigate(to.pathname + to.search);
};
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && document.body.classList.contains("with-side")) { toggleMenu(false); $("menu").focus(); }
  else if (event.key === "Escape" && !$("panel").hidden && !document.querySelector(":popover-open, dialog[open]")) { if ($("panel").contains(document.activeElement)) $("derive").focus(); panel.close(); }
  else if (event.key === "/" && (!event.target.closest("input, textarea, select, dialog") || (event.target === $("question") && !$("question").value))) { event.preventDefault(); $("question").focus(); }
});
document.addEventListener("visibilitychange", () => { if (!document.hidden && state.graph) listThreads(); });
window.addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  const box = failureBox(event.reason instanceof Error ? event.reason : { message: String(event.reason) });
  box.append(iconButton("close", t("close"), () => box.remove()));
  $("talk").append(box);
  $("talk").scrollTop = $("talk").scrollHeight;
});
onRouteChange(showRoute);
onTabMessage((news) => {
  if (news.kind === "graphs") { loadGraphs(state.graph); return; }
  listThreads();
  if (news.kind === "deleted" && news.thread === state.thread) navigate({ graph: state.graph });
  else if (news.thread && news.thread === currentRoute().thread && !state.asking) openThread(news.thread);
});
setTheme(THEMES.find((each) => each === localStorage.getItem("nacre-theme")) || "system");
start();
