// Nodes and links -> a picture on Leaflet that is moved, zoomed, and walked with the arrow keys.

import { announce, element, inline, t } from "../shared/page.js";

export const RADIUS = 6;
const LETTER = 6.8, LINE = 17, MIN_RADIUS = 3, EDGE = 48, PLACE_ZOOM = 6, PLACES_ZOOM = 13, PAN = 80;
const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

let library = null;
// Leaflet with its sheet, loaded once.
export const leaflet = () => (library ??= Promise.all([import("../vendor/leaflet-1.9.4/leaflet.js"), new Promise((done) => { document.head.append(element("link", { rel: "stylesheet", href: "static/vendor/leaflet-1.9.4/leaflet.css", onload: done })); })]).then(() => window.L));

// A map of Leaflet: the wheel zooms if it has the focus, and a drag opens nothing.
export async function leafletMap(root, options) {
  const L = await leaflet(), map = L.map(root, { zoomAnimation: false, scrollWheelZoom: false, zoomSnap: 0, zoomDelta: 0.5, ...options });
  root.tabIndex = 0;
  root.addEventListener("focusin", () => map.scrollWheelZoom.enable());
  root.addEventListener("focusout", () => map.scrollWheelZoom.disable());
  root.addEventListener("click", (event) => { if (map.dragging.moved()) { event.preventDefault(); event.stopPropagation(); } }, true);
  new ResizeObserver(() => { if (root.isConnected) map.invalidateSize({ pan: false }); }).observe(root);
  return [L, map];
}

// Draw nodes {label, r, x, y, drawn: its link or button} and links {start, end, width}. Names come in the order of
// `compare`, as far as none covers another; `light` gets the node that is pointed at; `ground(L, map)` draws what is below places.
// Gives `whole()`, and `place()` for other names.
export async function drawPicture(root, { nodes, links, compare, light = () => {}, isNamed = () => true, ground = null }) {
  const [L, map] = await leafletMap(root, { ...(ground ? { maxZoom: 16, maxBounds: [[-85, -190], [85, 190]] } : { crs: (await leaflet()).CRS.Simple, minZoom: -8, maxZoom: 4 }), zoomControl: false, attributionControl: false, keyboard: false });
  const spot = (node) => [-node.y, node.x], at = new Map(nodes.map((node) => [node.iri, node])), whole = () => map.fitBounds(nodes.map(spot), { padding: [EDGE, EDGE], maxZoom: !ground ? 0 : nodes.length > 1 ? PLACES_ZOOM : PLACE_ZOOM, animate: false });
  whole();
  ground?.(L, map);
  for (const each of links) each.drawn = L.polyline([spot(at.get(each.start)), spot(at.get(each.end))], { className: "link", interactive: false }).addTo(map).getElement();
  for (const node of nodes) {
    node.inside = element("span");
    node.name = inline("node-name", node.label.length > 24 ? node.label.slice(0, 23) + "…" : node.label);
    node.drawn.classList.add("node");
    node.drawn.replaceChildren(node.inside, node.name);
    node.drawn.addEventListener("focus", () => {
      rove(node);
      map.panInside(spot(node), { padding: [EDGE, EDGE] });
      announce(node.drawn.getAttribute("aria-label"));
    });
    for (const [kind, lit] of [["pointerenter", node], ["focus", node], ["pointerleave", null], ["blur", null]]) node.drawn.addEventListener(kind, () => light(lit));
    L.marker(spot(node), { icon: L.divIcon({ html: node.drawn, iconSize: [0, 0], className: "" }), interactive: false, keyboard: false }).addTo(map);
  }
  // one node is in the order of Tab
  const rove = (node) => { for (const each of nodes) each.drawn.setAttribute("tabindex", each === node ? "0" : "-1"); };
  rove(nodes[0]);

  function place() {
    const scale = map.getZoomScale(map.getZoom(), 0);
    for (const node of nodes) {
      const { x, y } = map.latLngToContainerPoint(spot(node)), r = Math.max(MIN_RADIUS, node.r * (ground ? 1 : Math.min(1, scale)));
      node.box = [x - r, y - r, x + r, y + r];
      node.drawn.style.width = node.drawn.style.height = r * 2 + "px";
      node.inside.textContent = r > (ground ? RADIUS : 15) ? node.size ?? "" : "";
    }
    for (const each of links) each.drawn.style.strokeWidth = Math.max(0.5, each.width * Math.min(1, scale)) + "px";
    const taken = [], { x: edge } = map.getSize();
    const covers = (own) => (other) => own[0] < other[2] && own[2] > other[0] && own[1] < other[3] && own[3] > other[1];
    for (const node of [...nodes].sort(compare)) {
      const [left, top, right, bottom] = node.box, wide = node.name.textContent.length * LETTER, y = (top + bottom - LINE) / 2, middle = (left + right - wide) / 2;
      // a name at the edge stays within the picture
      const x = right < 0 || left > edge ? middle : Math.max(2, Math.min(edge - wide - 2, middle));
      const free = isNamed(node) && [[x, bottom + 2], [x, top - LINE - 2], [right + 4, y], [left - wide - 4, y]].map(([x, y]) => [x, y, x + wide, y + LINE]).find((own) => own[0] > 0 && own[2] < edge && !taken.some(covers(own)) && !nodes.some((each) => each !== node && covers(own)(each.box)));
      node.name.hidden = !free;
      if (!free) continue;
      taken.push(free);
      // within the border
      node.name.style.left = free[0] - left - 1 + "px";
      node.name.style.top = free[1] - top - 1 + "px";
    }
  }

  L.control.zoom({ zoomInTitle: t("zoomIn"), zoomOutTitle: t("zoomOut") }).addTo(map);
  root.addEventListener("keydown", (event) => {
    const from = nodes.find((node) => node.drawn === document.activeElement), way = DIRECTIONS[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (way) {
      const along = (node) => (node.x - from.x) * way[0] + (node.y - from.y) * way[1], aside = (node) => Math.abs((node.x - from.x) * way[1]) + Math.abs((node.y - from.y) * way[0]), far = (node) => along(node) + 2 * aside(node);
      const [ahead] = !from ? [] : nodes.filter((node) => isNamed(node) && along(node) > 1 && aside(node) < along(node) * 2).sort((a, b) => far(a) - far(b));
      if (ahead) ahead.drawn.focus({ preventScroll: true }); else map.panBy(way.map((each) => each * PAN), { animate: false });
    } else if ("+=-0".includes(event.key)) {
      if (from && event.key !== "0") map.setView(spot(from), map.getZoom(), { animate: false });
      if (event.key === "0") whole();
      else map.setZoom(map.getZoom() + (event.key === "-" ? -1 : 1));
    } else return;
    event.preventDefault();
  });
  map.on("moveend", place);
  place();
  return { whole, place };
}
