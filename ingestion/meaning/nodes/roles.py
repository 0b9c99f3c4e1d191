"""Roles that are nodes of their own, such as memberships: each role becomes a property. Draft -> Draft."""

from typing import TYPE_CHECKING

import numpy as np

from ingestion.induce.names.column_names import lowercase_name
from ingestion.meaning.draft import Draft
from ingestion.meaning.nodes.measurements import measured_property
from ingestion.read.capsules import unique_counts
from ingestion.vocabulary import SCHEMA_TYPES, TYPE, local_name
from nacre.language.base import word_list

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Terms = NDArray[np.int32]


# maximum number of roles of one class
MAX_ROLES = 50


def unfold_roles(draft: Draft) -> None:
    """If the things of a class each link two things in a role, derive a property for each role: "chair", "trainer".

    The name of a property ("member", "person") shows which of the two is the holder.
    """
    facts = draft.facts
    roles = [n for n in facts.predicates if set(_words(draft.text(n))) & word_list("ingestion", "role_words")]
    if not roles:
        return
    typing = np.flatnonzero(facts.predicate == draft.predicate(TYPE))
    for role in roles:
        subjects = facts.subject[facts.predicate == role]
        for number in unique_counts(facts.object[typing[np.isin(facts.subject[typing], subjects)]])[0].tolist():
            if draft.text(number) not in SCHEMA_TYPES:
                _unfold(draft, role, np.unique(facts.subject[typing[facts.object[typing] == number]]))


def _unfold(draft: Draft, role: int, things: "Terms") -> None:
    facts = draft.facts
    rows = np.flatnonzero(np.isin(facts.subject, things) & (facts.predicate != draft.predicate(TYPE)))
    rows = rows[~np.isin(rows, list(draft.hidden))] if draft.hidden else rows
    links = rows[~facts.is_literal[facts.object[rows]]]
    ends = {n: _of(draft, links, n, things) for n in unique_counts(facts.predicate[links])[0].tolist() if n != role}
    named = _of(draft, rows, role, things)
    pair = [(n, end) for n, end in ends.items() if end is not None]
    if named is None or len(pair) != 2 or len(ends) != 2 or len(unique_counts(named)[0]) > MAX_ROLES:
        return
    pair.sort(key=lambda each: _holds(draft.text(each[0])))
    (_, owners), (_, holders) = pair
    if [_holds(draft.text(n)) for n, _ in pair] != [False, True]:
        return
    names = unique_counts(named)[0].tolist()
    texts = [draft.text(name) for name in names if draft.sort(name)[0] == "literal"]
    if texts and (2 * len(names) > len(things) or not all(any(map(str.isalpha, text)) for text in texts)):
        # unique titles, or positions, as those of authors
        return
    for name in names:
        here = named == name
        draft.derive(owners[here], measured_property(draft, draft.text(role), name), holders[here])


def _of(draft: Draft, rows: "NDArray[np.intp]", predicate: int, things: "Terms") -> "Terms | None":
    """The object of each thing by a predicate, if each has exactly one."""
    mine = rows[draft.facts.predicate[rows] == predicate]
    return draft.facts.object[mine] if np.array_equal(draft.facts.subject[mine], things) else None


def _holds(iri: str) -> bool:
    return not word_list("ingestion", "role_holder_words").isdisjoint(_words(iri))


def _words(iri: str) -> list[str]:
    return lowercase_name(local_name(iri)).split()
