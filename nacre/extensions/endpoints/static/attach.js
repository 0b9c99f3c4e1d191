// Attach an endpoint or a database: an address -> a graph whose data stays where it is.

import { addWords, block, card, element, h3, quiet, row, send, state, t } from "../../static/shared/page.js";
import { nameFields, run } from "../../static/shell/add_data.js";

await addWords("attach/files/");

// The form for an address; without named hosts, how the operator allows them.
export function attachForm(done) {
  const hosts = state.choices.attach_hosts, head = h3("attachHead");
  if (!hosts.length) return card(head, quiet(t("attachOff"), " ", element("code", {}, "NACRE_ATTACH_HOSTS=HOST,HOST:PORT"), " · ", element("code", {}, t("attachCommand"))));
  const view = { done, status: block("upload-status") };
  view.address = element("input", { type: "text", inputmode: "url", maxlength: "500", autocomplete: "off", placeholder: "https:" + "//" + hosts[0] + "/sparql" });
  view.start = element("button", { class: "main", type: "submit" }, t("attach"));
  return element("form", { class: "card", novalidate: true, onsubmit: (event) => { event.preventDefault(); run(view, attach); } }, head,
    quiet(t("attachHosts", { hosts: hosts.join(", ") })),
    element("label", { class: "field" }, t("attachAddress"), view.address), nameFields(view, t("attachName"), ""), row(view.start), view.status);
}

const attach = async (view) => (await send("POST", "api/attachments", { address: view.address.value, graph: view.name.value, replace: view.replace.checked })).upload;
