"""The branch `places`: a question about distances -> the things that are near to the one that it names, as rows."""

import time
from typing import NamedTuple

from agents.turn_view import Result, TurnView
from graph.branches import Branch, BranchResources, is_unvisited
from nacre.extensions.places.places import Place, kilometres, located_things, place_columns
from nacre.extensions.places.request import DistanceRequest, distance_request, named_class, unused_words
from nacre.language.word_forms import plural
from nacre.records.evidence import BranchResult, Query, Rows, Table
from nacre.records.threads import run_in_thread
from nacre.records.turn import Mention, Understanding
from nacre.stores.catalog import Graph
from nacre.stores.sqlite.triples import Triple, TripleReader

BRANCH = "places"

# the probability of an answer that uses all words of a question, and of one that leaves some out (given)
COMPLETE, INCOMPLETE = 0.98, 0.5

# digits of a distance that is shown, in km
DIGITS = 2

# things whose places are cited (given)
MAX_CITED = 20


# a distance in km, a name and an IRI
_Thing = tuple[float, str, str]


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
    places = _places(graph)
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


def _places(graph: Graph) -> dict[str, tuple[str, Place]]:
    """The names and places of all things that have places."""
    found: dict[str, tuple[str, Place]] = {}
    for relation, columns in place_columns(graph.schema):
        if relation.kind == "table":
            found |= located_things(graph, relation, columns)
    return found


def _near(
    named: list[Mention], places: dict[str, tuple[str, Place]], request: DistanceRequest, graph: Graph
) -> _Found | None:
    """What is asked about the thing that is named after the words of the request."""
    centre = next((each for each in named if each.start >= request.after), None)
    first = next((each for each in named if each.start < request.after or request.kind == "between"), None)
    if centre is None or (request.kind == "between" and (first := _two_ends(named)) is None):
        return None
    if first is not None and (request.kind == "between" or request.asks_truth):
        centre = next(each for each in reversed(named) if each.target != first.target)
        return _between(first, centre, kilometres(places[first.target][1], places[centre.target][1]), request)
    kind, spans = named_class(request, graph.schema)
    own = [each for each in place_columns(graph.schema) if kind is not None and each[0].name == kind.relation]
    asked = located_things(graph, *own[0]) if own else {} if kind is not None else places
    origin = places[centre.target][1]
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
    table = Table((kind.label if kind else "thing",), tuple((each[1],) for each in things), _keys(things))
    return _Found(table, words, spans, cited)


def _keys(things: list[_Thing]) -> tuple[tuple[str], ...]:
    return tuple((iri,) for *_, iri in things)


def _chosen(things: list[_Thing], request: DistanceRequest) -> list[_Thing]:
    """The things within the limit, or those that are nearest or farthest, with all that are as far as the last."""
    if request.kind == "within":
        return [each for each in things if each[0] <= request.limit]
    ranked = things if request.kind == "nearest" else things[::-1]
    last = ranked[: request.most][-1:]
    return ranked[: request.most] + [each for each in ranked[request.most :] if last and each[0] == last[0][0]]


def _two_ends(named: list[Mention]) -> Mention | None:
    """The first of two things that are named; None if there are not two."""
    return min(named, key=lambda each: each.start) if len({each.target for each in named}) == 2 else None


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


PLACES = Branch(retrieve, problem, is_unvisited)
