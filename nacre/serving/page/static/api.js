// Nacre's API: a method and a path -> a reply, or a Problem that says what to do; a question -> its events.

import { $ } from "./dom.js";

// about a minute: a server that is restarted may take that long
const PAUSES = [200, 400, 800, 1500, 3000, ...Array(10).fill(5000)];
const KNOCKS = 3;
export const access = { token: sessionStorage.getItem("nacre-key") || "" };

export class Problem extends Error {
  constructor(message, { status = 0, todo = "" } = {}) {
    super(message);
    this.status = status;
    this.todo = todo;
  }
}

const TODO = {
  0: "Check that nacre serve is running, and your connection.",
  409: "Begin a new conversation.",
  413: "Shorten it.",
  429: "Wait a moment.",
  500: "The server's log says why.",
  503: "Try again in a moment.",
};

export async function call(method, path, body, { headers = {}, signal } = {}) {
  const used = access.token;
  const sent = { ...headers };
  if (used) sent.Authorization = "Bearer " + used;
  if (body !== undefined) sent["Content-Type"] = "application/json";
  let reply;
  try {
    reply = await fetch(path, { method, headers: sent, signal, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem("The server can't be reached.", { todo: TODO[0] });
  }
  if (reply.status === 401) {
    // another call may have brought a key meanwhile
    if (used === access.token) await enter(used ? "The server does not know this key. Check it, and try again." : "");
    return call(method, path, body, { headers, signal });
  }
  if (!reply.ok) throw new Problem(await told(reply), { status: reply.status, todo: TODO[reply.status] || "" });
  return reply;
}

export const get = async (path, more) => (await call("GET", path, undefined, more)).json();
export const send = async (method, path, body) => {
  const reply = await call(method, path, body);
  return reply.status === 204 ? null : reply.json();
};
export const place = (...parts) => "/api/" + parts.map(encodeURIComponent).join("/");

async function told(reply) {
  try {
    const { detail } = await reply.json();
    if (typeof detail === "string") return detail;
    return detail.map((each) => each.msg).join("; ");
  } catch {
    // no JSON: the status alone says it
    return "The server answered " + reply.status + " " + reply.statusText + ".";
  }
}

let entering = null;
export function enter(why) {
  entering ??= new Promise((done) => {
    $("door-why").textContent = why;
    $("door-why").hidden = !why;
    $("token").toggleAttribute("aria-invalid", Boolean(why));
    $("door").addEventListener("close", () => {
      access.token = $("token").value.trim();
      sessionStorage.setItem("nacre-key", access.token);
      $("key").hidden = !access.token;
      entering = null;
      done();
    }, { once: true });
    $("door").showModal();
    $("token").select();
  });
  return entering;
}

// The events of a turn, to its end. A line that breaks is taken up again where it broke; `each("line", up)` says so.
export async function ask(body, each, signal) {
  let last = null, ended = false, tries = 0;
  while (!ended) {
    try {
      const reply = last
        ? await call("GET", "/api/runs/" + last.split(".")[0], undefined, { headers: { "Last-Event-ID": last }, signal })
        : await call("POST", "/api/ask", body, { headers: { Accept: "text/event-stream" }, signal });
      each("run", reply.headers.get("X-Run-ID"));
      if (tries) each("line", true);
      for await (const event of events(reply.body)) {
        tries = 0;
        last = event.id || last;
        if (event.event === "done") ended = true;
        else each(event.event, JSON.parse(event.data));
      }
    } catch (error) {
      // of several processes behind one address the next one may know the run
      const elsewhere = error.status === 404 && tries < KNOCKS;
      if (!last || error.name === "AbortError" || (error instanceof Problem && error.status && !elsewhere)) throw error;
    }
    if (ended) return;
    if (tries === PAUSES.length) throw new Problem("The connection was lost in the middle of the answer.", { todo: TODO[0] });
    if (!tries) each("line", false);
    await new Promise((wait) => setTimeout(wait, PAUSES[tries++]));
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

$("door").addEventListener("cancel", (event) => event.preventDefault());
