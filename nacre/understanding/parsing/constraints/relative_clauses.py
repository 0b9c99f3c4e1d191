"""What a relative clause says is said of the kind before it: Candidates + Question -> Candidates."""

from collections.abc import Sequence

from nacre.language.base import language
from nacre.records.plan import Attribute, Itself, Select
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.parsing.candidate import Candidate
from nacre.understanding.question.types import Link, Question

# words between the relative pronoun and a name that is part of the clause, at most
NEAR = 3


def attach_relative_clauses(candidates: Sequence[Candidate], question: Question, graph: SchemaGraph) -> list[Candidate]:
    """The readings without those in which a thing named in a relative clause hangs on something else than the kind that
    the clause describes, where it hangs on that in others: "where is the club that Ann plays for"."""
    hung = {i: _hangs(c, question, graph) for i, c in enumerate(candidates)}
    if True not in hung.values():
        return list(candidates)
    return [c for i, c in enumerate(candidates) if hung[i] is not False]


def _hangs(candidate: Candidate, question: Question, graph: SchemaGraph) -> bool | None:
    """Whether what a clause names hangs on its kind; None where the reading has no such clause."""
    found = _clause(candidate.derivation.links, question)
    body = candidate.body
    if found is None or not isinstance(body, Select):
        return None
    kind, name = found
    node = graph.nodes[kind.refs[0].node]
    ends = {v.name for v in body.variables if v.classes == node.classes and v.without == node.without and not v.keys}
    named = [v.name for v in body.variables if v.keys == name.keys]
    first = [a.variable for a in body.answers if isinstance(a, Attribute | Itself)]
    if not ends or len(named) != 1 or not first:
        return None
    reached, open_ = {named[0]}, [named[0]]
    while open_:
        here = open_.pop()
        if here in ends:
            continue
        new = {e.object if e.subject == here else e.subject for e in body.edges if here in (e.subject, e.object)}
        open_ += new - reached
        reached |= new
    return bool(reached & ends) and (first[0] in ends or first[0] not in reached)


def _clause(links: Sequence[Link], question: Question) -> tuple[Link, Link] | None:
    """A kind before a relative pronoun, and the first thing that is named after it."""
    words, pronouns = question.tokens, language().words["relative"]
    for kind in links:
        if kind.kind != "class" or not kind.exact or kind.end >= len(words) or words[kind.end].norm not in pronouns:
            continue
        near = [x for x in links if x.kind == "entity" and kind.end < x.start <= kind.end + NEAR]
        if near:
            return kind, min(near, key=lambda x: x.start)
    return None
