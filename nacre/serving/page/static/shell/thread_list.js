// The conversations on the left: list by day, search, rename, fork, export, delete.

import { $, announce, apiPath, button, call, download, element, failureBox, get, h2, iconButton, inline, item, keepFocus, language, moveFocus, navigate, notifyTabs, openMenu, pageAddress, para, query, send, state, t, section } from "../shared/page.js";
import { editInPlace } from "../turn/turn.js";
import { setTitle } from "./conversation.js";

const MAX_LISTED = 100;
const DAY = 86400e3;
const TIME = new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const DATE = new Intl.DateTimeFormat(language, { day: "numeric", month: "short" });
let latestRequest = 0;

export async function listThreads(most = MAX_LISTED) {
  const own = ++latestRequest;
  try {
    const search = $("search").value.trim();
    const found = await get("api/threads" + query({ search, limit: most }));
    if (own !== latestRequest) return;
    if (!found.length) { $("threads").replaceChildren(para("quiet none", t(search ? "nothingFound" : "noConversations"))); return; }
    const days = new Map();
    for (const each of found) days.set(dayLabel(each.updated), [...(days.get(dayLabel(each.updated)) || []), each]);
    const had = $("threads").contains(document.activeElement);
    $("threads").replaceChildren(...[...days].map(([name, threads]) => section(h2(name), element("ul", {}, threads.map(threadItem)))),
      found.length === most && most < 200 ? button(t("showMore"), () => listThreads(200), "plain") : "");
    rove($("threads").querySelector("li:has([aria-current])") ?? $("threads").querySelector("li"));
    if (had) keepFocus();
  } catch (problem) {
    if (own !== latestRequest) return;
    // the earlier list stays visible
    $("threads").querySelector(".failure")?.remove();
    $("threads").prepend(failureBox(problem, button(t("tryAgain"), () => listThreads())));
  }
}

// One conversation and its menu are in the order of Tab; arrow keys go to the others.
function rove(own) { for (const each of $("threads").querySelectorAll("li > :is(a, button)")) each.tabIndex = each.parentElement === own ? 0 : -1; }
$("threads").addEventListener("focusin", ({ target }) => rove(target.closest("li")));
$("threads").addEventListener("keydown", (event) => moveFocus(event, $("threads").querySelectorAll("a.open")));

function dayLabel(time) {
  const midnight = new Date().setHours(0, 0, 0, 0), at = time * 1000;
  if (at >= midnight) return t("today");
  if (at >= midnight - DAY) return t("yesterday");
  if (at >= midnight - 6 * DAY) return t("thisWeek");
  return new Date(at).toLocaleDateString(language, { month: "long", year: "numeric" });
}

function threadItem(thread) {
  const at = new Date(thread.updated * 1000), title = thread.title || t("newConversation");
  const own = item(element("a", { href: pageAddress({ thread: thread.thread }), class: "open", "aria-current": thread.thread === state.thread ? "page" : null, title: title + " · " + thread.graph },
    inline("title", title), element("time", { datetime: at.toISOString() }, Date.now() - at < DAY ? TIME.format(at) : DATE.format(at)), state.graphs.length > 1 && inline("of", thread.graph)),
  iconButton("more", t("moreAbout", { what: title }), (event) => threadMenu(event.currentTarget, thread, title, own)));
  return own;
}

function threadMenu(opener, thread, title, own) {
  const pop = $("choices");
  const url = apiPath("threads", thread.thread);
  const choice = (label, then, kind = "") => button(label, () => { pop.hidePopover(); then(); }, kind);
  const take = (format, name) => async () => download(await (await call("GET", url + "/export?format=" + format)).blob(), name);
  const ask = () => {
    pop.replaceChildren(para(null, t("deleteForGood", { what: title })), choice(t("delete"), remove, "bad"), choice(t("keep"), () => opener.focus()));
    pop.querySelector("button").focus();
  };
  async function remove() {
    try {
      await call("DELETE", url);
    } catch (problem) { own.append(failureBox(problem)); return; }
    announce(t("deleted"));
    notifyTabs({ kind: "deleted", thread: thread.thread });
    if (thread.thread === state.thread) navigate({ graph: state.graph });
    await listThreads();
    $("search").focus();
  }
  async function fork() {
    const made = await send("POST", url + "/fork", { turn: thread.turns });
    navigate({ thread: made.thread });
    announce(t("copyMade"));
    refreshThreads();
  }
  function rename() {
    editInPlace(own, title, t("conversationName"), t("rename"), async (text) => {
      await send("PATCH", url, { title: text.slice(0, 200) });
      if (thread.thread === state.thread) setTitle(text);
      refreshThreads();
    }, () => listThreads());
  }
  openMenu(opener, choice(t("rename"), rename), thread.turns ? choice(t("fork"), fork) : "", choice(t("exportMarkdown"), take("markdown", "conversation.md")), choice(t("exportJson"), take("json", "conversation.json")), button(t("deleteMore"), ask, "bad"));
}

// Refresh the list in this tab and the others.
export function refreshThreads(thread = null) {
  notifyTabs({ kind: "changed", thread });
  return listThreads();
}

let searchTimer = 0;
$("search").oninput = () => { clearTimeout(searchTimer); searchTimer = setTimeout(() => listThreads(), 200); };
