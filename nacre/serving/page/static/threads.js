// The conversations at the left: listed by day, searched, renamed, deleted, taken away.

import { call, get, place, send } from "./api.js";
import { $, button, failure, make, save, say, tool } from "./dom.js";
import { address, go, state, tellTabs } from "./state.js";
import { editing } from "./turn.js";

const MOST = 100;
const DAY = 86400e3;
const TIME = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const DATE = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
let asked = 0;

export async function list(most = MOST) {
  const own = ++asked;
  try {
    const search = $("search").value.trim();
    const found = await get("/api/threads?" + new URLSearchParams({ search, limit: most }));
    if (own !== asked) return;
    if (!found.length) { $("threads").replaceChildren(make("p", { class: "quiet none" }, search ? "Nothing found." : "No conversations yet.")); return; }
    const days = new Map();
    for (const each of found) days.set(day(each.updated), [...(days.get(day(each.updated)) || []), each]);
    $("threads").replaceChildren(...[...days].map(([name, threads]) => make("section", {}, make("h2", {}, name), make("ul", {}, threads.map(item)))),
      found.length === most && most < 200 ? button("Show more", () => list(200), "plain") : "");
  } catch (problem) {
    if (own !== asked) return;
    // what was listed before is still worth to be seen
    $("threads").querySelector(".failure")?.remove();
    $("threads").prepend(failure(problem, button("Try again", () => list())));
  }
}

function day(time) {
  const midnight = new Date().setHours(0, 0, 0, 0), at = time * 1000;
  if (at >= midnight) return "Today";
  if (at >= midnight - DAY) return "Yesterday";
  if (at >= midnight - 6 * DAY) return "This week";
  return new Date(at).toLocaleDateString(undefined, { month: "long", year: "numeric" });
}

function item(thread) {
  const at = new Date(thread.updated * 1000), title = thread.title || "New conversation";
  const own = make("li", {}, make("a", { href: address({ thread: thread.thread }), class: "open", "aria-current": thread.thread === state.thread ? "page" : null, title: title + " · " + thread.graph },
    make("span", { class: "title" }, title), make("time", { datetime: at.toISOString() }, Date.now() - at < DAY ? TIME.format(at) : DATE.format(at))),
  tool("more", "More about: " + title, (event) => menu(event.currentTarget, thread, title, own)));
  return own;
}

function menu(opener, thread, title, own) {
  const pop = $("choices");
  const url = place("threads", thread.thread);
  const choice = (label, then, kind = "") => button(label, () => { pop.hidePopover(); then(); }, kind);
  const take = (format, name) => async () => save(await (await call("GET", url + "/export?format=" + format)).blob(), name);
  const ask = () => {
    pop.replaceChildren(make("p", {}, "Delete “" + title + "” for good?"), choice("Delete", remove, "bad"), choice("Keep", () => opener.focus()));
    pop.querySelector("button").focus();
  };
  async function remove() {
    try {
      await call("DELETE", url);
    } catch (problem) { own.append(failure(problem)); return; }
    say("Deleted.");
    tellTabs({ kind: "deleted", thread: thread.thread });
    if (thread.thread === state.thread) go({ graph: state.graph });
    await list();
    $("search").focus();
  }
  async function fork() {
    const made = await send("POST", url + "/fork", { turn: thread.turns });
    go({ thread: made.thread });
    say("This is a copy of the conversation.");
    changed();
  }
  function rename() {
    editing(own, title, "Name of the conversation", "Rename", async (text) => {
      await send("PATCH", url, { title: text.slice(0, 200) });
      changed();
    }, () => list());
  }
  pop.replaceChildren(...[choice("Rename", rename), thread.turns ? choice("Fork", fork) : "", choice("Export as Markdown", take("markdown", "conversation.md")), choice("Export as JSON", take("json", "conversation.json")), button("Delete …", ask, "bad")].filter(Boolean));
  pop.showPopover();
  const at = opener.getBoundingClientRect();
  pop.style.left = Math.max(8, Math.min(at.left, innerWidth - pop.offsetWidth - 8)) + "px";
  pop.style.top = Math.min(at.bottom + 4, innerHeight - pop.offsetHeight - 8) + "px";
  pop.querySelector("button").focus();
}

// This tab and the others show the list anew.
export function changed(thread = null) {
  tellTabs({ kind: "changed", thread });
  return list();
}

let typing = 0;
$("search").addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(() => list(), 200); });
