"""Places of things and distances between them: IRIs -> latitude and longitude, from pairs of numbers or well-known text
(WKT); the branch `places`: a question about distances -> what is near to the thing that it names, as rows."""

import math
import re
import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from agents.turn_view import Result, TurnView
from graph.branches import Branch, BranchResources, is_unvisited
from nacre.language.data import WORDS, word_list
from nacre.language.quantities import convert_unit
from nacre.language.thesaurus import function_words
from nacre.language.tokens import Token, iri_end, split_name, tokenize
from nacre.language.word_forms import plural
from nacre.records.evidence import BranchResult, Query, Rows, Table
from nacre.records.schema import Class, Relation, Schema
from nacre.records.threads import run_in_thread
from nacre.records.turn import Mention, Understanding
from nacre.stores.catalog import Graph
from nacre.stores.sqlite.tables import Cell, quote_if_needed
from nacre.stores.sqlite.triples import Triple, TripleReader
from nacre.understanding.question.analyse import analyse_question
from nacre.understanding.question.records import Number, Question

if TYPE_CHECKING:
    from fastapi import FastAPI

BRANCH = "places"

# the probability of an answer that uses all words of a question, and of one that leaves some out (given)
COMPLETE, INCOMPLETE = 0.98, 0.5

# digits of a distance that is shown, in km; things whose places are cited (given)
DIGITS, MAX_CITED = 2, 20

# names that vocabularies have for them (W3C geo, schema.org, GeoSPARQL, Wikidata), in lower case
LATITUDES = frozenset(("lat", "latitude", "breitengrad"))
LONGITUDES = frozenset(("long", "lon", "lng", "longitude", "längengrad"))
TEXTS = frozenset(("aswkt", "wkt", "p625"))

_PAIR = re.compile(r"(?<![\w.])(-?\d{1,3}(?:\.\d{1,20})?)\s{1,9}(-?\d{1,3}(?:\.\d{1,20})?)(?![\w.])")
# the reference system whose first number is the latitude
LATITUDE_FIRST = "EPSG/0/4326>"
# characters and points of a shape that are read, and seconds of a request (given)
MAX_TEXT, MAX_POINTS, SECONDS = 20_000, 500, 2.0
CHUNK, MAX_THINGS = 400, 200_000
EARTH_RADIUS = 6371.0088  # the mean radius of the earth in km (IUGG)

Place = tuple[float, float]
_Thing = tuple[float, str, str]  # a distance in km, a name and an IRI


def find_places(graph: Graph, iris: Collection[str]) -> dict[str, Place]:
    """The place of each of these things that has one, as latitude and longitude; of a shape, the middle of its points.
    None of a graph without tables. Raises ToolError."""
    found = dict[str, Place]()
    wanted = sorted(set(iris))
    for start in range(0, len(wanted), CHUNK):
        part = wanted[start : start + CHUNK]
        for relation, columns in place_columns(graph.schema):
            where = f"WHERE e.iri IN ({','.join('?' * len(part))})"
            for iri, _, place in _located(graph, relation, columns, where, part, CHUNK):
                found.setdefault(iri, place)
    return found


def find_linked_places(graph: Graph, iris: Collection[str]) -> dict[str, Place]:
    """As `find_places`; a thing without a place has that of the first thing that it links to and that has one."""
    found = find_places(graph, iris)
    rest = sorted({*iris} - found.keys())
    tables = {relation.name for relation, _ in place_columns(graph.schema)}
    located = {each.iri for each in graph.schema.classes if each.relation in tables}
    leading = [each.iri for each in graph.schema.shown_predicates if not located.isdisjoint(each.ranges)]
    if graph.stored is None or not rest or not leading:
        return found
    reader = TripleReader(graph.stored)
    reader.prepare(rest)
    ends = {iri: [o for each in leading for *_, o in reader.with_subject(iri, each)] for iri in rest}
    places = find_places(graph, {end for own in ends.values() for end in own})
    return found | {iri: places[at] for iri, own in ends.items() if (at := next(filter(places.get, own), None))}


