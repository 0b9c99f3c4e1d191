// Bring your own data: files in parts, or an address -> a graph, with progress and what it can be asked; delete a graph.

import { $, access, announce, apiPath, button, call, countPhrase, element, failureBox, faint, get, inRow, navigate, pageAddress, Problem, quiet, send, state, t } from "../shared/page.js";
import { askQuestion } from "./conversation.js";
import { loadGraphs } from "./welcome.js";

const PART = 8 << 20, POLL_DELAY = 700, EXAMPLES = 3, MAX_TRIES = 60, RETRY_DELAY = 2000;
const DONE = { done: t("graphReady"), failed: t("filesUnread"), cancelled: t("stoppedUnchanged") };

export function showAddData() {
  $("about").textContent = t("addData");
  $("look").replaceChildren(element("h2", {}, t("addData")), filesForm(), attachForm(),
    element("section", { class: "card" }, element("h3", {}, t("graphsHere")), element("ul", { class: "terms" }, state.graphs.map((each) => graphItem(each.name)))));
}

// The name of the new graph, and a confirmation if there is one of this name.
function nameFields(view, label) {
  view.name = element("input", { maxlength: "64", pattern: "[a-z0-9][a-z0-9\\-]*", required: true, autocomplete: "off", spellcheck: "false" });
  view.replace = element("input", { type: "checkbox" });
  const line = element("label", { class: "check", hidden: true }, view.replace, t("replaceGraph"));
  view.name.addEventListener("input", () => { line.hidden = !state.graphs.some((each) => each.name === view.name.value); });
  return [element("label", { class: "field" }, label, view.name), line];
}

function filesForm() {
  const view = { files: [], upload: null, status: element("div", { class: "upload-status" }) };
  view.pick = element("input", { type: "file", multiple: true, "aria-label": t("files"), onchange: () => addFiles(view, view.pick.files) });
  view.list = element("ul", { class: "terms" });
  view.start = element("button", { class: "main", type: "submit" }, t("readFiles"));
  const zone = element("div", { class: "drop" }, element("p", {}, t("dropHere")), view.pick,
    quiet(t("fileKinds")));
  for (const kind of ["dragover", "dragenter"]) zone.addEventListener(kind, (event) => { event.preventDefault(); zone.classList.add("over"); });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => { event.preventDefault(); zone.classList.remove("over"); addFiles(view, event.dataTransfer.files); });
  return element("form", { class: "card", onsubmit: (event) => { event.preventDefault(); read(view); } }, zone, view.list, nameFields(view, t("graphName")), inRow(view.start), view.status);
}

// The form for an address; without named hosts, how the operator allows them.
function attachForm() {
  const hosts = state.choices.attach_hosts, head = element("h3", {}, t("attachHead"));
  if (!hosts.length) return element("section", { class: "card" }, head, quiet(t("attachOff"), " ", element("code", {}, "NACRE_ATTACH_HOSTS=HOST,HOST:PORT"), " · ", element("code", {}, t("attachCommand"))));
  const view = { upload: null, status: element("div", { class: "upload-status" }) };
  view.address = element("input", { type: "text", inputmode: "url", maxlength: "500", required: true, autocomplete: "off", spellcheck: "false", placeholder: "https:" + "//" + hosts[0] + "/sparql" });
  view.start = element("button", { class: "main", type: "submit" }, t("attach"));
  return element("form", { class: "card", onsubmit: (event) => { event.preventDefault(); attach(view); } }, head,
    quiet(t("attachHosts", { hosts: hosts.join(", ") })),
    element("label", { class: "field" }, t("attachAddress"), view.address), nameFields(view, t("attachName")), inRow(view.start), view.status);
}

function addFiles(view, files) {
  view.files.push(...files);
  view.list.replaceChildren(...view.files.map((file) => element("li", {}, element("span", {}, file.name, " ", faint(countPhrase(file.size, "byte"))))));
  if (!view.name.value && files.length) {
    view.name.value = files[0].name.toLowerCase().replace(/\..*$/, "").replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 64);
    view.name.dispatchEvent(new Event("input"));
  }
}

function show(view, ...content) {
  view.status.replaceChildren(...content);
  view.status.scrollIntoView({ block: "nearest" });
}

