"""Readings that attach a relative clause to its noun: Candidates + Question -> those, if there are any."""

from collections.abc import Sequence
from typing import NamedTuple

from nacre.language.base import language
from nacre.records.plan import Attribute, Itself, Select
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.parsing.candidate import Candidate
from nacre.understanding.parsing.state import ParseContext
from nacre.understanding.question.types import Link, Question

# how many words may stand between a relative pronoun and a name in the clause
MAX_WORDS_BETWEEN = 3


class _RelativeClause(NamedTuple):
    """The class before a relative pronoun, and the first thing that is named after it."""

    noun: Link
    name: Link


def attach_relative_clauses(candidates: list[Candidate], context: ParseContext) -> list[Candidate]:
    """Drop the readings in which a thing named in a relative clause belongs to something else than the noun before.

    "Where is the club that Ann plays for". All readings stay if none attaches the clause to the noun.
    """
    attached = [_attaches_clause(each, context.question, context.graph) for each in candidates]
    if True not in attached:
        return candidates
    return [each for each, is_attached in zip(candidates, attached, strict=True) if is_attached is not False]


def _attaches_clause(candidate: Candidate, question: Question, graph: SchemaGraph) -> bool | None:
    """Whether the thing named in the clause is joined to the noun; None if the reading has no such clause."""
    clause, body = _relative_clause(candidate.derivation.links, question), candidate.body
    if clause is None or not isinstance(body, Select):
        return None
    node = graph.nodes[clause.noun.refs[0].node]
    nouns = {
        each.name
        for each in body.variables
        if each.classes == node.classes and each.without == node.without and not each.keys
    }
    named = [each.name for each in body.variables if each.keys == clause.name.keys]
    answers = [each.variable for each in body.answers if isinstance(each, Attribute | Itself)]
    if not nouns or len(named) != 1 or not answers:
        return None
    reached = _reachable(body, named[0], nouns)
    return bool(reached & nouns) and (answers[0] in nouns or answers[0] not in reached)


def _reachable(select: Select, start: str, barriers: set[str]) -> set[str]:
    """The variables joined to one over any edges, but not beyond the barriers."""
    reached, waiting = {start}, [start]
    while waiting:
        here = waiting.pop()
        if here in barriers:
            continue
        ends = {(edge.subject, edge.object) for edge in select.edges if here in (edge.subject, edge.object)}
        new = {other if subject == here else subject for subject, other in ends} - reached
        waiting += new
        reached |= new
    return reached


def _relative_clause(links: Sequence[Link], question: Question) -> _RelativeClause | None:
    words, pronouns = question.tokens, language().words["relative"]
    for noun in links:
        if noun.kind != "class" or not noun.exact or noun.end >= len(words) or words[noun.end].norm not in pronouns:
            continue
        near = [
            link for link in links if link.kind == "entity" and noun.end < link.start <= noun.end + MAX_WORDS_BETWEEN
        ]
        if near:
            return _RelativeClause(noun, min(near, key=lambda link: link.start))
    return None
