"""Find everyday expressions and the concepts they ask for: Question -> spans: "in charge of" -> "director"."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from nacre.language.thesaurus import concept_phrases
from nacre.understanding.question.types import Question

# Concepts of one expression that are looked up, likeliest first, and what each rank costs.
MAX_CONCEPTS, CONCEPT_RANK_COST = 8, 0.01
# Kinds of cues that may begin with the last word of an expression.
_COMPUTING_CUES = frozenset(("avg", "sum", "count", "group", "compare"))

_Expression = tuple[tuple[str, ...], tuple[str, ...]]


def find_expressions(question: Question, linked: int) -> Iterator[tuple[int, int, Sequence[str]]]:
    """The spans of expressions, with their concepts. Leaves out expressions inside longer ones, and those with a
    content word that is already linked (a bit mask of tokens).

    >>> from nacre.understanding.question.analyse import analyse_question
    >>> question = analyse_question("who is in charge of it")
    >>> [(start, end, list(concepts[:1])) for start, end, concepts in find_expressions(question, 0)]
    [(2, 5, ['head'])]
    """
    lemmas = [t.lemma for t in question.tokens]
    end = 0
    for i, first in enumerate(lemmas):
        if i < end:
            continue
        for words, concepts in _expressions_by_first_word().get(first, ()):
            if tuple(lemmas[i : i + len(words)]) != words:
                continue
            if any(i < c.start < i + len(words) < c.end and c.kind in _COMPUTING_CUES for c in question.cues):
                # "how long do they work on average" does not contain "work on".
                continue
            content = [k for k in range(i, i + len(words)) if k not in question.stopwords] or range(i, i + len(words))
            if not any(linked >> k & 1 for k in content):
                yield i, i + len(words), concepts[:MAX_CONCEPTS]
                end = i + len(words)
            break


@cache
def _expressions_by_first_word() -> Mapping[str, Sequence[_Expression]]:
    """The expressions by their first lemma, longest first."""
    found: dict[str, list[_Expression]] = {}
    for words, concepts in sorted(concept_phrases().items(), key=lambda each: -len(each[0])):
        found.setdefault(words[0], []).append((words, concepts))
    return found
