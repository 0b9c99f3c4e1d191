// The verified questions of a graph: search, what they give now, approval, removal.

import { get, apiPath, send } from "../shared/api.js";
import { $, announce, button, countPhrase, day, element, failureBox } from "../shared/dom.js";
import { isIri, thingLink } from "../shared/labels.js";
import { rowTable } from "../turn/table.js";
import { beginLoading, breadcrumbs, latestRequest, showFailure } from "./browse.js";

const PAGE = 50, SEARCH_DELAY = 200;
const ASIDE = ["failed", "empty", "changed kind", "contradicted", "replaced"];
const STATE_LABELS = {
  "in use": "in use", failed: "fails now", empty: "empty now", "changed kind": "gives another kind of value", contradicted: "contradicted", replaced: "of a replaced graph",
};
const SHOWN = { all: "All", waiting: "Waiting for approval", aside: "Not used" };

export async function showVerified(graph) {
  const own = beginLoading(graph), path = apiPath("graphs", graph, "verified");
  $("about").textContent = "Verified questions of " + graph;
  const view = { graph, path, own, shown: "all", requests: 0, list: element("ul", { class: "terms" }), found: element("p", { class: "quiet", role: "status" }), more: element("div", { class: "row" }) };
  try {
    const page = await load(view, 0);
    if (own !== latestRequest) return;
    draw(view, page);
  } catch (problem) {
    showFailure(own, problem, () => showVerified(graph));
  }
}

const load = (view, skip) => get(view.path + "?" + new URLSearchParams([["limit", PAGE], ["skip", skip], ["search", view.search?.value || ""], ["waiting", view.shown === "waiting"], ...(view.shown === "aside" ? ASIDE.map((each) => ["state", each]) : [])]));

function draw(view, page) {
  let timer = 0;
  view.search = element("input", { type: "search", maxlength: "200", "aria-label": "Search verified questions", placeholder: "Search verified questions", oninput: () => { clearTimeout(timer); timer = setTimeout(() => reload(view), SEARCH_DELAY); } });
  const select = element("select", { "aria-label": "Which are shown", onchange: () => { view.shown = select.value; reload(view); } }, Object.entries(SHOWN).map(([value, label]) => element("option", { value }, label)));
  const check = button("Check all", () => checkAll(view, check), "", { title: "Run them again on the present data" });
  $("look").replaceChildren(breadcrumbs(view.graph), element("h2", {}, "Verified questions"),
    element("p", {}, "People confirmed what answers these. Asked again, they are answered by the same query on the present data."),
    element("p", { class: "quiet" }, page.may_approve ? "“This is right” below an answer adds one. You may approve what others confirmed." : "“This is right” below an answer adds one. It answers your questions; a key that may approve lets everyone use it."),
    element("section", { class: "card" }, element("div", { class: "row" }, view.search, select, check), view.found, view.list, view.more));
  append(view, page, 0);
  if (matchMedia("(pointer: fine)").matches) view.search.focus();
}

async function reload(view) {
  const request = ++view.requests;
  try {
    const page = await load(view, 0);
    if (request === view.requests && view.own === latestRequest) append(view, page, 0);
  } catch (problem) {
    view.more.replaceChildren(failureBox(problem, button("Try again", () => reload(view))));
  }
}

function append(view, page, skip) {
  const rows = page.questions.map((entry) => row(view, page, entry));
  if (skip) view.list.append(...rows); else view.list.replaceChildren(...rows);
  const shown = view.list.children.length;
  view.found.textContent = shown ? countPhrase(shown, "question") + (page.more ? " shown, the latest first" : "") : view.search.value || view.shown !== "all" ? "None found." : "There is none yet. Ask a question, and choose “This is right” below its answer.";
  view.more.replaceChildren(page.more ? button("Show more", async () => {
    const request = view.requests;
    try {
      const next = await load(view, shown);
      if (request === view.requests) { append(view, next, shown); view.list.children[shown]?.querySelector("button").focus(); }
    } catch (problem) {
      view.more.append(failureBox(problem));
    }
  }, "chip") : "");
}

