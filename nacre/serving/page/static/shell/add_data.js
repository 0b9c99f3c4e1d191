// Files in parts, or an address -> a graph, with progress and what it can be asked; delete a graph.

import { $, Problem, announce, apiPath, block, button, call, card, countPhrase, day, element, failureBox, faint, get, h2, h3, iconButton, isKnown, item, labelOf, language, navigate, notifyTabs, pageLink, para, quiet, row, send, state, t, summaryOf } from "../shared/page.js";
import { askQuestion } from "./conversation.js";
import { loadGraphs } from "./welcome.js";

const PART = 8 << 20, POLL_DELAY = 700, EXAMPLES = 3, MAX_TRIES = 60, RETRY_DELAY = 2000;
// what the server prints, in the reader's language as far as the patterns of its file know it
const PATTERNS = language === "en" ? [] : await (await fetch("static/words/lines/" + language + ".json")).json();
export const translate = (line) => PATTERNS.length ? PATTERNS.reduce((text, [pattern, words]) => text.replace(new RegExp(pattern, "gu"), words), line).replace(/\b\d{1,3}(,\d{3})+\b|\b\d+\.\d(?= s$)/g, (found) => Number(found.replaceAll(",", "")).toLocaleString(language)) : line;
// the steps of reading files, each with its last stage; lines that are no report: how much is done of how much, that a stage ended, the version
const STEPS = [["stepRead", "parse"], ["stepTables", "names"], ["stepSentences", "index"], ["stepPublish", "publish"], ["stepVectors", "vectors"]], STAGE = /^(?:(\w+): ([\d,]+)(?: of ([\d,]+))?|(\w+): [\d.]+ s|'.+' is now version .+)$/;

export function showAddData(wanted) {
  $("about").textContent = t("addData");
  const list = element("ul", { class: "terms" }), files = filesForm(wanted, () => drawGraphs());
  const drawGraphs = () => list.replaceChildren(...state.graphs.map((each) => graphItem(each)));
  drawGraphs();
  const attaching = element("div");
  $("look").replaceChildren(h2(t("addData")), files, attaching, card(h3("graphsHere"), list));
  if (state.choices.attaches) import("../../attach/files/attach.js").then(({ attachForm }) => attaching.replaceWith(attachForm(drawGraphs)));
}

// The name that a graph may have for words: "faehre-test" for "Fähre Test".
const graphName = (words) => words.toLowerCase().replaceAll("ß", "ss").normalize("NFD").replace(/([aou])\u0308/g, "$1e").replace(/\p{M}/gu, "").replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 64);

// The name of the graph; if there is one of this name, what becomes of it. `adds` takes another name.
export function nameFields(view, label, name, adds) {
  view.name = element("input", { maxlength: "64", autocomplete: "off", value: name });
  view.replace = element("input", { type: "checkbox" });
  const line = element("label", { class: "check" }, view.replace, t("replaceGraph"));
  const note = element("p", { class: "quiet", role: "status" });
  const update = () => {
    line.hidden = !isKnown(view.name.value);
    note.replaceChildren(...(adds && !line.hidden && !view.replace.checked ? [t("filesAdded", { name: view.name.value }), " ", button(t("asNewGraph"), adds, "plain")] : []));
  };
  for (const each of [view.name, view.replace]) each.addEventListener("input", update);
  view.name.addEventListener("change", () => { view.name.value = graphName(view.name.value); update(); });
  update();
  return [element("label", { class: "field" }, label, view.name), line, note];
}

function filesForm(name, done) {
  const view = { files: [], items: new Map(), done, status: block("upload-status") };
  view.pick = element("input", { type: "file", multiple: true, "aria-label": t("files"), onchange: () => addFiles(view, view.pick.files) });
  view.list = element("ul", { class: "terms" });
  view.start = element("button", { class: "main", type: "submit" }, t("readFiles"));
  const zone = block("drop", para(null, t("dropHere")), view.pick,
    quiet(t("fileKinds")));
  for (const kind of ["dragover", "dragenter"]) zone.addEventListener(kind, (event) => { event.preventDefault(); zone.classList.add("over"); });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => { event.preventDefault(); zone.classList.remove("over"); addFiles(view, event.dataTransfer.files); });
  return element("form", { class: "card", novalidate: true, onsubmit: (event) => { event.preventDefault(); run(view, sendFiles); } }, zone, view.list, nameFields(view, t("graphName"), name, () => { view.name.value = ""; addFiles(view, []); view.name.focus(); }), row(view.start), view.status);
}

