"""Places of things: IRIs -> latitude and longitude, from pairs of numbers or from well-known text (WKT)."""

import math
import re
from collections.abc import Collection
from typing import TYPE_CHECKING

from nacre.language.tokens import iri_end, split_name
from nacre.records.schema import Relation, Schema
from nacre.stores.catalog import Graph
from nacre.stores.sqlite.tables import Cell, quote_if_needed

if TYPE_CHECKING:
    from fastapi import FastAPI

# names that vocabularies have for them (W3C geo, schema.org, GeoSPARQL, Wikidata), in lower case
LATITUDES, LONGITUDES = frozenset(("lat", "latitude")), frozenset(("long", "lon", "lng", "longitude"))
TEXTS = frozenset(("aswkt", "wkt", "p625"))

_PAIR = re.compile(r"(?<![\w.])(-?\d{1,3}(?:\.\d{1,20})?)\s{1,9}(-?\d{1,3}(?:\.\d{1,20})?)(?![\w.])")
# the reference system whose first number is the latitude
LATITUDE_FIRST = "EPSG/0/4326>"
# characters and points of a shape that are read, and seconds of a request (given)
MAX_TEXT, MAX_POINTS, SECONDS = 20_000, 500, 2.0
CHUNK, MAX_THINGS = 400, 200_000
EARTH_RADIUS = 6371.0088  # the mean radius of the earth in km (IUGG)

Place = tuple[float, float]


def find_places(graph: Graph, iris: Collection[str]) -> dict[str, Place]:
    """The place of each of these things that has one, as latitude and longitude; of a shape, the middle of its points.
    None of a graph without tables. Raises ToolError."""
    tables, found = graph.stored, dict[str, Place]()
    sources = place_columns(graph.schema)
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


def located_things(graph: Graph, relation: Relation, columns: tuple[str, ...]) -> dict[str, tuple[str, Place]]:
    """The name and place of each thing of a relation that has a place. Raises ToolError."""
    if graph.stored is None:
        return {}
    read = ", ".join(f"r.{quote_if_needed(name)}" for name in columns)
    join = f"{quote_if_needed(relation.name)} r JOIN entity e ON e.id = r.{quote_if_needed(relation.key)}"
    sql = f"SELECT e.iri, e.label, {read} FROM {join} ORDER BY e.iri"
    found: dict[str, tuple[str, Place]] = {}
    for iri, label, *cells in graph.stored.run(sql, limit=MAX_THINGS, seconds=SECONDS).rows:
        place = place_of_text(str(cells[0])) if len(cells) == 1 else _place(*cells)
        if place is not None:
            found.setdefault(str(iri), (str(label), place))
    return found


def kilometres(one: Place, other: Place) -> float:
    """The distance of two places on a sphere (the haversine formula).

    >>> round(kilometres((52.5, 13.4), (48.1, 11.6)))
    506
    """
    (north, east), (other_north, other_east) = (tuple(map(math.radians, each)) for each in (one, other))
    half = math.sin((other_north - north) / 2) ** 2
    half += math.cos(north) * math.cos(other_north) * math.sin((other_east - east) / 2) ** 2
    return 2 * EARTH_RADIUS * math.asin(min(1.0, math.sqrt(half)))


def place_columns(schema: Schema) -> list[tuple[Relation, tuple[str, ...]]]:
    """The relations whose things have places: the columns with latitude and longitude, or the one with a shape."""
    return schema.cache.get(
        place_columns, lambda: [(each, names) for each in schema.relations if (names := _columns(each, schema))]
    )


def _columns(relation: Relation, schema: Schema) -> tuple[str, ...]:
    if relation.kind == "junction":
        return ()
    valued = [(column.predicate, column.text or column.value) for column in relation.columns if column.value]
    named = {iri_end(predicate.rstrip("/#")).lower(): name for predicate, name in valued}
    for predicate, name in valued:
        about = schema.predicate_of.get(predicate)
        for label in (about.label, *about.alt_labels) if about is not None else ():
            # "station latitude" and what a sheet calls X are latitudes and longitudes too
            for word in (LATITUDES | LONGITUDES) & set(split_name(label).lower().split()):
                named.setdefault(word, name)
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


def add_places(app: "FastAPI", *, alone: bool) -> None:
    """Add the route /api/graphs/{graph}/places, for maps."""
    from nacre.serving.http.dependencies import ERROR_RESPONSES, GraphLookUpDep
    from nacre.serving.http.graphs import LabelRequest, read_graph

    @app.post("/api/graphs/{graph}/places", summary="Look up places", tags=["graphs"], responses=ERROR_RESPONSES)
    def places(look_up: GraphLookUpDep, body: LabelRequest) -> dict[str, Place]:
        """Latitude and longitude of the things that have them, or a shape in well-known text; others are omitted."""
        return read_graph(look_up, "thing", lambda opened: find_places(opened, body.iris))
