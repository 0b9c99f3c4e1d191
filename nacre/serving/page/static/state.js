// What the parts of the page share, and what tabs tell each other.

export const state = {
  graph: null, // the name of the graph that is asked
  graphs: [], // all that may be read, as /api/graphs lists them
  thread: null, // the conversation that is shown, null before its first question
  choices: null, // what a turn may choose, as /api/choices says
  title: "", // of the conversation
  scrolled: 0, // how far, before something else was looked at
  asking: null, // the turn under way, null where none is
};

const tabs = new BroadcastChannel("nacre");
const listeners = [];
tabs.addEventListener("message", ({ data }) => listeners.forEach((each) => each(data)));

export function tellTabs(news) { tabs.postMessage(news); }
export function onNews(listener) { listeners.push(listener); }

// Addresses: /?thread=, /?graph=, /?graph=&thing=, /?graph=&class=, /?compare=
export const route = () => Object.fromEntries(new URLSearchParams(location.search));
export const address = (parts) => "/?" + new URLSearchParams(Object.entries(parts).filter(([, value]) => value != null)).toString();

let onRoute = () => {};
export function onAddress(listener) {
  onRoute = listener;
  window.addEventListener("popstate", () => listener(route()));
}
export function go(parts, { replace = false, quiet = false } = {}) {
  const to = typeof parts === "string" ? parts : address(parts);
  if (replace) history.replaceState(null, "", to);
  else if (to !== location.pathname + location.search) history.pushState(null, "", to);
  if (!quiet) onRoute(route());
}