function addFiles(view, files) {
  view.files.push(...files);
  view.list.replaceChildren(...view.files.map((file) => view.items.get(file) || fileItem(view, file)));
  if (!view.name.value) {
    view.name.value = graphName((view.files[0]?.name || "").replace(/\..*$/, ""));
    view.name.dispatchEvent(new Event("input"));
  }
}

// A file by its name; a table with its first rows, if the server can show them.
function fileItem(view, file) {
  const root = item(element("span", {}, file.name, " ", faint(countPhrase(file.size, "byte")), " ", iconButton("close", t("leaveOut", { name: file.name }), () => { view.files.splice(view.files.indexOf(file), 1); addFiles(view, []); view.pick.value = ""; view.pick.focus(); }, { class: "icon small" })));
  view.items.set(file, root);
  if (state.choices.previewed.some((each) => file.name.toLowerCase().endsWith(each))) {
    const reading = para("working", t("loading"));
    root.append(reading);
    import("../../tables/files/preview.js").then(async ({ preview, sayLinks }) => {
      const shown = await preview(file, sendPart), tell = () => sayLinks(isKnown(view.name.value) && !view.replace.checked ? view.name.value : "");
      reading.replaceWith(shown);
      root.metadata = shown.metadata;
      view.name.onchange = view.replace.onchange = tell;
      await tell();
    });
  }
  return root;
}

function show(view, ...content) {
  view.status.replaceChildren(...content);
  view.status.scrollIntoView({ block: "nearest" });
}

// Send what a form has and follow what becomes of it; `begin` returns the id of the upload.
export async function run(view, begin) {
  view.start.disabled = true;
  try {
    if (!view.name.value) {
      view.name.focus();
      throw new Problem(t("badGraphName"));
    }
    await follow(view, await begin(view));
  } catch (problem) {
    show(view, failureBox(problem));
  } finally {
    view.start.disabled = false;
  }
}

async function sendFiles(view) {
  if (!view.files.length) throw new Problem(t("selectFiles"));
  const { upload } = await send("POST", "api/uploads"), graph = view.name.value, replace = view.replace.checked;
  try {
    const stated = view.files.map((file) => view.items.get(file).metadata?.()).filter((each) => each && !view.files.some(({ name }) => name === each.name));
    for (const file of [...view.files, ...stated]) await sendFile(view, upload, file);
    await send("POST", apiPath("uploads", upload), { graph, replace, add: !replace && isKnown(graph) });
  } catch (problem) {
    call("DELETE", apiPath("uploads", upload)).catch(() => {
      // the server removes it after a day
    });
    throw problem;
  }
  return upload;
}

// Send a file part by part, so that no request is large.
async function sendFile(view, upload, file) {
  for (let sent = 0; sent < file.size || !sent; sent += PART) {
    show(view, para("working", t("sending", { name: file.name, percent: Math.round((100 * sent) / Math.max(1, file.size)) })));
    await online(() => sendPart(upload, file, sent));
  }
}

async function sendPart(upload, file, sent) {
  const end = Math.min(sent + PART, file.size);
  try {
    await call("PUT", apiPath("uploads", upload, "files", { name: file.name, offset: sent }), file.slice(sent, end));
  } catch (problem) {
    // a part whose reply was lost has arrived all the same
    if (!problem.message.includes(" has " + end + " bytes")) throw problem;
  }
}

