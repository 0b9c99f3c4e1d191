"""Which words of a question a reading leaves unused: Candidate + Question -> positions; spans that links cover."""

from collections.abc import Iterable

from nacre.plans.inspect_select import asked_select, predicates_of, variable_of
from nacre.records.plan import Ask, Select
from nacre.understanding.parsing.state import Candidate
from nacre.understanding.question.types import Link, Question, token_mask


def unused_tokens(candidate: Candidate, question: Question) -> list[int]:
    """Return the positions of the content words that no part of a reading accounts for."""
    covered = candidate.derivation.covered & ~_unfollowed_mask(candidate)
    return [i for i in range(len(question.tokens)) if i not in question.stopwords and not covered >> i & 1]


def unfollowed_links(candidate: Candidate) -> list[Link]:
    """Return the properties and links that a reading names but that its plan does not contain, and the names that
    restrict nothing but another name.

    "Is he blocked" does not only ask whether he exists, nor "the ships that the Vigilant escorts" for the Vigilant.
    """
    is_checked, links = isinstance(candidate.body, Ask), candidate.derivation.links
    select = asked_select(candidate.body)
    if select is None:
        return []
    tested = predicates_of(select)
    unused = [
        link
        for link in links
        if link.kind == "property"
        if (named := {ref.via or (ref.predicate if is_checked else "") for ref in link.refs} - {""})
        if not named & tested
    ]
    beside = frozenset[tuple[str, ...]]() if is_checked else _keys_beside_answer(select)
    return [*unused, *(link for link in links if link.kind == "entity" and link.keys in beside)]


def _keys_beside_answer(select: Select) -> frozenset[tuple[str, ...]]:
    """The named things that are joined to the answer over other named things only."""
    named = {variable.name: variable.keys for variable in select.variables if len(variable.keys) == 1}
    reached = {variable_of(answer) for answer in select.answers} | set(select.group)
    for _ in select.edges:
        open_ends = reached - named.keys() or reached
        reached |= {n for e in select.edges if {e.subject, e.object} & open_ends for n in (e.subject, e.object)}
    return frozenset(keys for name, keys in named.items() if name not in reached)


def _unfollowed_mask(candidate: Candidate) -> int:
    """Return the token mask of the links that are not followed, without the words of others."""
    unfollowed = unfollowed_links(candidate)
    mask = others = 0
    for link in candidate.derivation.links:
        if link in unfollowed:
            mask |= link.covered
        else:
            others |= link.covered
    return mask & ~others


def is_inside_link(start: int, end: int, links: Iterable[Link]) -> bool:
    """Whether one link covers all tokens of a span."""
    mask = token_mask(start, end)
    return any(x.covered & mask == mask for x in links)


def overlaps_link(start: int, end: int, links: Iterable[Link]) -> bool:
    """Whether a link covers some token of a span."""
    mask = token_mask(start, end)
    return any(x.covered & mask for x in links)