def located_things(graph: Graph, relation: Relation, columns: tuple[str, ...]) -> dict[str, tuple[str, Place]]:
    """The name and place of each thing of a relation that has a place. Raises ToolError."""
    found: dict[str, tuple[str, Place]] = {}
    for iri, label, place in _located(graph, relation, columns, "ORDER BY e.iri", (), MAX_THINGS):
        found.setdefault(iri, (label, place))
    return found


def _located(
    graph: Graph, relation: Relation, columns: tuple[str, ...], which: str, values: Sequence[str], limit: int
) -> Iterator[tuple[str, str, Place]]:
    """The IRI, name and place of the things of a relation that have a place."""
    if graph.stored is None:
        return
    read = ", ".join(f"r.{quote_if_needed(name)}" for name in columns)
    join = f"{quote_if_needed(relation.name)} r JOIN entity e ON e.id = r.{quote_if_needed(relation.key)}"
    sql = f"SELECT e.iri, e.label, {read} FROM {join} {which}"
    for iri, label, *cells in graph.stored.run(sql, values, limit=limit, seconds=SECONDS).rows:
        place = place_of_text(str(cells[0])) if len(cells) == 1 else _place(*cells)
        if place is not None:
            yield str(iri), str(label), place


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


_BOUNDS = frozenset(("<", "<="))


class DistanceRequest(NamedTuple):
    """What is asked: the `most` things nearest to a place, all within `limit` km of it, or how far two are apart. The
    place is named after character `after`; `used` are the tokens that say so, and `tokens` all that stand before."""

    kind: Literal["nearest", "farthest", "within", "between"]
    after: int
    used: frozenset[int]
    tokens: tuple[Token, ...]
    most: int = 1
    limit: float = 0.0

    @property
    def asks_number(self) -> bool:
        """Whether things are counted."""
        return [token.norm for token in self.tokens[:2]] == ["how", "many"]

    @property
    def asks_truth(self) -> bool:
        """Whether the answer is yes or no."""
        return bool(self.tokens) and self.tokens[0].norm in WORDS["asking_yes_no"]


def distance_request(text: str) -> DistanceRequest | None:
    """What a question asks about distances.

    >>> distance_request("Which two mills are nearest to Elm Lock?")[:2], distance_request("Which mill is nearest?")
    (('nearest', 30), None)
    >>> distance_request("mills within 2 miles of Elm Lock").limit, distance_request("walks of 2 miles")
    (3.218688, None)
    """
    question = analyse_question(text)
    tokens = question.tokens
    words = [token.norm for token in tokens]
    if {"far", "distance"} & set(words) and {"from", "between", "to"} & set(words) and not question.numbers:
        at = min(words.index(each) for each in ("far", "distance") if each in words)
        return DistanceRequest("between", tokens[at].end, frozenset({at}), tuple(tokens[:at]))
    for number in question.numbers:
        limit = convert_unit(number.value, number.unit, "km") if number.unit else None
        if limit is not None and _is_bound(number, words) and words[number.end : number.end + 1]:
            first = next(
                (i for i in range(number.end, len(words)) if words[i] in word_list("question", "measured_from")),
                len(words),
            )
            if first - number.end <= 1 and first < len(words):
                used = frozenset(range(number.start, first + 1))
                return DistanceRequest("within", tokens[first].end, used, tuple(tokens[:first]), limit=limit)
    nearest, farthest = word_list("question", "nearest"), word_list("question", "farthest")
    start = next((i for i, word in enumerate(words) if word in nearest | farthest), len(words))
    to = next((i for i in range(start + 1, len(words)) if words[i] in ("to", "from")), None)
    if to is None:
        return None
    counts = {int(each.value) for each in question.numbers if not each.unit and each.end <= to and each.value >= 1}
    used = frozenset(
        {start, to, *(i for each in question.numbers if each.end <= to for i in range(each.start, each.end))}
    )
    kind: Literal["nearest", "farthest"] = "nearest" if words[start] in nearest else "farthest"
    return DistanceRequest(kind, tokens[to].end, used, tuple(tokens[:to]), min(counts, default=1))


def _is_bound(number: Number, words: list[str]) -> bool:
    """Whether a distance is an upper limit: "within 5 km", "in a radius of 5 km"."""
    return number.op in _BOUNDS or "radius" in words[max(0, number.start - 3) : number.start + 1]


