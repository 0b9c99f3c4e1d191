"""The branch `places`: a question about distances -> the things that are near to the one that it names, as rows."""

import time
from collections import Counter
from typing import Literal, NamedTuple

from agents.turn_view import Result, TurnView
from graph.branches import Branch, BranchResources, is_unvisited
from nacre.extensions.places.places import Place, kilometres, located_things, place_columns
from nacre.language.data import language
from nacre.language.quantities import convert_unit
from nacre.language.thesaurus import function_words
from nacre.language.tokens import Token, tokenize
from nacre.language.word_forms import plural
from nacre.records.evidence import BranchResult, Query, Rows, Table
from nacre.records.schema import Class, Schema
from nacre.records.threads import run_in_thread
from nacre.records.turn import Mention, Understanding
from nacre.stores.catalog import Graph
from nacre.stores.sqlite.triples import Triple, TripleReader
from nacre.understanding.question.analyse import analyse_question
from nacre.understanding.question.records import Number, Question

NEAREST, FARTHEST = frozenset(("nearest", "closest")), frozenset(("farthest", "furthest"))

# words between a distance and the place that it is measured from
_FROM = frozenset(("of", "from", "to", "around"))

_BOUNDS = frozenset(("<", "<="))

# words of such questions that name nothing
_FILLER = frozenset(("far", "distance", "away", "radius", "located", "situated", "lie", "near", "apart"))


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
        return bool(self.tokens) and self.tokens[0].norm in language().words["asking_yes_no"]


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
            first = next((i for i in range(number.end, len(words)) if words[i] in _FROM), len(words))
            if first - number.end <= 1 and first < len(words):
                used = frozenset(range(number.start, first + 1))
                return DistanceRequest("within", tokens[first].end, used, tuple(tokens[:first]), limit=limit)
    start = next((i for i, word in enumerate(words) if word in NEAREST | FARTHEST), len(words))
    to = next((i for i in range(start + 1, len(words)) if words[i] in ("to", "from")), None)
    if to is None:
        return None
    counts = {int(each.value) for each in question.numbers if not each.unit and each.end <= to and each.value >= 1}
    used = frozenset(
        {start, to, *(i for each in question.numbers if each.end <= to for i in range(each.start, each.end))}
    )
    kind: Literal["nearest", "farthest"] = "nearest" if words[start] in NEAREST else "farthest"
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
        and token.norm not in function_words() | _FILLER
        and not any(start <= token.start < end for start, end in spans)
    ]


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


PLACES = Branch(retrieve, problem, is_unvisited, by_default=False, if_able=True)
