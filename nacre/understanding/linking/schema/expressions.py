"""What everyday expressions ask for, by the names that say it otherwise: "in charge of" -> "director"."""

from collections.abc import Iterator, Sequence
from functools import cache

from nacre.language.thesaurus import concept_phrases
from nacre.understanding.question.types import Question

# concepts of an expression that are looked for, the likeliest first, and what each place further down costs
MAX_CONCEPTS, CONCEPT_RANK_COST = 8, 0.01


# cues of more words that the last word of an expression may begin
_COMPUTING = frozenset(("avg", "sum", "count", "group", "compare"))


@cache
def _by_first() -> dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]]:
    """The expressions by their first lemma, longest first."""
    found: dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]] = {}
    for said, concepts in sorted(concept_phrases().items(), key=lambda each: -len(each[0])):
        found.setdefault(said[0], []).append((said, concepts))
    return found


def find_expressions(question: Question, taken: int) -> Iterator[tuple[int, int, Sequence[str]]]:
    """Where the question has an expression of several words, and the concepts it asks for; none of whose words of
    meaning are all `taken` (a bit mask), or that lie in a longer one.

    >>> from nacre.understanding.question.analyse import analyse
    >>> [(start, end, list(concepts[:1])) for start, end, concepts in expressions(analyse("who is in charge of it"), 0)]
    [(2, 5, ['head'])]
    """
    lemmas = [t.lemma for t in question.tokens]
    end = 0
    for i, first in enumerate(lemmas):
        if i < end:
            continue
        for said, concepts in _by_first().get(first, ()):
            if tuple(lemmas[i : i + len(said)]) != said:
                continue
            if any(i < c.start < i + len(said) < c.end and c.kind in _COMPUTING for c in question.cues):
                # "how long do they work on average" is nothing that they work on
                continue
            meant = [k for k in range(i, i + len(said)) if k not in question.stopwords] or range(i, i + len(said))
            if not any(taken >> k & 1 for k in meant):
                yield i, i + len(said), concepts[:MAX_CONCEPTS]
                end = i + len(said)
            break