// The result of a request that is sent again while the server can't be reached, as when a phone sleeps.
async function online(request) {
  for (let tries = 0; ; tries++) {
    try {
      return await request();
    } catch (problem) {
      if (problem.status || tries === MAX_TRIES) throw problem;
      await new Promise((wait) => setTimeout(wait, RETRY_DELAY));
    }
  }
}

// The stages of reading by the lines of the server: what is done, how far the next one is, and what comes after it.
function stepList(lines) {
  const [, stage, done, all] = STAGE.exec(lines.at(-1)) || [], ended = lines.flatMap((each) => STAGE.exec(each)?.[4] || []), at = STEPS.findIndex(([, last]) => !ended.includes(last));
  const count = (text) => countPhrase(Number(text.replaceAll(",", "")), stage === "parse" ? "row" : "passage");
  const far = done && !ended.includes(stage) && t(all ? "soFarOf" : "soFar", { n: count(done), all: all && count(all) });
  return element("ol", { class: "steps" }, STEPS.map(([key], i) => element("li", { class: i < at ? "done" : i === at && "busy" }, t(key), i === at && far)));
}

// Show the progress until the end, then the new graph.
async function follow(view, upload) {
  for (;;) {
    const now = await online(() => get(apiPath("uploads", upload)));
    const report = now.lines.filter((each) => !STAGE.test(each));
    const lines = report.length > 0 && element("details", {}, summaryOf(t("uploadLog")), element("pre", { class: "progress", tabindex: "0", "aria-label": t("uploadLog") }, report.map(translate).join("\n")));
    if (now.phase === "running") {
      show(view, now.address ? para("working", t("readingAddress", { address: now.address })) : stepList(now.lines), button(t("stop"), () => call("DELETE", apiPath("uploads", upload))));
      await new Promise((wait) => setTimeout(wait, POLL_DELAY));
      continue;
    }
    announce(labelOf("phase", now.phase));
    if (now.phase !== "done") { show(view, failureBox({ message: labelOf("phase", now.phase), hint: translate(now.reason || now.lines.at(-1)) }), lines); return; }
    await loadGraphs(now.graph);
    notifyTabs({ kind: "graphs" });
    if (view.files) { view.files = []; addFiles(view, []); view.pick.value = ""; }
    view.name.dispatchEvent(new Event("input"));
    view.done();
    const about = state.graphs.find((each) => each.name === now.graph), examples = block("options");
    show(view, para(null, labelOf("phase", "done"), " ", about && countPhrase(about.things, "thing") + ", " + countPhrase(about.classes, "class") + ". ", pageLink({ graph: now.graph }, t("askName", { name: now.graph }))), examples, lines);
    const found = await get(apiPath("graphs", now.graph, "examples"));
    examples.append(...found.slice(0, EXAMPLES).map((each) => button(each, () => askQuestion(each), "chip")));
    return;
  }
}

function graphItem({ name, version, problem, classes, things, triples, texts }) {
  // a version begins with the day it was made on
  const made = version && t("readOn", { date: day(version.replace(/^(\d{4})(\d\d)(\d\d).*/, "$1-$2-$3")) });
  const size = problem || [countPhrase(classes, "class"), countPhrase(things, "thing"), countPhrase(triples, "fact"), texts && countPhrase(texts, "text"), made].filter(Boolean).join(", ");
  const root = element("li"), begin = () => root.replaceChildren(row(pageLink({ graph: name }, name), faint(size)),
    row(button(t("addFiles"), () => navigate({ add: name }), "", { "aria-label": t("addFilesTo", { name }) }), button(t("deleteMore"), ask, "bad", { "aria-label": t("deleteGraph", { name }) })));
  const ask = () => { root.replaceChildren(row(t("deleteWithData", { name }), button(t("delete"), remove, "bad"), button(t("keep"), begin))); root.querySelector("button:last-child").focus(); };
  async function remove() {
    try {
      await call("DELETE", apiPath("graphs", name, { confirm: name }));
    } catch (problem) { root.append(failureBox(problem)); return; }
    announce(t("deleted"));
    await loadGraphs();
    notifyTabs({ kind: "graphs" });
    navigate({ add: "" });
  }
  begin();
  return root;
}
