"""Parse class expressions of OWL: the nodes of a restriction, union or intersection -> Expression."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from ingestion.meaning.draft import Draft
from ingestion.vocabulary import OWL, RDF, RDFS, XSD

ExpressionKind = Literal["class", "some", "only", "value", "count", "and", "or", "not", "one of"]

_LISTS: dict[str, ExpressionKind] = {OWL + "intersectionOf": "and", OWL + "unionOf": "or", OWL + "oneOf": "one of"}
_COUNTS = {
    OWL + name: (low, high)
    for stem, low, high in (
        ("ardinality", True, True),
        ("minCardinality", True, False),
        ("maxCardinality", False, True),
    )
    for name in ({"c" + stem, "qualifiedC" + stem} if low and high else {stem, stem.replace("Card", "QualifiedCard")})
}
# levels of an expression, and its parts at any depth: those of parts that it has twice count twice (given)
MAX_DEPTH, MAX_PARTS = 20, 10_000
# a node with one of these predicates belongs to a class expression
PARTS = (
    *_LISTS,
    OWL + "onProperty",
    OWL + "complementOf",
    OWL + "datatypeComplementOf",
    OWL + "onDatatype",
    RDF + "first",
)


@dataclass(frozen=True)
class Expression:
    """A class expression. `term` is the class, or the value of a restriction on `predicate`."""

    kind: ExpressionKind
    term: int = -1
    predicate: int = -1
    parts: tuple["Expression", ...] = ()
    low: int = 0
    high: int | None = None

    @cached_property
    def size(self) -> int:
        """The number of its parts at any depth, and itself."""
        return 1 + sum(part.size for part in self.parts)


class Expressions:
    """Parses the expressions of a graph; None for unsupported ones, such as data ranges and inverse predicates, and for
    expressions of more than `MAX_PARTS` parts. Raises RuleStopped if there are too many in all."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        # nodes may be shared, and an expression be part of itself
        self._known: dict[tuple[int, int], Expression | None] = {}
        self._lists: dict[int, list[int]] = {}

    def read(self, node: int, depth: int = 0) -> Expression | None:
        """The expression of a term: a class by its IRI, others by their blank node."""
        if (node, depth) not in self._known:
            found = self._read(node, depth)
            self._known[node, depth] = found if found is None or found.size <= MAX_PARTS else None
        found = self._known[node, depth]
        self._draft.budget.spend(found.size if found and not depth else 1)
        return found

    def _read(self, node: int, depth: int) -> Expression | None:
        draft = self._draft
        kind = draft.sort(node)[0]
        if kind == "iri":
            iri = draft.text(node)
            return None if iri.startswith(XSD) or iri == RDFS + "Literal" else Expression("class", node)
        if kind != "blank" or depth > MAX_DEPTH:
            return None
        said = {draft.text(p): o for _, p, o in map(draft.row, draft.rows_of(node))}
        for iri, list_kind in _LISTS.items():
            if iri in said:
                members = self.items(said[iri])
                parts = [Expression("class", m) if list_kind == "one of" else self.read(m, depth + 1) for m in members]
                known = tuple(part for part in parts if part is not None)
                return Expression(list_kind, parts=known) if len(known) == len(parts) > 0 else None
        if OWL + "complementOf" in said:
            inner = self.read(said[OWL + "complementOf"], depth + 1)
            return Expression("not", parts=(inner,)) if inner else None
        predicate = said.get(OWL + "onProperty", -1)
        return (
            self._restriction(said, predicate, depth) if predicate >= 0 and draft.sort(predicate)[0] == "iri" else None
        )

    def items(self, node: int) -> list[int]:
        """The members of a list, which may be shared by many expressions."""
        if node not in self._lists:
            self._lists[node] = self._items(node)
        return self._lists[node]

    def _items(self, node: int) -> list[int]:
        draft, found, seen = self._draft, list[int](), set[int]()
        while node not in seen:
            draft.budget.spend()
            seen.add(node)
            said = {draft.text(p): o for _, p, o in map(draft.row, draft.rows_of(node))}
            if RDF + "first" not in said:
                break
            found.append(said[RDF + "first"])
            node = said.get(RDF + "rest", node)
        return found

    def _restriction(self, said: dict[str, int], predicate: int, depth: int) -> Expression | None:
        if OWL + "hasValue" in said:
            return Expression("value", said[OWL + "hasValue"], predicate)
        for iri, kind in ((OWL + "someValuesFrom", "some"), (OWL + "allValuesFrom", "only")):
            if iri in said:
                filler = self.read(said[iri], depth + 1)
                return Expression("some" if kind == "some" else "only", -1, predicate, (filler,)) if filler else None
        for iri, (low, high) in _COUNTS.items():
            if iri in said and (text := self._draft.text(said[iri])).isdigit():
                filler = self.read(said[OWL + "onClass"], depth + 1) if OWL + "onClass" in said else None
                number = int(text)
                parts = (filler,) if filler else ()
                return Expression("count", -1, predicate, parts, number if low else 0, number if high else None)
        return None
