"""Rewrite choices of the best as superlatives: "the cheaper one" -> "the cheapest of them"."""

from collections.abc import Sequence

from nacre.language.base import language, word_map
from nacre.language.thesaurus import english_data, function_words, gradable_adjective
from nacre.language.tokens import Token, tokenize

# Endings of regular degrees.
_COMPARATIVE, _SUPERLATIVE = "er", "est"
# Words of a question that chooses, at least: "which one is older".
MIN_CHOICE_TOKENS = 4


def superlative_reference(question: str) -> str | None:
    """The question with a superlative of "them", in place of one with "one" or of a comparative that chooses. None if
    there is neither.

    >>> superlative_reference("Which aircraft is used on the cheaper one?")
    'Which aircraft is used on the cheapest of them?'
    >>> superlative_reference("Which of the two has more reservations?")
    'Which of them has the most reservations?'
    >>> superlative_reference("which one is older"), superlative_reference("which one is older than 30")
    ('which of them is the oldest', None)
    >>> superlative_reference("which is the largest?")
    """
    words = tokenize(question)
    if any(t.norm in language().words["than"] for t in words):
        return None
    return _replace_one(question, words) or _replace_comparative(question, words)


def _replace_one(question: str, words: Sequence[Token]) -> str | None:
    """ "The most expensive one", unless words after it say which."""
    known = language().words
    for i, token in enumerate(words):
        if token.norm not in known["stand_in"] or i < 2:
            continue
        after = words[i + 1].norm if i + 1 < len(words) else ""
        has_two_words = words[i - 2].norm in known["most"] | known["more"] | known["fewer"]
        start = i - 2 if has_two_words else i - 1
        degree = _superlative([t.norm for t in words[start:i]])
        is_definite = start and words[start - 1].norm in known["article"]
        # In "the largest one time purchase" another noun follows; in "is the larger one red" the subject is complete.
        is_subject = start > 1 and words[start - 2].norm in known["asking_yes_no"]
        has_noun = after and after not in function_words() and not is_subject
        if degree is None or not is_definite or has_noun or after in known["restricting"]:
            continue
        of_them = "" if after in known["among"] else f" {_of_them()}"
        return f"{question[: words[start].start]}{degree}{of_them}{question[token.end :]}"
    return None


def _replace_comparative(question: str, words: Sequence[Token]) -> str | None:
    """ "Which of the two is older", "which one has more seats"."""
    known = language().words
    if len(words) < MIN_CHOICE_TOKENS or words[0].norm not in known["choosing"]:
        return None
    at = _choice_end(words)
    if at is None or at + 1 >= len(words) or words[at].norm not in known["being"] | known["owning_verbs"]:
        return None
    first = at + 1
    if words[first].norm in known["article"]:
        first += 1
    may_have_two_words = first + 1 < len(words) and words[first].norm in known["more"] | known["fewer"]
    for end in (first + 2, first + 1) if may_have_two_words else (first + 1,):
        degree = _superlative([t.norm for t in words[first:end]])
        if degree is not None and not degree.startswith(words[first].norm + " "):
            rest = question[words[end - 1].end :]
            return f"{question[: words[0].end]} {_of_them()} {words[at].text} the {degree}{rest}"
    return None


def _of_them() -> str:
    return word_map("dialogue", "standalone")["of_them"]


def _choice_end(words: Sequence[Token]) -> int | None:
    """Where "which of the two", "which one of them" or "which one" ends. None if the question begins otherwise."""
    known = language().words
    at = 1
    if words[at].norm in known["stand_in"]:
        at += 1
    if words[at].norm not in known["among"]:
        return at if at == 2 else None
    at += 1
    while at < len(words) and words[at].norm in known["article"] | known["pronoun_many"] | known["pronoun_number"]:
        at += 1
    return at


def _superlative(degree: Sequence[str]) -> str | None:
    """The highest degree of one or two words. None for words without degrees.

    >>> _superlative(["cheaper"]), _superlative(["more", "recent"]), _superlative(["more"]), _superlative(["red"])
    ('cheapest', 'most recent', 'most', None)
    """
    most, highest = language().words["most"], english_data()["highest"]
    if len(degree) == 2:
        lead = highest.get(degree[0], degree[0])
        is_gradable = gradable_adjective(tokenize(degree[1])[0]) is not None
        return f"{lead} {degree[1]}" if lead in most and is_gradable else None
    word = degree[0]
    if word in highest:
        return str(highest[word])
    adjective = gradable_adjective(tokenize(word)[0])
    if adjective is None or adjective.degree == "positive":
        return None
    return word if adjective.degree == "superlative" else word.removesuffix(_COMPARATIVE) + _SUPERLATIVE