def named_class(request: DistanceRequest, schema: Schema) -> tuple[Class | None, list[tuple[int, int]]]:
    """The class of which things are asked for, by the longest of its names or else by the last word of one, if no other
    class has it, and its place in the text."""
    tokens = request.tokens
    lemmas = [token.lemma for token in tokens]
    named = [
        (tuple(token.lemma for token in tokenize(label)), each)
        for each in schema.shown_classes
        for label in (each.label, *each.alt_labels)
    ]
    heads = Counter(head for head, _ in {(name[-1:], each.iri) for name, each in named})
    named += [(name[-1:], each) for name, each in named if heads[name[-1:]] == 1]
    found = [
        (len(name), start, each)
        for name, each in named
        for start in range(len(lemmas) - len(name) + 1)
        if name and tuple(lemmas[start : start + len(name)]) == name
    ]
    if not found:
        return None, []
    size, start, kind = max(found, key=lambda each: each[:2])
    return kind, [(tokens[start].start, tokens[start + size - 1].end)]


def unused_words(text: str, request: DistanceRequest, spans: list[tuple[int, int]]) -> list[Token]:
    """The words of a question that neither say what is asked nor name a thing or a class, whose places in the text are
    `spans`."""
    question: Question = analyse_question(text)
    return [
        token
        for i, token in enumerate(question.tokens)
        if i not in request.used
        and token.norm not in function_words() | word_list("question", "distance_filler")
        and not any(start <= token.start < end for start, end in spans)
    ]


class _Found(NamedTuple):
    """The rows of an answer, what they are in words, the places in the question of what it names, and the things whose
    places decide."""

    table: Table
    words: str
    spans: list[tuple[int, int]]
    cited: list[str]


async def retrieve(view: TurnView, resources: BranchResources) -> Result[BranchResult]:
    """The rows for a question about distances; nothing for another question."""
    return Result(await run_in_thread(find_near, view.standalone, view.understanding, resources.graph, view.round))


def find_near(text: str, understanding: Understanding, graph: Graph, round_: int) -> BranchResult:
    """The things that are near to the one that a question names. Blocking; raises ToolError."""
    request, started = distance_request(text), time.perf_counter()
    if request is None:
        return BranchResult(BRANCH)
    mentions = [*understanding.mentions, *(each.mention for each in understanding.named)]
    # the longest words for a thing
    mentions.sort(key=lambda each: each.end - each.start)
    places = find_places(graph, {each.target for each in mentions if each.kind == "entity"})
    named = {each.target: each for each in mentions if each.kind == "entity" and each.target in places}
    found = _near(list(named.values()), places, request, graph)
    if found is None:
        return BranchResult(BRANCH)
    unused = unused_words(text, request, found.spans)
    seconds = time.perf_counter() - started
    query = Query(BRANCH, round_, text, found.words, rows=len(found.table.rows), seconds=seconds)
    rows = Rows(
        BRANCH,
        round_,
        found.table,
        words=found.words,
        meaning=found.words,
        query=query,
        keys=tuple(key for keys in found.table.keys for key in keys),
        triples=_triples(graph, found.cited),
        basis=found.words,
        probability=INCOMPLETE if unused else COMPLETE,
    )
    return BranchResult(BRANCH, (rows,), (query,))


