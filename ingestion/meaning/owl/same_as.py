"""Things that are said to be the same: all that is said of them is said of one."""

from collections import defaultdict

from ingestion.meaning.draft import Draft
from ingestion.vocabulary import ALTERNATIVE, OWL, TYPE, name_rank

SAME = OWL + "sameAs"
EQUIVALENT = OWL + "equivalentClass"
_SAME = (SAME, EQUIVALENT)
REASON = "same as another thing"


def merge_same(draft: Draft) -> None:
    """Of things that this graph describes and calls the same, the one said most of stands for all.

    The others' triples are kept aside and derived for it; where it has a value already, another one is not added, but
    another name is.
    """
    if not draft.uses(*_SAME):
        return
    for group in _groups(draft):
        best, *others = sorted(group, key=lambda n: (-len(draft.of(n)), draft.text(n)))
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
    return draft.sort(term)[0] == "iri" and bool(draft.of(term))


def _move(draft: Draft, other: int, best: int) -> None:
    has = {draft.row(row)[1] for row in draft.of(best)}
    for row in draft.of(other):
        _, predicate, target = draft.row(row)
        iri = draft.text(predicate)
        if iri not in _SAME and target != best:
            if predicate not in has or iri == TYPE or draft.sort(target)[0] != "literal":
                draft.add(best, iri, target)
            elif name_rank(iri) is not None:
                draft.add(best, ALTERNATIVE, target)
    draft.hide(draft.of(other), REASON)
    for row in draft.to(other):
        subject, predicate, _ = draft.row(row)
        iri = draft.text(predicate)
        if subject != best and iri not in _SAME:
            draft.add(subject, iri, best)
        draft.hide([row], REASON)
