// The texts of the interface: a key and values -> a text in the reader's language, from ../words/LANGUAGE.json.

const STORAGE_KEY = "nacre-language";
// the languages of the page by their own names; "constructor" is none
export const LANGUAGES = { __proto__: null, en: "English", de: "Deutsch" };

// ?lang= wins and is kept, then what was chosen before, then the browser's languages.
function wanted() {
  const asked = new URLSearchParams(location.search).get("lang");
  if (asked in LANGUAGES) localStorage.setItem(STORAGE_KEY, asked);
  return [localStorage.getItem(STORAGE_KEY), ...navigator.languages.map((each) => each.slice(0, 2))].find((each) => each in LANGUAGES) || "en";
}

async function load(folder) {
  const reply = await fetch(folder + language + ".json");
  if (!reply.ok) throw new Error(folder + language + ".json: " + reply.status);
  return reply.json();
}

export const language = wanted();
const words = await load("static/words/");

// The texts of an extension, from its folder.
export const addWords = async (folder) => Object.assign(words, await load(folder));

export function t(key, values = {}) { return fill(words[key] ?? key, values); }

// The text of a code of some kind; the code itself if it has none, or what is given.
export const labelOf = (kind, code, none = code) => words[kind + "_" + code] ?? none;

// A number with its noun; the text of a key is a pair, for one and for several.
export function countPhrase(number, key) { return fill(words[key][number === 1 ? 0 : 1], { n: number.toLocaleString(language) }); }

const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ""));

// Show the page in another language from now on.
export function choose(name) {
  localStorage.setItem(STORAGE_KEY, name);
  const address = new URL(location.href);
  address.searchParams.delete("lang");
  location.assign(address);
}

// index.html has English texts: data-t names the key of a text, data-t-NAME that of an attribute.
const ATTRIBUTES = ["aria-label", "placeholder", "title"];
document.documentElement.lang = language;
if (language !== "en") for (const each of document.querySelectorAll("[data-t]")) each.textContent = t(each.dataset.t);
for (const name of ATTRIBUTES) for (const each of document.querySelectorAll("[data-t-" + name + "]")) each.setAttribute(name, t(each.getAttribute("data-t-" + name)));
