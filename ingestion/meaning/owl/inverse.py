"""Inverse and symmetric predicates: what is said in one direction is said in the other."""

from ingestion.meaning.draft import Draft
from ingestion.vocabulary import INVERSE, OWL, SKOS

# pairs that a vocabulary declares in its own file, which a graph seldom brings along
KNOWN = (
    (SKOS + "broader", SKOS + "narrower"),
    (SKOS + "hasTopConcept", SKOS + "topConceptOf"),
)
SYMMETRIC = (SKOS + "related",)


def complete_inverses(draft: Draft) -> None:
    """Derive the links that inverse and symmetric predicates stand for."""
    declared = [(draft.text(a), draft.text(b)) for a, b in draft.pairs(INVERSE)]
    for one, other in sorted({*declared, *KNOWN}):
        there, back = draft.pairs(one), draft.pairs(other)
        _turned(draft, there, other)
        _turned(draft, back, one)
    symmetric = [draft.text(n) for n in draft.typed(OWL + "SymmetricProperty")]
    for iri in sorted({*symmetric, *SYMMETRIC}):
        _turned(draft, draft.pairs(iri), iri)


def _turned(draft: Draft, links: list[tuple[int, int]], predicate: str) -> None:
    for subject, target in links:
        if draft.sort(target)[0] != "literal":
            draft.add(target, predicate, subject)
