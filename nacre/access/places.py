"""Places of things: IRIs -> latitude and longitude, from pairs of numbers or from well-known text (WKT)."""

import math
import re
from collections.abc import Collection

from nacre.language.tokens import iri_end
from nacre.records.schema import Relation
from nacre.stores.graph import Graph
from nacre.stores.sqlite.tables import Cell, quote_if_needed

# names that vocabularies have for them (W3C geo, schema.org, GeoSPARQL, Wikidata), in lower case
LATITUDES, LONGITUDES = frozenset(("lat", "latitude")), frozenset(("long", "lon", "lng", "longitude"))
TEXTS = frozenset(("aswkt", "wkt", "p625"))

_PAIR = re.compile(r"(?<![\w.])(-?\d{1,3}(?:\.\d{1,20})?)\s{1,9}(-?\d{1,3}(?:\.\d{1,20})?)(?![\w.])")
# the reference system whose first number is the latitude
LATITUDE_FIRST = "EPSG/0/4326>"
# characters and points of a shape that are read, and seconds of a request (given)
MAX_TEXT, MAX_POINTS, SECONDS = 20_000, 500, 2.0
CHUNK = 400

Place = tuple[float, float]


def find_places(graph: Graph, iris: Collection[str]) -> dict[str, Place]:
    """The place of each of these things that has one, as latitude and longitude; of a shape, the middle of its points.
    None of a graph without tables. Raises ToolError."""
    tables, found = graph.stored, dict[str, Place]()
    sources = [(relation, names) for relation in graph.schema.relations if (names := _columns(relation))]
    if tables is None or not sources:
        return found
    wanted = sorted(set(iris))
    for start in range(0, len(wanted), CHUNK):
        part = wanted[start : start + CHUNK]
        marks = ",".join("?" * len(part))
        for relation, names in sources:
            columns = ", ".join(f"r.{quote_if_needed(name)}" for name in names)
            join = f"{quote_if_needed(relation.name)} r JOIN entity e ON e.id = r.{quote_if_needed(relation.key)}"
            sql = f"SELECT e.iri, {columns} FROM {join} WHERE e.iri IN ({marks})"
            for iri, *cells in tables.run(sql, part, limit=CHUNK, seconds=SECONDS).rows:
                place = place_of_text(str(cells[0])) if len(names) == 1 else _place(*cells)
                if place is not None:
                    found.setdefault(str(iri), place)
    return found


def _columns(relation: Relation) -> tuple[str, ...]:
    """The columns with latitude and longitude, or the one with a shape; none if a relation has no places."""
    if relation.kind == "junction":
        return ()
    named = {iri_end(c.predicate.rstrip("/#")).lower(): c.text or c.value for c in relation.columns if c.value}
    latitude = next((named[each] for each in sorted(LATITUDES & named.keys())), "")
    longitude = next((named[each] for each in sorted(LONGITUDES & named.keys())), "")
    if latitude and longitude:
        return latitude, longitude
    return tuple(named[each] for each in sorted(TEXTS & named.keys()))[:1]


def place_of_text(text: str) -> Place | None:
    """The place of a shape in well-known text.

    >>> place_of_text("POINT(-8.5 39.25)"), place_of_text("not known")
    ((39.25, -8.5), None)
    """
    text = text[:MAX_TEXT]
    pairs = [(float(one), float(other)) for one, other in _PAIR.findall(text)[:MAX_POINTS]]
    if not pairs:
        return None
    first, second = (sum(numbers) / len(pairs) for numbers in zip(*pairs, strict=True))
    return _place(first, second) if LATITUDE_FIRST in text else _place(second, first)


def _place(latitude: Cell, longitude: Cell) -> Place | None:
    try:
        place = float(latitude), float(longitude)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    is_on_earth = all(map(math.isfinite, place)) and abs(place[0]) <= 90 and abs(place[1]) <= 180
    return place if is_on_earth else None
