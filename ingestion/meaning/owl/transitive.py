"""Transitive predicates: derive the links over several steps. Draft -> Draft."""

from collections import defaultdict

from ingestion.meaning.draft import Draft
from ingestion.vocabulary import OWL, SCHEMA_PREDICATES

# maximum number of derived links for each stated one: a chain of n links implies n²/2
MAX_LINKS_PER_THING = 20


def complete_transitive(draft: Draft) -> None:
    """Derive the links that transitive predicates imply; a predicate with too many gets none."""
    for iri in sorted(draft.text(n) for n in draft.instances_of(OWL + "TransitiveProperty")):
        if iri in SCHEMA_PREDICATES:
            continue
        direct: dict[int, set[int]] = defaultdict(set)
        for subject, target in draft.pairs(iri):
            if draft.sort(target)[0] != "literal":
                direct[subject].add(target)
        implied = _implied_links(direct)
        if implied is None:
            draft.limits.append(f"complete transitive: no further links of <{iri}>, since there would be too many")
        for subject, target in implied or ():
            draft.add(subject, iri, target)


def _implied_links(direct: dict[int, set[int]]) -> list[tuple[int, int]] | None:
    """The pairs that are two or more links apart, without loops; None beyond the limit."""
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
                return None
    return found
