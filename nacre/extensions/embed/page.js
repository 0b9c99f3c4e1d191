// Before the page in a frame: the colours of the site, and storage in memory where the browser refuses another site's.
const COLOURS = ["ground", "sheet", "raised", "ink", "quiet", "line", "accent", "on-accent", "soft"];

for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
  const isSafe = COLOURS.includes(name) ? CSS.supports("color", value) : name === "round" && CSS.supports("border-radius", value);
  if (isSafe && !value.includes("var(")) document.documentElement.style.setProperty("--" + name, value);
}

for (const name of ["localStorage", "sessionStorage"]) {
  try {
    window[name].getItem("");
  } catch {
    const stored = new Map();
    const storage = { getItem: (key) => stored.get(key) ?? null, setItem: (key, value) => { stored.set(key, String(value)); }, removeItem: (key) => { stored.delete(key); } };
    Object.defineProperty(window, name, { value: storage });
  }
}
