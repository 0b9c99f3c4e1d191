// Bring your own data: files -> an upload in parts, its ingest with progress, and the new graph; delete a graph.

import { access, call, get, apiPath, Problem, send } from "../shared/api.js";
import { $, announce, button, countPhrase, element, failureBox } from "../shared/dom.js";
import { navigate, pageAddress, state } from "../shared/state.js";
import { t } from "../shared/words.js";
import { loadGraphs } from "./welcome.js";

const PART = 8 << 20, POLL_DELAY = 700;
const DONE = { done: t("graphReady"), failed: t("filesUnread"), cancelled: t("stoppedUnchanged") };

export function showAddData() {
  const view = { files: [], upload: null };
  view.name = element("input", { maxlength: "64", pattern: "[a-z0-9][a-z0-9\\-]*", required: true, autocomplete: "off", spellcheck: "false" });
  view.replace = element("input", { type: "checkbox" });
  view.replaceLine = element("label", { class: "check", hidden: true }, view.replace, t("replaceGraph"));
  view.name.addEventListener("input", () => { view.replaceLine.hidden = !state.graphs.some((each) => each.name === view.name.value); });
  view.pick = element("input", { type: "file", multiple: true, "aria-label": t("files"), onchange: () => addFiles(view, view.pick.files) });
  view.list = element("ul", { class: "terms" });
  view.status = element("div", { class: "upload-status" });
  view.start = element("button", { class: "main", type: "submit" }, t("readFiles"));
  const zone = element("div", { class: "drop" }, element("p", {}, t("dropHere")), view.pick,
    element("p", { class: "quiet" }, t("fileKinds")));
  for (const kind of ["dragover", "dragenter"]) zone.addEventListener(kind, (event) => { event.preventDefault(); zone.classList.add("over"); });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => { event.preventDefault(); zone.classList.remove("over"); addFiles(view, event.dataTransfer.files); });
  $("about").textContent = t("addData");
  $("look").replaceChildren(element("h2", {}, t("addData")), element("form", { class: "card", onsubmit: (event) => { event.preventDefault(); read(view); } }, zone, view.list,
    element("label", { class: "field" }, t("graphName"), view.name), view.replaceLine, element("div", { class: "row" }, view.start)), view.status,
  element("section", { class: "card" }, element("h3", {}, t("graphsHere")), element("ul", { class: "terms" }, state.graphs.map((each) => graphItem(each.name)))));
}

function addFiles(view, files) {
  view.files.push(...files);
  view.list.replaceChildren(...view.files.map((file) => element("li", {}, element("span", {}, file.name, " ", element("span", { class: "quiet" }, countPhrase(file.size, "byte"))))));
  if (!view.name.value && files.length) {
    view.name.value = files[0].name.toLowerCase().replace(/\..*$/, "").replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 64);
    view.name.dispatchEvent(new Event("input"));
  }
}

const show = (view, ...content) => view.status.replaceChildren(...content);

async function read(view) {
  if (!view.files.length) { show(view, failureBox({ message: t("selectFiles") })); return; }
  view.start.disabled = true;
  try {
    view.upload = (await send("POST", "/api/uploads")).upload;
    for (const file of view.files) await sendFile(view, file);
    await send("POST", apiPath("uploads", view.upload), { graph: view.name.value, replace: view.replace.checked });
    await follow(view);
  } catch (problem) {
    if (view.upload) call("DELETE", apiPath("uploads", view.upload)).catch(() => {
      // the server removes it after a day
    });
    show(view, failureBox(problem));
  } finally {
    view.start.disabled = false;
  }
}

// Send a file part by part, so that no request is large.
async function sendFile(view, file) {
  for (let sent = 0; sent < file.size || !sent; sent += PART) {
    show(view, element("p", { class: "working" }, t("sending", { name: file.name, percent: Math.round((100 * sent) / Math.max(1, file.size)) })));
    const reply = await fetch(apiPath("uploads", view.upload, "files") + "?" + new URLSearchParams({ name: file.name, offset: sent }), { method: "PUT", body: file.slice(sent, sent + PART), headers: access.token ? { Authorization: "Bearer " + access.token } : {} });
    if (!reply.ok) throw new Problem((await reply.json()).detail || t("fileRefused"), { status: reply.status });
  }
}

// Show the progress until the end, then the new graph.
async function follow(view) {
  for (;;) {
    const now = await get(apiPath("uploads", view.upload));
    const lines = element("pre", { class: "progress", tabindex: "0", "aria-label": t("progress") }, now.lines.join("\n"));
    if (now.phase === "running") {
      show(view, element("p", { class: "working" }, t("readingFiles")), lines, button(t("stop"), () => call("DELETE", apiPath("uploads", view.upload))));
      await new Promise((wait) => setTimeout(wait, POLL_DELAY));
      continue;
    }
    announce(DONE[now.phase]);
    show(view, now.phase === "done" ? element("p", {}, DONE.done, " ", element("a", { href: pageAddress({ graph: now.graph }) }, t("askName", { name: now.graph }))) : failureBox({ message: DONE[now.phase] }), lines);
    if (now.phase === "done") await loadGraphs(now.graph);
    return;
  }
}

function graphItem(name) {
  const root = element("li"), begin = () => root.replaceChildren(element("div", { class: "row" }, element("a", { href: pageAddress({ graph: name }) }, name), button(t("deleteMore"), ask, "bad", { "aria-label": t("deleteGraph", { name }) })));
  const ask = () => { root.replaceChildren(element("div", { class: "row" }, t("deleteWithData", { name }), button(t("delete"), remove, "bad"), button(t("keep"), begin))); root.querySelector("button:last-child").focus(); };
  async function remove() {
    try {
      await call("DELETE", apiPath("graphs", name) + "?" + new URLSearchParams({ confirm: name }));
    } catch (problem) { root.append(failureBox(problem)); return; }
    announce(t("deleted"));
    await loadGraphs();
    navigate({ add: "" });
  }
  begin();
  return root;
}
