"""Choose the sentences that answer a question best: question + sentences -> their indexes, in the order to say them."""

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain

from nacre.language.thesaurus import function_words, synonyms
from nacre.language.tokens import lemma, name_tokens, tokenize
from nacre.records.evidence import EvidenceSentence

# a sentence that says less than half of what the best one says only adds words
MIN_SCORE_SHARE = 0.5


def rank_sentences(question: str, evidence: Sequence[EvidenceSentence], limit_words: int = 120) -> list[int]:
    """Indexes of the evidence worth saying, at most `limit_words` words together, each text once.

    Rare words of the question count most; the title of a sentence's passage counts half. Sentences that share nothing
    with the question are left out; what retrieval ranked higher wins where the words are even.
    """
    asked = [synonyms(t.lemma) for t in tokenize(question) if t.norm not in function_words()]
    bodies = [_lemmas(e.text) for e in evidence]
    titles = [_lemmas(e.title) for e in evidence]
    frequency = Counter(chain.from_iterable(bodies))
    total = len(evidence) + 1
    weights = [math.log(1 + total / (1 + max((frequency[f] for f in forms), default=0))) for forms in asked]

    def score(i: int) -> float:
        said = sum(w for f, w in zip(asked, weights, strict=True) if f & bodies[i])
        named = sum(0.5 * w for f, w in zip(asked, weights, strict=True) if f & titles[i] and not f & bodies[i])
        return (said + named) * (1.0 if said else 0.5)

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
    """The share of a question's content words that some sentence (or its title) says, 0..1."""
    asked = [synonyms(t.lemma) for t in tokenize(question) if t.norm not in function_words()]
    said = set().union(*(_lemmas(e.text) | _lemmas(e.title) for e in evidence)) if evidence else set()
    return sum(bool(forms & said) for forms in asked) / len(asked) if asked else 0.0


# the sentences of a graph come back from question to question
@lru_cache(8192)
def _lemmas(text: str) -> frozenset[str]:
    norms = name_tokens(text)
    return frozenset((*norms, *map(lemma, norms)))
