// The verified questions of a graph: search, what they give now, approval, removal.

import { $, addWords, announce, apiPath, block, button, card, countPhrase, day, element, failureBox, faint, get, isIri, para, query, quiet, row, searchField, send, t, thingLink } from "../../static/shared/page.js";
import { remove as erase } from "../../static/turn/feedback.js";
import { rowTable } from "../../static/turn/table.js";
import { browse, latestRequest, look } from "../../static/shell/browse.js";

await addWords("verified/files/");

const PAGE = 50, SEARCH_DELAY = 200;
const ASIDE = ["failed", "empty", "changed kind", "contradicted", "replaced"];
const STATE_LABELS = {
  "in use": t("stateInUse"), failed: t("stateFailed"), empty: t("stateEmpty"), "changed kind": t("stateChanged"), contradicted: t("stateContradicted"), replaced: t("stateReplaced"),
};
const SHOWN = { all: t("all"), waiting: t("waitingForApproval"), aside: t("notUsed") };

export function showVerified(graph) {
  const view = { graph, path: apiPath("graphs", graph, "verified"), shown: "all", requests: 0, list: element("ul", { class: "terms" }), found: element("p", { class: "quiet", role: "status" }), more: row() };
  return browse(graph, () => load(view, 0), (page, own) => {
    $("about").textContent = t("verifiedOf", { graph });
    draw(Object.assign(view, { own }), page);
  });
}

const load = (view, skip) => get(view.path + query([["limit", PAGE], ["skip", skip], ["search", view.search?.value || ""], ["waiting", view.shown === "waiting"], ...(view.shown === "aside" ? ASIDE.map((each) => ["state", each]) : [])]));

function draw(view, page) {
  let timer = 0;
  view.search = searchField(t("searchVerified"), () => { clearTimeout(timer); timer = setTimeout(() => reload(view), SEARCH_DELAY); });
  const select = element("select", { "aria-label": t("whichShown"), onchange: () => { view.shown = select.value; reload(view); } }, Object.entries(SHOWN).map(([value, label]) => element("option", { value }, label)));
  const check = button(t("checkAll"), () => checkAll(view, check), "", { title: t("checkAllTitle") });
  look(view.graph, element("h2", {}, t("verifiedQuestions")),
    para(null, t("verifiedLead")),
    quiet(t(page.may_approve ? "verifiedMayApprove" : "verifiedOwn")),
    page.calibration ? quiet(calibrated(page.calibration)) : "",
    card(row(view.search, select, check), view.found, view.list, view.more));
  append(view, page, 0);
  if (matchMedia("(pointer: fine)").matches) view.search.focus();
}

// What approved questions say of the probabilities of the graph.
const calibrated = ({ shift, asked, right, undone }) => (undone ? t("calibrationUndone") : t("calibrated", { asked, right, how: t(shift > 0 ? "higherThan" : shift < 0 ? "lowerThan" : "staysAs") }));

async function reload(view) {
  const request = ++view.requests;
  try {
    const page = await load(view, 0);
    if (request === view.requests && view.own === latestRequest) append(view, page, 0);
  } catch (problem) {
    view.more.replaceChildren(failureBox(problem, button(t("tryAgain"), () => reload(view))));
  }
}

function append(view, page, skip) {
  const rows = page.questions.map((entry) => item(view, page, entry));
  if (skip) view.list.append(...rows); else view.list.replaceChildren(...rows);
  const shown = view.list.children.length;
  view.found.textContent = shown ? countPhrase(shown, "question") + (page.more ? t("shownLatest") : "") : view.search.value || view.shown !== "all" ? t("noneFound") : t("noneVerified");
  view.more.replaceChildren(page.more ? button(t("showMore"), async () => {
    const request = view.requests;
    try {
      const next = await load(view, shown);
      if (request === view.requests) { append(view, next, shown); view.list.children[shown]?.querySelector("button").focus(); }
    } catch (problem) {
      view.more.append(failureBox(problem));
    }
  }, "chip") : "");
}

