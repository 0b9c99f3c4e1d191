"""Things that are the same: one of them gets all facts. Draft -> Draft."""

from collections import defaultdict

from ingestion.meaning.draft import Draft
from ingestion.vocabulary import ALTERNATIVE, OWL, TYPE, name_rank

SAME = OWL + "sameAs"
EQUIVALENT = OWL + "equivalentClass"
_SAME = (SAME, EQUIVALENT)
REASON = "same as another thing"


def merge_same(draft: Draft) -> None:
    """Of described things that are the same, the one with most facts represents all.

    The triples of the others are hidden and derived for it. If it has a value of a property already, no other one is
    added, except for names.
    """
    if not draft.has_any(*_SAME):
        return
    for group in _groups(draft):
        best, *others = sorted(group, key=lambda n: (-len(draft.rows_of(n)), draft.text(n)))
        for other in others:
            _move(draft, other, best)


def _groups(draft: Draft) -> list[set[int]]:
    near: dict[int, set[int]] = defaultdict(set)
    for iri in _SAME:
        for one, other in draft.pairs(iri):
            if one != other and _described(draft, one) and _described(draft, other):
                near[one].add(other)
                near[other].add(one)
    groups, seen = [], set[int]()
    for start in sorted(near):
        if start in seen:
            continue
        group, queue = {start}, [start]
        while queue:
            for other in near[queue.pop()] - group:
                group.add(other)
                queue.append(other)
        seen |= group
        groups.append(group)
    return groups


def _described(draft: Draft, term: int) -> bool:
    return draft.sort(term)[0] == "iri" and bool(draft.rows_of(term))


def _move(draft: Draft, other: int, best: int) -> None:
    has = {draft.row(row)[1] for row in draft.rows_of(best)}
    for row in draft.rows_of(other):
        _, predicate, target = draft.row(row)
        iri = draft.text(predicate)
        if iri not in _SAME and target != best:
            if predicate not in has or iri == TYPE or draft.sort(target)[0] != "literal":
                draft.add(best, iri, target)
            elif name_rank(iri) is not None:
                draft.add(best, ALTERNATIVE, target)
    draft.hide(draft.rows_of(other), REASON)
    for row in draft.rows_to(other):
        subject, predicate, _ = draft.row(row)
        iri = draft.text(predicate)
        if subject != best and iri not in _SAME:
            draft.add(subject, iri, best)
        draft.hide([row], REASON)
