// Things with places -> a map with the outlines of countries, which come with the page.

import { addWords, apiPath, button, countPhrase, element, labelled, language, loadLabels, localName, openMenu, pageAddress, quiet, send, t, thingLink } from "../../static/shared/page.js";
import { RADIUS, drawPicture } from "../../static/shell/picture.js";

await addWords("places/files/");

const MAX_PLACES = 500, MAX_NAMES = 3, MAX_LINES = 6, STEPS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30], ATLAS = "static/vendor/world-atlas-2.0.2/countries-110m.json";

let outlines = null;
const countries = () => (outlines ??= Promise.all([fetch(ATLAS).then((reply) => reply.json()), import("../../static/vendor/topojson-client-3.1.0/topojson-client.min.js")]).then(([atlas]) => {
  const found = window.topojson.feature(atlas, atlas.objects.countries);
  // a ring over the date line goes on beyond it
  for (const { geometry: { type, coordinates } } of found.features) for (const ring of coordinates.flat(type === "Polygon" ? 0 : 1)) {
    const xs = ring.map(([x]) => x);
    if (Math.max(...xs) - Math.min(...xs) > 180) for (const point of ring) if (point[0] < 0) point[0] += 360;
  }
  return found;
}));

// Outlines, lines of degrees that are named at the edge, and a scale.
const ground = (outlines) => (L, map) => {
  const lines = L.layerGroup().addTo(map), side = (value, [positive, negative]) => Number(Math.abs(value).toFixed(2)).toLocaleString(language) + "° " + (value < 0 ? negative : positive);
  const name = (spot, text) => L.marker(spot, { icon: L.divIcon({ html: element("span", { class: "degrees" }, text), iconSize: [0, 0], className: "" }), interactive: false, keyboard: false });
  L.geoJSON(outlines, { interactive: false, className: "country" }).addTo(map);
  L.control.scale({ imperial: false }).addTo(map);
  const draw = () => {
    const seen = map.getBounds(), [west, south, east, north] = [seen.getWest(), seen.getSouth(), seen.getEast(), seen.getNorth()], step = STEPS.find((each) => each >= (east - west) / MAX_LINES) ?? STEPS.at(-1), style = { className: "link", weight: 1, interactive: false };
    lines.clearLayers();
    for (let at = Math.ceil(west / step) * step; at < east; at += step) lines.addLayer(L.polyline([[south, at], [north, at]], style)).addLayer(name([north, at], side(at, "EW")));
    for (let at = Math.ceil(south / step) * step; at < north; at += step) lines.addLayer(L.polyline([[at, west], [at, east]], style)).addLayer(name(map.containerPointToLatLng([map.getSize().x - 60, map.latLngToContainerPoint([at, west]).y]), side(at, "NS")));
  };
  map.on("moveend", draw);
  draw();
};

// Append a map of those of the things that have a place, at least `fewest`, or nothing.
export async function appendMap(parent, graph, things, fewest = 1) {
  const iris = [...new Set(things)].filter(Boolean).slice(0, MAX_PLACES);
  const places = Object.entries(await send("POST", apiPath("graphs", graph, "places"), { iris }));
  if (places.length < fewest) return;
  const labels = await loadLabels(graph, places.map(([iri]) => iri)), outlines = await countries(), title = t("mapOf", { what: countPhrase(places.length, "thing") });
  // things at one place are one mark, which lists them
  const nodes = [...Map.groupBy(places, ([, place]) => String(place)).values()].map((here) => {
    const [iri, [latitude, longitude]] = here[0], names = here.map(([each]) => labels.get(each) || localName(each)), count = here.length;
    const label = (count > 1 ? countPhrase(count, "thing") + ": " : "") + names.slice(0, MAX_NAMES).join(", ") + (count > MAX_NAMES ? " …" : "");
    const named = labelled(label), drawn = count > 1 ? button("", () => openMenu(drawn, here.map(([each], i) => thingLink(graph, each, names[i]))), "", named) : element("a", { href: pageAddress({ graph, thing: iri }), ...named });
    return { iri, label, x: longitude, y: -latitude, r: count > 1 ? RADIUS + 3 + Math.sqrt(count) : RADIUS, size: count > 1 && count, drawn };
  });
  const root = element("div", { class: "map", role: "group", "aria-label": title + t("mapKeys") });
  parent.append(element("figure", { class: "chart places" }, element("figcaption", {}, title), root, quiet(t("outlines"))));
  await drawPicture(root, { nodes, links: [], compare: (a, b) => (a.label < b.label ? -1 : 1), ground: ground(outlines) });
}
