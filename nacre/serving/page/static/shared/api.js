// Nacre's API: method and path -> a reply, or a Problem with a hint; a question -> the events of its turn.

import { $ } from "./dom.js";
import { labelOf, t } from "./words.js";

// about a minute in total, which a restart of the server may take
const RETRY_DELAYS = [200, 400, 800, 1500, 3000, ...Array(10).fill(5000)];
const MAX_RETRIES = 3;
export const access = { token: sessionStorage.getItem("nacre-key") || "" };

export class Problem extends Error {
  constructor(message, { status = 0, hint = "" } = {}) {
    super(message);
    this.status = status;
    this.hint = hint;
  }
}

// what to do about a status; 0 is no connection
const hintOf = (status) => labelOf("hint", status, "");

export async function call(method, path, body, { headers = {}, signal } = {}) {
  const token = access.token;
  const sent = { ...headers };
  if (token) sent.Authorization = "Bearer " + token;
  const isFile = body instanceof Blob;
  if (body !== undefined && !isFile) sent["Content-Type"] = "application/json";
  let reply;
  try {
    reply = await fetch(path, { method, headers: sent, signal, keepalive: method === "DELETE", body: isFile ? body : JSON.stringify(body) });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(t("unreachable"), { hint: hintOf(0) });
  }
  // the server is back; answers still offer to ask again
  for (const each of document.querySelectorAll("[data-offline]")) if (!each.closest("article")) each.remove();
  if (reply.status === 401) {
    const login = !token && reply.headers.get("X-Login");
    if (login) {
      location.assign(login + "?next=" + encodeURIComponent(location.search));
      return new Promise(() => {});
    }
    // another call may have obtained a key meanwhile
    if (token === access.token) await requestKey(token ? t("keyInvalid") : "");
    return call(method, path, body, { headers, signal });
  }
  if (!reply.ok) throw new Problem(await errorMessage(reply), { status: reply.status, hint: hintOf(reply.status) });
  return reply;
}

export const get = async (path, more) => (await call("GET", path, undefined, more)).json();
export const send = async (method, path, body) => {
  const reply = await call(method, path, body);
  return reply.status === 204 ? null : reply.json();
};
// The address of its parts; an object at the end is the query.
export function apiPath(...parts) {
  const end = typeof parts.at(-1) === "object" ? query(parts.pop()) : "";
  return "api/" + parts.map(encodeURIComponent).join("/") + end;
}
export const query = (values) => "?" + new URLSearchParams(values);

async function errorMessage(reply) {
  try {
    const { detail } = await reply.json();
    if (typeof detail === "string") return detail;
    return detail.map((each) => each.msg).join("; ");
  } catch {
    // the reply is not JSON
    return t("serverStatus", { status: reply.status + " " + reply.statusText });
  }
}

let keyRequest = null;
export function requestKey(why) {
  keyRequest ??= new Promise((done) => {
    $("key-error").textContent = why;
    $("key-error").hidden = !why;
    $("token").toggleAttribute("aria-invalid", Boolean(why));
    $("key-dialog").addEventListener("close", () => {
      access.token = $("token").value.trim();
      sessionStorage.setItem("nacre-key", access.token);
      $("key").hidden = !access.token;
      keyRequest = null;
      done();
    }, { once: true });
    $("key-dialog").showModal();
    $("token").select();
  });
  return keyRequest;
}

// The events of a turn. A broken connection is resumed; `onEvent("line", isUp)` reports it.
export async function streamTurn(body, onEvent, signal) {
  let last = null, ended = false, tries = 0;
  while (!ended) {
    try {
      const reply = last
        ? await call("GET", "api/runs/" + last.split(".")[0], undefined, { headers: { "Last-Event-ID": last }, signal })
        : await call("POST", "api/ask", body, { headers: { Accept: "text/event-stream" }, signal });
      onEvent("run", reply.headers.get("X-Run-ID"));
      if (tries) onEvent("line", true);
      for await (const event of events(reply.body)) {
        tries = 0;
        last = event.id || last;
        if (event.event === "done") ended = true;
        else onEvent(event.event, JSON.parse(event.data));
      }
    } catch (error) {
      // with several worker processes, another one may know the run
      const isRetryable = error.status === 404 && tries < MAX_RETRIES;
      if (!last || error.name === "AbortError" || (error instanceof Problem && error.status && !isRetryable)) throw error;
    }
    if (ended) return;
    if (tries === RETRY_DELAYS.length) throw new Problem(t("connectionLost"), { hint: hintOf(0) });
    if (!tries) onEvent("line", false);
    await new Promise((wait) => setTimeout(wait, RETRY_DELAYS[tries++]));
  }
}

async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const event = {};
      for (const line of block.split("\n")) {
        const at = line.indexOf(": ");
        if (at > 0) event[line.slice(0, at)] = line.slice(at + 2);
      }
      if (event.event) yield event;
    }
  }
}

$("key-dialog").addEventListener("cancel", (event) => event.preventDefault());
