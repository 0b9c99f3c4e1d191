"""Read ages and durations from two dates of a named thing: Question + Links -> Candidates ("how old was A")."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from nacre.language.base import language, phrase_list
from nacre.language.tokens import Token
from nacre.records.plan import Attribute, Body, Compute, Select, Variable
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.schema.adjectives import measured_properties
from nacre.understanding.parsing.constraints.answer_type import AGE, SPAN, requested_answer_type
from nacre.understanding.parsing.state import Candidate
from nacre.understanding.question.types import Derivation, Link, Question, Ref, Target, token_mask

ELAPSED_RULE = ("elapsed",)
DATE_TYPES = frozenset(("date", "datetime", "year"))
ElapsedOperation = Literal["years", "days", "hours", "minutes", "age"]
# the unit in which a time may be asked for
TIME_UNITS: Mapping[str, ElapsedOperation] = {"minute": "minutes", "hour": "hours", "day": "days", "year": "years"}
# how many names for the same words are read
MAX_NAMES = 2
# the prior of a reading without its name
BASE_PRIOR = 2.0


def read_ages(question: Question, links: Sequence[Link], graph: SchemaGraph) -> Iterator[Candidate]:
    """Yield readings of "how old is A", "how old was A when he died", "how long did A last", "for how many years"."""
    unit = _requested_unit(question)
    asked = SPAN if unit else requested_answer_type(question)
    if asked not in (AGE, SPAN):
        return
    for name in _longest_names(links):
        node = name.refs[0].node
        if _states_answer(graph, node, asked):
            continue
        first, last = _dates(question, node, asked, graph)
        is_living = _is_about_life(question, asked)
        if first and asked == AGE and not _says_any(question, "life_end"):
            yield _reading(question, name, "age", first, last, graph)
        elif first and last:
            yield _reading(question, name, "years" if is_living else TIME_UNITS.get(unit, "days"), first, last, graph)


def _longest_names(links: Sequence[Link]) -> list[Link]:
    """The things that the longest names mean, one thing each."""
    names = [link for link in links if link.kind == "entity" and link.exact and len(link.keys) == 1]
    longest = max((link.end - link.start for link in names), default=0)
    return [link for link in names if link.end - link.start == longest][:MAX_NAMES]


def _states_answer(graph: SchemaGraph, node: int, asked: str) -> bool:
    """Whether the graph holds an age or a duration."""
    concepts = phrase_list("parsing", "age_concepts" if asked == AGE else "duration_concepts")
    measures = measured_properties(graph, node, concepts)
    return any(ref.node == node and not graph.is_date(ref.predicate) for ref, _, _ in measures)


def _is_about_life(question: Question, asked: str) -> bool:
    return asked == AGE or _says_any(question, "living")


def _says_any(question: Question, words: str) -> bool:
    """Whether a question has a word of a list."""
    return any(_is_word_of(token, language().words[words]) for token in question.tokens)


def _is_word_of(token: Token, words: frozenset[str]) -> bool:
    return token.norm in words or token.lemma in words


def _dates(question: Question, node: int, asked: str, graph: SchemaGraph) -> tuple[str, str]:
    """The properties of the first and the last day; "" for each that is missing."""
    words, is_living = language().words, _is_about_life(question, asked)
    first = _date_named(graph, node, words["life_start" if is_living else "start"])
    last = _date_named(graph, node, words["life_end" if is_living else "end"])
    if not ((first and last) or is_living) and _says_any(question, "lasting"):
        return _only_dates(graph, node) or (first, last)
    return first, last


def _date_named(graph: SchemaGraph, node: int, words: frozenset[str]) -> str:
    """The date with one of these words in its name, days and shorter names first; "" if there is none."""
    dates = [
        (graph.about(predicate).datatype == "year", len(graph.words[predicate]), predicate)
        for predicate in graph.literals[node]
        if graph.about(predicate).datatype in DATE_TYPES
        and words & {*graph.words[predicate], *graph.about(predicate).label.casefold().split()}
    ]
    return min(dates)[2] if dates else ""


def _only_dates(graph: SchemaGraph, node: int) -> tuple[str, str] | None:
    """The two dates that things of a class have, the earlier first; None if they have more, or fewer."""
    dates = [each for each in graph.literals[node] if graph.about(each).datatype in ("date", "datetime")]
    earliest = [min((*graph.about(each).values, *graph.about(each).samples), default="") for each in dates]
    if len(dates) != 2 or not all(earliest) or earliest[0] == earliest[1]:
        return None
    return (dates[0], dates[1]) if earliest[0] < earliest[1] else (dates[1], dates[0])


def _reading(
    question: Question, name: Link, operation: ElapsedOperation, first: str, last: str, graph: SchemaGraph
) -> Candidate:
    node = graph.nodes[name.refs[0].node]
    thing = Variable("thing", node.classes, node.without, name.keys, name.label)
    until, since = (Select((Attribute("thing", date),), (thing,)) for date in (last or first, first))
    body: Body = Compute(operation, until, since)
    known = language().words
    lists = ("lasting", "living", "aging", "life_end", "serving", "end", "degree", "how_much")
    idle = frozenset[str]().union(*(known[each] for each in lists), node.words, TIME_UNITS)
    idle |= {*graph.words[first], *graph.words[last or first]}
    covered = name.covered | token_mask(0, 2)
    for i, token in enumerate(question.tokens):
        covered |= _is_word_of(token, idle) << i
    derivation = Derivation(
        targets=(Target(Ref(node.index, first)),),
        conditions=(),
        group=(),
        order=None,
        nodes=(Ref(node.index),),
        combine="",
        covered=covered,
        prior=BASE_PRIOR + name.score,
        trace=ELAPSED_RULE,
        links=(name,),
    )
    return Candidate(derivation, body, 0.0, 0, 0, 0)


def _requested_unit(question: Question) -> str:
    """The unit of time that a question asks for a number of: "how many years did ..."; "" if none."""
    words, known = question.tokens, language().words
    at = int(bool(words) and words[0].norm in known["asking_after"])
    lead = [token.norm for token in words[at : at + 2]]
    asks_number = len(lead) == 2 and lead[0] in known["degree"] and lead[1] in known["how_much"]
    unit = words[at + 2].lemma if asks_number and len(words) > at + 2 else ""
    return unit if unit in TIME_UNITS else ""
