// State shared by the parts of the page, messages between tabs, and the page's address.

export const state = {
  graph: null, // the name of the selected graph
  graphs: [], // the readable graphs, as /api/graphs lists them
  thread: null, // the shown conversation, null before its first question
  choices: null, // the options of a turn, from /api/choices
  title: "", // the title of the conversation
  scrolled: 0, // scroll position of the conversation while another view is shown
  asking: null, // the running turn, null if there is none
};

export const isKnown = (name) => state.graphs.some((each) => each.name === name);

const tabs = new BroadcastChannel("nacre");
const listeners = [];
tabs.addEventListener("message", ({ data }) => listeners.forEach((each) => each(data)));

export function notifyTabs(news) { tabs.postMessage(news); }
export function onTabMessage(listener) { listeners.push(listener); }

// Addresses: ?thread=, ?graph=, ?graph=&thing=, ?graph=&class=, ?graph=&names=, ?graph=&verified=, ?graph=&picture=, ?add=, ?shares=, ?compare=
export const currentRoute = () => Object.fromEntries(new URLSearchParams(location.search));
export const isBrowsing = (route) => ["thing", "class", "names", "verified", "picture", "add", "shares"].some((each) => each in route);
export const pageAddress = (parts) => "?" + new URLSearchParams(Object.entries(parts).filter(([, value]) => value != null)).toString();

let routeListener = () => {};
export function onRouteChange(listener) {
  routeListener = listener;
  window.addEventListener("popstate", () => listener(currentRoute()));
}
export function navigate(parts, { replace = false, quiet = false } = {}) {
  const to = typeof parts === "string" ? parts : pageAddress(parts);
  if (replace) history.replaceState(null, "", to);
  else if (new URL(to, location).href !== location.href) history.pushState(null, "", to);
  if (!quiet) routeListener(currentRoute());
}
