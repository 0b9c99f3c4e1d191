// The drawing of a chart as a file: SVG or PNG.

import { download, element, svg } from "../../static/shared/page.js";

// the height of the title above the drawing
const TITLE = 32;
const viewBox = (drawn) => drawn.getAttribute("viewBox").split(" ").map(Number);

export const saveSvg = (drawn) => download(styledSvg(drawn), "chart.svg", "image/svg+xml");

// With its title, its size and the styles of its parts.
function styledSvg(drawn) {
  const copy = drawn.cloneNode(true), parts = [drawn, ...drawn.querySelectorAll("*")], copies = [copy, ...copy.querySelectorAll("*")];
  parts.forEach((part, i) => {
    const style = getComputedStyle(part);
    for (const name of ["fill", "stroke", "stroke-width", "opacity", "font-size", "font-family"]) copies[i].setAttribute(name, style.getPropertyValue(name));
  });
  const [left, top, wide, high] = viewBox(drawn), title = svg("text", { x: left + 6, y: top - 10, fill: getComputedStyle(document.body).color, "font-family": copy.querySelector("text")?.getAttribute("font-family"), "font-size": 15, "font-weight": 600 }, drawn.getAttribute("data-title"));
  copy.prepend(title);
  copy.setAttribute("viewBox", [left, top - TITLE, wide, high + TITLE].join(" "));
  copy.setAttribute("width", wide);
  copy.setAttribute("height", high + TITLE);
  copy.setAttribute("fill", "none");
  return new XMLSerializer().serializeToString(copy);
}

export async function savePng(drawn) {
  const [, , wide, high] = viewBox(drawn), image = new Image(), canvas = element("canvas", { width: wide * 2, height: (high + TITLE) * 2 });
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(styledSvg(drawn));
  await image.decode();
  const pen = canvas.getContext("2d");
  pen.fillStyle = getComputedStyle(document.body).backgroundColor;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  download(await new Promise((done) => canvas.toBlob(done, "image/png")), "chart.png", "image/png");
}
