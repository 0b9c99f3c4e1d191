"""How old a named thing is or became, and how long it lasted, from two of its dates: Question + Links -> Candidates."""

from collections.abc import Iterator, Sequence
from typing import Literal

from nacre.language.base import language
from nacre.language.tokens import Token
from nacre.records.plan import Attribute, Body, Compute, Select, Variable
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.schema.adjectives import measured_properties
from nacre.understanding.parsing.candidate import Candidate
from nacre.understanding.parsing.constraints.answer_type import AGE, SPAN, requested_answer_type
from nacre.understanding.question.types import Derivation, Link, Question, Ref, Target

ELAPSED_RULE = ("elapsed",)
DATES = frozenset(("date", "datetime", "year"))
# what an age or a duration is called where the graph states it
STATED = {AGE: ("age",), SPAN: ("duration", "length", "run time")}
Op = Literal["years", "days", "hours", "minutes", "age"]
# what a time may be asked for in
_TIMES: dict[str, Op] = {"minute": "minutes", "hour": "hours", "day": "days", "year": "years"}
# names that are read for the same words
MOST = 2


def read_ages(question: Question, links: Sequence[Link], graph: SchemaGraph) -> Iterator[Candidate]:
    """Readings of "how old is A", "how old was A when he died", "how long did A last" or "live", "for how many years
    did A work there"."""
    unit = _unit_asked(question)
    asked = SPAN if unit else requested_answer_type(question)
    if asked not in STATED:
        return
    named = [x for x in links if x.kind == "entity" and x.exact and len(x.keys) == 1]
    longest = max((x.end - x.start for x in named), default=0)
    words = language().words
    living = asked == AGE or any(_is(t, words["living"]) for t in question.tokens)
    ended = any(_is(t, words["life_end"]) for t in question.tokens)
    for link in [x for x in named if x.end - x.start == longest][:MOST]:
        node = link.refs[0].node
        if any(
            ref.node == node and not graph.is_date(ref.predicate)
            for ref, _, _ in measured_properties(graph, node, STATED[asked])
        ):
            continue
        first = _dated(graph, node, words["life_start" if living else "start"])
        last = _dated(graph, node, words["life_end" if living else "end"])
        if not ((first and last) or living) and any(_is(t, words["lasting"]) for t in question.tokens):
            first, last = _ends(graph, node) or (first, last)
        if first and asked == AGE and not ended:
            yield _reading(question, link, "age", first, last, graph)
        elif first and last:
            yield _reading(question, link, "years" if living else _TIMES.get(unit, "days"), first, last, graph)


def _reading(question: Question, link: Link, op: Op, first: str, last: str, graph: SchemaGraph) -> Candidate:
    node = graph.nodes[link.refs[0].node]
    thing = Variable("thing", node.classes, node.without, link.keys, link.label)
    until, since = (Select((Attribute("thing", of),), (thing,)) for of in (last or first, first))
    body: Body = Compute(op, until, since)
    words = language().words
    said = words["lasting"] | words["living"] | words["aging"] | words["life_end"] | words["serving"]
    said |= words["end"] | set(node.words) | words["degree"] | words["how_much"] | _TIMES.keys()
    said |= {*graph.words[first], *graph.words[last or first]}
    mask = link.covered | 0b11
    for i, token in enumerate(question.tokens):
        mask |= _is(token, said) << i
    target = Target(Ref(node.index, first))
    derivation = Derivation(
        (target,), (), (), None, (Ref(node.index),), "", mask, 2.0 + link.score, ELAPSED_RULE, (link,)
    )
    return Candidate(derivation, body, 0.0, 0, 0, 0)


def _unit_asked(question: Question) -> str:
    """The time that a question asks for a number of: "how many years did ...", "" for none."""
    words, known = question.tokens, language().words
    at = int(bool(words) and words[0].norm in known["asking_after"])
    said = [t.norm for t in words[at : at + 2]]
    counts = len(said) == 2 and said[0] in known["degree"] and said[1] in known["how_much"]
    unit = words[at + 2].lemma if counts and len(words) > at + 2 else ""
    return unit if unit in _TIMES else ""


def _dated(graph: SchemaGraph, node: int, called: frozenset[str]) -> str:
    """The date of a kind of things that is called so, a day before a year and the plainer name first; "" for none."""
    found = [
        (graph.about(p).datatype == "year", len(graph.words[p]), p)
        for p in graph.literals[node]
        if graph.about(p).datatype in DATES and called & {*graph.words[p], *graph.about(p).label.casefold().split()}
    ]
    return min(found)[2] if found else ""


def _ends(graph: SchemaGraph, node: int) -> tuple[str, str] | None:
    """The two dates that things of a kind have, the earlier first; None where they have more, or fewer."""
    dates = [p for p in graph.literals[node] if graph.about(p).datatype in ("date", "datetime")]
    firsts = [min((*graph.about(p).values, *graph.about(p).samples), default="") for p in dates]
    if len(dates) != 2 or not all(firsts) or firsts[0] == firsts[1]:
        return None
    return (dates[0], dates[1]) if firsts[0] < firsts[1] else (dates[1], dates[0])


def _is(token: Token, words: frozenset[str]) -> bool:
    return token.norm in words or token.lemma in words
