"""Transitive predicates: what is part of a part is part of the whole."""

from collections import defaultdict

from ingestion.meaning.draft import Draft
from ingestion.vocabulary import OWL, SCHEMA_PREDICATES

# derived links for each one that is said, at most: a chain of n links has n²/2
MAX_LINKS_PER_THING = 20


def complete_transitive(draft: Draft) -> None:
    """Derive the links that a transitive predicate stands for; none of one that would have more than so many."""
    for iri in sorted(draft.text(n) for n in draft.typed(OWL + "TransitiveProperty")):
        if iri in SCHEMA_PREDICATES:
            continue
        direct: dict[int, set[int]] = defaultdict(set)
        for subject, target in draft.pairs(iri):
            if draft.sort(target)[0] != "literal":
                direct[subject].add(target)
        for subject, target in _further(direct):
            draft.add(subject, iri, target)


def _further(direct: dict[int, set[int]]) -> list[tuple[int, int]]:
    """What lies two links away and more, by subject; nothing leads to itself. Empty beyond the limit."""
    most = MAX_LINKS_PER_THING * sum(map(len, direct.values()))
    found: list[tuple[int, int]] = []
    for start in sorted(direct):
        seen = {start, *direct[start]}
        queue = sorted(direct[start])
        while queue:
            for target in sorted(direct.get(queue.pop(), set()) - seen):
                seen.add(target)
                queue.append(target)
                found.append((start, target))
            if len(found) > most:
                return []
    return found