def _near(named: list[Mention], places: dict[str, Place], request: DistanceRequest, graph: Graph) -> _Found | None:
    """What is asked about the thing that is named after the words of the request."""
    centre = next((each for each in named if each.start >= request.after), None)
    if centre is None:
        return None
    if request.kind == "between":
        # two things, of which either may be named first
        first = min(named, key=lambda each: each.start) if len(named) == 2 else None
        if first is None:
            return None
    else:
        first = next((each for each in named if each.start < request.after), None)
    if first is not None and (request.kind == "between" or request.asks_truth):
        centre = next(each for each in reversed(named) if each.target != first.target)
        return _between(first, centre, kilometres(places[first.target], places[centre.target]), request)
    kind, spans = named_class(request, graph.schema)
    relations = [
        each
        for each in place_columns(graph.schema)
        if (each[0].kind == "table" if kind is None else each[0].name == kind.relation)
    ]
    origin, asked = places[centre.target], dict[str, tuple[str, Place]]()
    for relation, columns in relations:
        asked |= located_things(graph, relation, columns)
    distances = ((kilometres(origin, place), name, iri) for iri, (name, place) in asked.items())
    things = sorted(each for each in distances if each[2] != centre.target)
    things = _chosen(things, request)
    what = plural(kind.label) if kind is not None else "things"
    if request.kind == "within":
        words = f"the {what} within {request.limit:g} km of {centre.label}"
    else:
        what = what if len(things) > 1 else kind.label if kind is not None else "thing"
        words = f"the {what} {request.kind} {'to' if request.kind == 'nearest' else 'from'} {centre.label}"
    spans = [*spans, (centre.start, centre.end)]
    cited = [centre.target, *(iri for *_, iri in things[:MAX_CITED])]
    if request.asks_number:
        words = f"the number of {words.removeprefix('the ')}"
        return _Found(Table(("number",), ((len(things),),)), words, spans, cited)
    table = Table(
        (kind.label if kind else "thing",), tuple((each[1],) for each in things), tuple((iri,) for *_, iri in things)
    )
    return _Found(table, words, spans, cited)


def _chosen(things: list[_Thing], request: DistanceRequest) -> list[_Thing]:
    """The things within the limit, or those that are nearest or farthest, with all that are as far as the last."""
    if request.kind == "within":
        return [each for each in things if each[0] <= request.limit]
    ranked = things if request.kind == "nearest" else things[::-1]
    last = ranked[: request.most][-1:]
    return ranked[: request.most] + [each for each in ranked[request.most :] if last and each[0] == last[0][0]]


def _between(one: Mention, other: Mention, distance: float, request: DistanceRequest) -> _Found:
    """How far two things are apart, or whether this is within a limit."""
    spans, cited = [(each.start, each.end) for each in (one, other)], [one.target, other.target]
    if request.kind == "within":
        words = f"whether {one.label} is within {request.limit:g} km of {other.label}"
        table = Table(("yes", "distance"), ((distance <= request.limit, round(distance, DIGITS)),), units=("", "km"))
        return _Found(table, words, spans, cited)
    words = f"the distance from {one.label} to {other.label}"
    return _Found(Table(("distance",), ((round(distance, DIGITS),),), units=("km",)), words, spans, cited)


def _triples(graph: Graph, things: list[str]) -> tuple[Triple, ...]:
    """The triples that state where some things are."""
    if graph.stored is None:
        return ()
    reader = TripleReader(graph.stored)
    reader.prepare(things)
    predicates = {
        column.predicate: None
        for relation, names in place_columns(graph.schema)
        for column in relation.columns
        if column.value in names or column.text in names
    }
    return tuple(triple for thing in things for each in predicates for triple in reader.with_subject(thing, each))


def problem(graph: Graph) -> str:
    """Why a graph can't be asked for distances, or ""."""
    if graph.stored is None:
        return "its facts are elsewhere"
    return "" if place_columns(graph.schema) else "nothing in it has a latitude and a longitude"


PLACES = Branch(retrieve, problem, is_unvisited, by_default=False, if_able=True)


def add_places(app: "FastAPI", *, alone: bool) -> None:
    """Add the route /api/graphs/{graph}/places, and the map of the page that asks it."""
    from nacre.serving.http.dependencies import ERROR_RESPONSES, GraphLookUpDep
    from nacre.serving.http.graphs import LabelRequest, read_graph
    from nacre.serving.page.pages import PageFiles

    app.mount("/places/files", PageFiles(directory=str(Path(__file__).with_name("static"))))

    @app.post("/api/graphs/{graph}/places", summary="Look up places", tags=["graphs"], responses=ERROR_RESPONSES)
    def places(look_up: GraphLookUpDep, body: LabelRequest) -> dict[str, Place]:
        """Latitude and longitude of the things that have them, or a shape in well-known text, or that link to a thing
        which has; others are omitted."""
        return read_graph(look_up, "thing", lambda opened: find_linked_places(opened, body.iris))
