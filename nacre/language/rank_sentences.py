"""Rank the sentences that answer a question best: question + sentences -> their indexes, the best first."""

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain

from nacre.language.thesaurus import function_words, synonyms
from nacre.language.tokens import lemma, name_tokens, tokenize
from nacre.records.evidence import EvidenceSentence

# minimum score of a sentence as a share of the best score
MIN_SCORE_SHARE = 0.5


def rank_sentences(question: str, evidence: Sequence[EvidenceSentence], limit_words: int = 120) -> list[int]:
    """The indexes of the best sentences, each text once, with at most `limit_words` words in all.

    Rare words of the question weigh most; words in the title of a passage weigh half. Sentences without a word of the
    question are left out. Ties are broken by the score of the retrieval.
    """
    question_forms = _content_forms(question)
    bodies = [dictionary_forms(e.text) for e in evidence]
    titles = [dictionary_forms(e.title) for e in evidence]
    frequency = Counter(chain.from_iterable(bodies))
    total = len(evidence) + 1
    weights = [math.log(1 + total / (1 + max((frequency[f] for f in forms), default=0))) for forms in question_forms]

    def score(i: int) -> float:
        weighted = list(zip(question_forms, weights, strict=True))
        in_body = sum(w for f, w in weighted if f & bodies[i])
        in_title = sum(0.5 * w for f, w in weighted if f & titles[i] and not f & bodies[i])
        return (in_body + in_title) * (1.0 if in_body else 0.5)

    scored = sorted(
        ((score(i), -evidence[i].score, i) for i in range(len(evidence))), key=lambda s: (-s[0], s[1], s[2])
    )
    chosen: list[int] = []
    seen: set[str] = set()
    words = 0
    for value, _, i in scored:
        text = evidence[i].text
        length = len(text.split())
        if value <= MIN_SCORE_SHARE * scored[0][0] or text in seen or words + length > limit_words:
            continue
        chosen.append(i)
        seen.add(text)
        words += length
    return chosen


def word_coverage(question: str, evidence: Sequence[EvidenceSentence]) -> float:
    """The share of a question's content words that occur in some sentence or its title, 0..1."""
    question_forms = _content_forms(question)
    known = (
        set().union(*(dictionary_forms(e.text) | dictionary_forms(e.title) for e in evidence)) if evidence else set()
    )
    return sum(bool(forms & known) for forms in question_forms) / len(question_forms) if question_forms else 0.0


def _content_forms(question: str) -> list[frozenset[str]]:
    """The synonyms of each content word of a question."""
    return [synonyms(t.lemma) for t in tokenize(question) if t.norm not in function_words()]


# the same sentences of a graph are ranked for many questions
@lru_cache(8192)
def dictionary_forms(text: str) -> frozenset[str]:
    """The words of a text and their dictionary forms."""
    norms = name_tokens(text)
    return frozenset((*norms, *map(lemma, norms)))