async function read(view) {
  if (!view.files.length) { show(view, failureBox({ message: t("selectFiles") })); return; }
  let started = false;
  view.start.disabled = true;
  try {
    view.upload = (await send("POST", "api/uploads")).upload;
    for (const file of view.files) await sendFile(view, file);
    await send("POST", apiPath("uploads", view.upload), { graph: view.name.value, replace: view.replace.checked });
    started = true;
    await follow(view);
  } catch (problem) {
    if (view.upload && !started) call("DELETE", apiPath("uploads", view.upload)).catch(() => {
      // the server removes it after a day
    });
    show(view, failureBox(problem));
  } finally {
    view.start.disabled = false;
  }
}

async function attach(view) {
  view.start.disabled = true;
  try {
    view.upload = (await send("POST", "api/attachments", { address: view.address.value, graph: view.name.value, replace: view.replace.checked })).upload;
    await follow(view);
  } catch (problem) {
    show(view, failureBox(problem));
  } finally {
    view.start.disabled = false;
  }
}

// Send a file part by part, so that no request is large.
async function sendFile(view, file) {
  for (let sent = 0; sent < file.size || !sent; sent += PART) {
    show(view, element("p", { class: "working" }, t("sending", { name: file.name, percent: Math.round((100 * sent) / Math.max(1, file.size)) })));
    await online(() => sendPart(view, file, sent));
  }
}

async function sendPart(view, file, sent) {
  let reply;
  try {
    reply = await fetch(apiPath("uploads", view.upload, "files", { name: file.name, offset: sent }), { method: "PUT", body: file.slice(sent, sent + PART), headers: access.token ? { Authorization: "Bearer " + access.token } : {} });
  } catch {
    throw new Problem(t("sendingLost", { name: file.name }));
  }
  if (reply.ok) return;
  const { detail } = await reply.json(), size = Math.min(sent + PART, file.size);
  // a part whose reply was lost has arrived all the same
  if (typeof detail === "string" && detail.includes(" has " + size + " bytes")) return;
  throw new Problem(typeof detail === "string" ? detail : t("fileRefused"), { status: reply.status });
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

// Show the progress until the end, then the new graph.
async function follow(view) {
  for (;;) {
    const now = await online(() => get(apiPath("uploads", view.upload)));
    const lines = element("pre", { class: "progress", tabindex: "0", "aria-label": t("progress") }, now.lines.join("\n"));
    if (now.phase === "running") {
      show(view, element("p", { class: "working" }, now.address ? t("readingAddress", { address: now.address }) : t("readingFiles")), lines, button(t("stop"), () => call("DELETE", apiPath("uploads", view.upload))));
      await new Promise((wait) => setTimeout(wait, POLL_DELAY));
      continue;
    }
    announce(DONE[now.phase]);
    if (now.phase !== "done") { show(view, failureBox({ message: DONE[now.phase], hint: now.reason }), lines); return; }
    await loadGraphs(now.graph);
    const about = state.graphs.find((each) => each.name === now.graph), examples = element("div", { class: "options" });
    show(view, element("p", {}, DONE.done, " ", about && countPhrase(about.things, "thing") + ", " + countPhrase(about.classes, "class") + ". ", element("a", { href: pageAddress({ graph: now.graph }) }, t("askName", { name: now.graph }))), examples, lines);
    const found = await get(apiPath("graphs", now.graph, "examples"));
    examples.append(...found.slice(0, EXAMPLES).map((each) => button(each, () => askQuestion(each), "chip")));
    return;
  }
}

function graphItem(name) {
  const root = element("li"), begin = () => root.replaceChildren(inRow(element("a", { href: pageAddress({ graph: name }) }, name), button(t("deleteMore"), ask, "bad", { "aria-label": t("deleteGraph", { name }) })));
  const ask = () => { root.replaceChildren(inRow(t("deleteWithData", { name }), button(t("delete"), remove, "bad"), button(t("keep"), begin))); root.querySelector("button:last-child").focus(); };
  async function remove() {
    try {
      await call("DELETE", apiPath("graphs", name, { confirm: name }));
    } catch (problem) { root.append(failureBox(problem)); return; }
    announce(t("deleted"));
    await loadGraphs();
    navigate({ add: "" });
  }
  begin();
  return root;
}
