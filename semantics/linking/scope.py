"""What a conversation is about, among the links of a question: Links + Scope -> Links."""

from dataclasses import dataclass

from records.turn import Scope
from semantics.language.base import language
from semantics.linking.index import Index
from semantics.types import Link, Question, Ref

# what the conversation is about is meant before others of the same name
PREFERRED = 0.25


@dataclass(frozen=True)
class _About:
    node: int
    keys: tuple[str, ...]
    label: str


def in_scope(links: list[Link], scope: Scope | None, question: Question, known: Index) -> list[Link]:
    """The links, with the things of the conversation preferred, or standing where a plural pronoun stands."""
    if scope is None or not scope.keys:
        return links
    keys = set(scope.keys)
    found = [
        x._replace(score=x.score + PREFERRED, keys=tuple(k for k in x.keys if k in keys))
        if x.kind == "entity" and keys & set(x.keys)
        else x
        for x in links
    ]
    if len(scope.keys) > 1:
        about = _about(scope, known)
        if about is not None:
            pronouns = language().words["pronouns"]
            at = next((i for i, t in enumerate(question.tokens) if t.norm in pronouns), None)
            if at is not None:
                found.append(
                    Link(
                        at,
                        at + 1,
                        "entity",
                        (Ref(about.node),),
                        1.0,
                        1 << at,
                        True,
                        "",
                        about.keys,
                        about.label,
                        "scope",
                    )
                )
    return found


def _about(scope: Scope, known: Index) -> _About | None:
    """The narrowest kind of things that holds all that the scope has."""
    relations = {n.relation for key in scope.keys for n in known.lexicon.entities.get(key, ())}
    nodes = [n for n in known.graph.nodes if relations and relations <= n.relations]
    if not nodes:
        return None
    node = min(nodes, key=lambda n: (n.count, n.index))
    label = scope.labels[0] if len(scope.labels) == 1 else f"({len(scope.keys)} of before)"
    return _About(node.index, scope.keys, label)