function item(view, page, entry) {
  const isOwn = entry.by === page.owner, out = block("rows"), buttons = row();
  const root = element("li", { "aria-label": entry.question });
  const address = (...parts) => apiPath("graphs", view.graph, "verified", entry.id, ...parts, { by: entry.by });
  // `waiting` words stand until the action has ended
  const act = async (waiting, action) => {
    if (root.getAttribute("aria-busy")) return;
    root.setAttribute("aria-busy", "true");
    out.replaceChildren(para("working", waiting));
    try { await action(); } catch (problem) { out.replaceChildren(failureBox(problem)); } finally { root.removeAttribute("aria-busy"); }
  };
  const run = () => act(t("running"), async () => {
    const ran = await send("POST", address("run"));
    update(ran.entry);
    out.replaceChildren(...given(view.graph, ran, () => { out.replaceChildren(); focus("run"); }));
    announce(ran.values.length ? countPhrase(ran.values.length, "value") : t("givesNothing"));
  });
  const approve = (approved) => act(t("saving"), async () => {
    update(await send("POST", apiPath("graphs", view.graph, "verified", entry.id, "approve"), { by: entry.by, approved, at: entry.at }));
    out.replaceChildren();
    announce(t(approved ? "approved" : "approvalTaken"));
    focus("approve");
  });
  const remove = () => act(t("removing"), async () => {
    await erase(address());
    const next = root.nextElementSibling || root.previousElementSibling;
    root.remove();
    view.found.textContent = t("removed");
    (next?.querySelector("button") || view.search).focus();
  });
  const focus = (name) => buttons.querySelector("[data-action=" + name + "]")?.focus();
  const named = (label, name, onclick, kind = "") => button(label, onclick, kind, { "data-action": name, "aria-label": label + ": " + entry.question });
  function controls() {
    buttons.replaceChildren(named(t("run"), "run", run), page.may_approve ? named(t(entry.approved ? "takeApprovalBack" : "approve"), "approve", () => approve(!entry.approved), entry.approved ? "" : "main") : "",
      isOwn || page.may_approve ? named(t("remove"), "remove", () => {
        buttons.replaceChildren(element("span", {}, t("removeQuestion")), named(t("remove"), "sure", remove, "bad"), named(t("keep"), "keep", () => { controls(); focus("remove"); }));
        focus("sure");
      }) : "");
  }
  function update(changed) {
    entry = changed;
    const tag = (text, kind = "") => element("span", { class: "tag " + kind }, text);
    root.replaceChildren(element("strong", {}, entry.question),
      row(tag(STATE_LABELS[entry.state] || entry.state, entry.state === "in use" ? "" : "note"), entry.approved ? tag(t("forEveryone")) : tag(SHOWN.waiting, "note"), entry.query && tag(entry.query.tool === "sql" ? "SQL" : "SPARQL"),
        faint(t("byOn", { by: isOwn ? t("you") : page.names?.[entry.by] || entry.by, date: day(entry.at) }))),
      entry.note ? quiet(entry.note) : "", buttons, out);
    controls();
  }
  update(entry);
  return root;
}

// What an entry gives now, and the query that ran.
function given(graph, ran, close) {
  const cell = (value) => (typeof value === "string" && isIri(value) ? thingLink(graph, value) : null);
  const columns = ran.columns.length ? ran.columns : [t("columnAnswer")], rows = ran.columns.length ? ran.rows : ran.values.map((value) => [value]);
  return [ran.words ? para(null, ran.words) : "", rows.length ? rowTable({ columns, rows, cell, name: "verified", caption: ran.entry.question }) : para("note", t("givesNothingNow")),
    ran.query ? element("details", {}, element("summary", { class: "quiet" }, t("theQuery")), element("pre", { tabindex: "0", "aria-label": t("theQuery") }, ran.query)) : "", row(button(t("close"), close, "plain"))];
}

async function checkAll(view, own) {
  own.setAttribute("aria-disabled", "true");
  view.found.textContent = t("runningAgain");
  try {
    const report = await send("POST", view.path + "/check");
    await reload(view);
    view.found.textContent = t("checkReport", { what: countPhrase(report.checked, "checkedQuestion"), changed: report.changed.length, aside: report.aside.length }) + (report.left ? t("notReached", { n: report.left }) : "") + ".";
  } catch (problem) {
    view.found.textContent = "";
    view.more.replaceChildren(failureBox(problem));
  } finally {
    own.removeAttribute("aria-disabled");
  }
}
