"""Readings that give the class a question begins to ask for: Candidates + Question -> those, if there are any."""

from collections.abc import Sequence
from typing import NamedTuple

from nacre.language.base import language
from nacre.language.thesaurus import function_words
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.parsing.completion.columns import STANDS_FOR_RULE
from nacre.understanding.parsing.state import Candidate, ParseContext
from nacre.understanding.question.types import Derivation, Link, Question


class _RequestedClass(NamedTuple):
    """A class that is asked for; `exact` are the tokens at which it is named in full."""

    node: int
    exact: frozenset[int]


def prefer_requested_class(candidates: list[Candidate], context: ParseContext) -> list[Candidate]:
    """Return the readings that show things of the requested class, or something of them, before anything else."""
    requested = _requested_class(context.question, context.links, context.graph)
    if requested is None:
        return candidates
    return [each for each in candidates if _shows(each.derivation, requested, context.graph)]


def _requested_class(question: Question, links: Sequence[Link], graph: SchemaGraph) -> _RequestedClass | None:
    """The class that a question begins to ask for.

    "Which states ...", "what is the longest river ...", "the two largest states".
    """
    ranking = {i for cue in question.cues if cue.kind in ("superlative", "most") for i in range(cue.start, cue.end)}
    start = _class_start(question, links, ranking)
    if not start:
        return None
    named = _names_at(start, question, links, ranking, graph)
    end = max((link.end for link in named), default=0)
    nodes = {link.refs[0].node if link.kind == "class" else None for link in named if link.end == end}
    is_owner = end and question.text[question.tokens[end - 1].end :][:1] in ("'", "’")
    only = next(iter(nodes)) if len(nodes) == 1 and not is_owner else None
    if only is None:
        return None
    exact = frozenset(link.start for link in named if link.exact and link.kind == "class")
    return _RequestedClass(only, exact)


def _class_start(question: Question, links: Sequence[Link], ranking: set[int]) -> int:
    """The first token of what a question begins to ask for; 0 if it does not begin so."""
    words, known = question.tokens, language().words
    if not words:
        return 0
    determiners = known["article"] | known["whose_own"]
    numbers = {i for number in question.numbers if not number.op for i in range(number.start, number.end)}
    # "in which towns"
    lead = int(len(words) > 1 and words[0].norm in known["asking_after"] and words[1].norm in known["asking_kind"])
    if words[lead].norm not in known["asking_kind"]:
        # "the two largest states"
        first = next((i for i, word in enumerate(words) if i not in numbers and word.norm not in determiners), 0)
        if words[lead].norm not in determiners or not (first in ranking or numbers):
            return 0
    class_starts = {link.start for link in links if link.kind == "class"}
    start = next(
        (
            i
            for i in range(lead + 1, len(words))
            if i not in ranking | numbers
            and (words[i].norm not in function_words() or (i == lead + 1 and i in class_starts))
        ),
        0,
    )
    # "which of them has the most seats" asks for them
    asks_scope = any(link.match == "scope" and lead < link.start < start for link in links)
    return 0 if asks_scope else start


def _names_at(
    start: int, question: Question, links: Sequence[Link], ranking: set[int], graph: SchemaGraph
) -> list[Link]:
    """The classes and properties that are named in full at a token, else the classes of which it says the most."""
    # "pasta has the shortest" does not name the class "short pasta"
    ranked = sum(1 << i for i in ranking)
    named = [link for link in links if link.start == start and link.exact and not link.covered & ranked]
    if not named:
        # "which shows", of what is called a series; "which keepers", of the light keepers
        partly = [link for link in links if link.start == start and _may_name_class(link, question, graph)]
        named = [link for link in partly if link.score == max(other.score for other in partly)]
    return [link for link in named if link.kind in ("class", "property")]


def _may_name_class(link: Link, question: Question, graph: SchemaGraph) -> bool:
    """Whether a word names a class by a synonym, or by the last word of its name."""
    if link.kind != "class":
        return False
    last = question.tokens[link.end - 1].lemma
    return link.match == "like" or (link.match == "partial" and graph.nodes[link.refs[0].node].words[-1:] == (last,))


def _shows(derivation: Derivation, requested: _RequestedClass, graph: SchemaGraph) -> bool:
    """Whether a reading shows things of a class, or something of them, before anything else."""
    if not derivation.targets:
        return False
    first = derivation.targets[0].ref
    nodes = {first.node, *(ref.node for ref in derivation.group)}
    is_shown = any(graph.may_be(node, requested.node) for node in nodes) or _shows_person(derivation, requested, graph)
    partial = [x for x in derivation.links if x.kind == "property" and x.refs[0].predicate and not x.exact]
    if any(link.start in requested.exact for link in partial):
        # "which airports" does not ask for "airport codes"
        return False
    return is_shown


def _shows_person(derivation: Derivation, requested: _RequestedClass, graph: SchemaGraph) -> bool:
    """Whether a reading shows the names of what unnamed things stand for: of the people that rows of players are."""
    if STANDS_FOR_RULE in derivation.trace:
        return True
    first = derivation.targets[0].ref
    if graph.nodes[requested.node].named or not first.predicate:
        return False
    steps = (step for step in graph.steps[requested.node] if step.forward and step.target == first.node)
    return graph.about(first.predicate).role == "name" and any(graph.about(step.predicate).functional for step in steps)
