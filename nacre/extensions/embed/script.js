// <script src="https://HOST/embed/script.js" data-key="KEY" data-graph="GRAPH"></script>: a frame with the page after it.
(() => {
  const tag = document.currentScript, { key, graph = "", title = "Nacre", height = "40rem" } = tag.dataset;
  const styles = getComputedStyle(tag.parentElement), theme = new URLSearchParams();
  for (const name of ["ground", "sheet", "raised", "ink", "quiet", "line", "accent", "on-accent", "soft", "round"]) {
    const value = styles.getPropertyValue("--nacre-" + name).trim();
    if (value) theme.set(name, value);
  }
  const lang = (tag.dataset.lang || tag.closest("[lang]")?.lang || navigator.language).slice(0, 2);
  const frame = document.createElement("iframe");
  frame.src = new URL(encodeURIComponent(key) + "/?" + new URLSearchParams({ graph, lang }) + "#" + theme, tag.src).href;
  frame.title = title;
  frame.allow = "clipboard-write";
  frame.style.cssText = "border:0;width:100%";
  frame.style.height = height;
  tag.after(frame);
})();
