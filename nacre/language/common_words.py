"""Words that any English text may have, as opposed to names: Token -> yes or no."""

import simplemma

from nacre.language.tokens import Token


def is_common_word(token: Token, *, is_first: bool = False) -> bool:
    """Whether a word is in the dictionary and not written as a name. The first word of a sentence has a capital anyway.

    >>> from nacre.language.tokens import tokenize
    >>> [is_common_word(token) for token in tokenize("pitch Tucson Look xdriv i4")]
    [True, False, False, False, False]
    """
    if not token.norm.isalpha() or (token.text[0].isupper() and not is_first):
        return False
    return bool(simplemma.is_known(token.norm, lang="en") or simplemma.is_known(token.lemma, lang="en"))