function row(view, page, entry) {
  const isOwn = entry.by === page.owner, out = element("div", { class: "rows" }), buttons = element("div", { class: "row" });
  const root = element("li", { "aria-label": entry.question });
  const address = (...parts) => apiPath("graphs", view.graph, "verified", entry.id, ...parts) + "?" + new URLSearchParams({ by: entry.by });
  // `waiting` words stand until the action has ended
  const act = async (waiting, action) => {
    if (root.getAttribute("aria-busy")) return;
    root.setAttribute("aria-busy", "true");
    out.replaceChildren(element("p", { class: "working" }, waiting));
    try { await action(); } catch (problem) { out.replaceChildren(failureBox(problem)); } finally { root.removeAttribute("aria-busy"); }
  };
  const run = () => act("Running …", async () => {
    const ran = await send("POST", address("run"));
    update(ran.entry);
    out.replaceChildren(...given(view.graph, ran, () => { out.replaceChildren(); focus("run"); }));
    announce(ran.values.length ? countPhrase(ran.values.length, "value") : "It gives nothing.");
  });
  const approve = (approved) => act("Saving …", async () => {
    update(await send("POST", apiPath("graphs", view.graph, "verified", entry.id, "approve"), { by: entry.by, approved }));
    out.replaceChildren();
    announce(approved ? "Approved. Everyone who may read the graph uses it." : "Taken back. It waits for approval.");
    focus("approve");
  });
  const remove = () => act("Removing …", async () => {
    await send("DELETE", address()).catch((problem) => { if (problem.status !== 404) throw problem; });
    const next = root.nextElementSibling || root.previousElementSibling;
    root.remove();
    view.found.textContent = "Removed.";
    (next?.querySelector("button") || view.search).focus();
  });
  const focus = (name) => buttons.querySelector("[data-action=" + name + "]")?.focus();
  const named = (label, name, onclick, kind = "") => button(label, onclick, kind, { "data-action": name, "aria-label": label + ": " + entry.question });
  function controls() {
    buttons.replaceChildren(named("Run", "run", run), page.may_approve ? named(entry.approved ? "Take approval back" : "Approve", "approve", () => approve(!entry.approved), entry.approved ? "" : "main") : "",
      isOwn || page.may_approve ? named("Remove", "remove", () => {
        buttons.replaceChildren(element("span", {}, "Remove this question?"), named("Remove", "sure", remove, "bad"), named("Keep", "keep", () => { controls(); focus("remove"); }));
        focus("sure");
      }) : "");
  }
  function update(changed) {
    entry = changed;
    const tag = (text, kind = "") => element("span", { class: "tag " + kind }, text);
    root.replaceChildren(element("strong", {}, entry.question), entry.standalone !== entry.question ? element("p", { class: "quiet" }, "Understood as: ", element("q", {}, entry.standalone)) : "",
      element("div", { class: "row" }, tag(STATE_LABELS[entry.state] || entry.state, entry.state === "in use" ? "" : "note"), entry.approved ? tag("for everyone") : tag("waiting for approval", "note"), entry.query && tag(entry.query.tool === "sql" ? "SQL" : "SPARQL"),
        element("span", { class: "quiet" }, "by " + (isOwn ? "you" : entry.by) + " on " + day(entry.at))),
      entry.note ? element("p", { class: "quiet" }, entry.note) : "", buttons, out);
    controls();
  }
  update(entry);
  return root;
}

// What an entry gives now, and the query that ran.
function given(graph, ran, close) {
  const cell = (value) => (typeof value === "string" && isIri(value) ? thingLink(graph, value) : null);
  const columns = ran.columns.length ? ran.columns : ["answer"], rows = ran.columns.length ? ran.rows : ran.values.map((value) => [value]);
  return [ran.words ? element("p", {}, ran.words) : "", rows.length ? rowTable({ columns, rows, cell, name: "verified", caption: ran.entry.question }) : element("p", { class: "note" }, "It gives nothing now."),
    ran.query ? element("details", {}, element("summary", { class: "quiet" }, "Query"), element("pre", { tabindex: "0", "aria-label": "Query" }, ran.query)) : "", element("div", { class: "row" }, button("Close", close, "plain"))];
}

async function checkAll(view, own) {
  own.setAttribute("aria-disabled", "true");
  view.found.textContent = "Running them again …";
  try {
    const report = await send("POST", view.path + "/check");
    await reload(view);
    view.found.textContent = countPhrase(report.checked, "question") + " checked: " + report.changed.length + " with other values, " + report.aside.length + " not used" + (report.left ? ", " + report.left + " not reached in time" : "") + ".";
  } catch (problem) {
    view.found.textContent = "";
    view.more.replaceChildren(failureBox(problem));
  } finally {
    own.removeAttribute("aria-disabled");
  }
}
