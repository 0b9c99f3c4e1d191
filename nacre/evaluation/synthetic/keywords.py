"""Turn a question into keywords: the words that are no function words, in any order; names keep theirs."""

from itertools import pairwise
from random import Random

from nacre.language.thesaurus import function_words
from nacre.language.tokens import Token, tokenize


def shuffled_keywords(question: str, draw: Random) -> str | None:
    """The content words of a question in any order. None if there is only one phrase.

    >>> shuffled_keywords("What is the length of the Red River?", Random(1))
    'Red River length'
    """
    tokens = tokenize(question)
    phrases: list[list[Token]] = []
    for before, token in pairwise([None, *tokens]):
        if token is None or {token.norm, token.lemma} & function_words():
            continue
        # words of a name stay together
        if phrases and phrases[-1][-1] is before and before.text[:1].isupper() and token.text[:1].isupper():
            phrases[-1].append(token)
        else:
            phrases.append([token])
    words = [question[phrase[0].start : phrase[-1].end] for phrase in phrases]
    draw.shuffle(words)
    return " ".join(words) if len(words) > 1 else None
