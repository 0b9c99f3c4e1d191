"""Inverse and symmetric predicates: derive the links in the other direction. Draft -> Draft."""

from ingestion.meaning.draft import Draft
from ingestion.vocabulary import INVERSE, OWL, SKOS

# pairs of inverses that a vocabulary declares in its own file, which graphs seldom include
KNOWN = (
    (SKOS + "broader", SKOS + "narrower"),
    (SKOS + "hasTopConcept", SKOS + "topConceptOf"),
)
SYMMETRIC = (SKOS + "related",)


def complete_inverses(draft: Draft) -> None:
    """Derive the links that inverse and symmetric predicates imply."""
    declared = [(draft.text(a), draft.text(b)) for a, b in draft.pairs(INVERSE)]
    for one, other in sorted({*declared, *KNOWN}):
        there, back = draft.pairs(one), draft.pairs(other)
        _add_reversed(draft, there, other)
        _add_reversed(draft, back, one)
    symmetric = [draft.text(n) for n in draft.instances_of(OWL + "SymmetricProperty")]
    for iri in sorted({*symmetric, *SYMMETRIC}):
        _add_reversed(draft, draft.pairs(iri), iri)


def _add_reversed(draft: Draft, links: list[tuple[int, int]], predicate: str) -> None:
    for subject, target in links:
        if draft.sort(target)[0] != "literal":
            draft.add(target, predicate, subject)
