// The first rows of a table before it is read: a file -> its sheets with the names and types of their columns.

import { addWords, apiPath, block, call, element, faint, get, quiet, send, t } from "../../static/shared/page.js";

await addWords("tables/files/");

// of texts the beginning is enough; a workbook is whole, in one part
const MAX_SENT = 8 << 20, MAX_TEXT = 1 << 20, IS_TEXT = /\.(csv|tsv|tab|jsonl|ndjson)$/i;
const TYPES = {
  text: t("typeText"), integer: t("typeInteger"), decimal: t("typeDecimal"), quantity: t("typeQuantity"), year: t("typeYear"),
  date: t("typeDate"), dateTime: t("typeDateTime"), time: t("typeTime"), boolean: t("typeBoolean"),
};
let last = Promise.resolve();

// One file after the other; what is shown below its name. `sendPart(upload, file, offset)` sends it.
export function preview(file, sendPart) {
  return last = last.then(() => show(file, sendPart)).catch((problem) => quiet(problem.message));
}

async function show(file, sendPart) {
  const isText = IS_TEXT.test(file.name);
  if (!isText && file.size > MAX_SENT) return quiet(t("previewTooLarge"));
  const { upload } = await send("POST", "api/uploads");
  try {
    await sendPart(upload, new File([isText ? file.slice(0, MAX_TEXT) : file], file.name), 0);
    const { sheets, problem } = await get(apiPath("uploads", upload, "preview", { name: file.name }));
    return block("preview", problem && quiet(t("previewNone", { why: problem })), sheets.map((each) => sheet(file, each)));
  } finally {
    call("DELETE", apiPath("uploads", upload)).catch(() => {
      // the server removes it after a day
    });
  }
}

function sheet(file, { sheet: name, label, named_by: namedBy, columns, more_columns: more, rows, notes }) {
  const numeric = columns.map((each) => ["integer", "decimal", "quantity", "year"].includes(each.type) ? "number" : null);
  const title = (name ? name + ": " : "") + t("previewRows", { label }) + (namedBy ? t("previewNamedBy", { column: namedBy }) : "");
  return [element("p", {}, title),
    block("grid", element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t("previewOf", { name: name || file.name }) }, element("table", {},
      element("thead", {}, element("tr", {}, columns.map((each, i) => element("th", { scope: "col", class: numeric[i] }, each.name, element("br"), faint(TYPES[each.type] + (each.unit ? " (" + each.unit + ")" : "")))))),
      element("tbody", {}, rows.map((row) => element("tr", {}, row.map((cell, i) => element("td", { class: numeric[i] }, cell)))))))),
    more > 0 && quiet(t("previewMore", { n: more })), notes.map((each) => quiet(each))];
}
