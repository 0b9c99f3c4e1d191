"""The best of what was listed: "the cheaper one", "which of the two has more seats?" -> "the cheapest of them"."""

from collections.abc import Sequence

from nacre.language.base import language, word_map
from nacre.language.thesaurus import english_data, gradable_adjective
from nacre.language.tokens import Token, tokenize

# endings of regular degrees
_MORE, _MOST = "er", "est"


def superlative_reference(question: str) -> str | None:
    """The question with a superlative of "them" in the place of one that stands for a thing, or of a comparative that
    chooses; None where there is neither.

    >>> superlative_reference("Which aircraft is used on the cheaper one?"), superlative_reference("Which of the two has more reservations?")
    ('Which aircraft is used on the cheapest of them?', 'Which of them has the most reservations?')
    >>> superlative_reference("which one is older"), superlative_reference("which one is older than 30"), superlative_reference("which is the largest?")
    ('which of them is the oldest', None, None)
    """
    words = tokenize(question)
    if any(t.norm in language().words["than"] for t in words):
        return None
    return _one(question, words) or _chosen(question, words)


def _one(question: str, words: Sequence[Token]) -> str | None:
    """ "The most expensive one", not followed by what says which."""
    known = language().words
    for i, token in enumerate(words):
        if token.norm not in known["stand_in"] or i < 2:
            continue
        after = words[i + 1].norm if i + 1 < len(words) else ""
        start = i - 2 if words[i - 2].norm in known["most"] | known["more"] | known["fewer"] else i - 1
        degree = _superlative([t.norm for t in words[start:i]])
        definite = start and words[start - 1].norm in known["article"]
        if degree is None or not definite or after in known["restricting"]:
            continue
        of = "" if after in known["among"] else f" {_those()}"
        return f"{question[: words[start].start]}{degree}{of}{question[token.end :]}"
    return None


def _chosen(question: str, words: Sequence[Token]) -> str | None:
    """ "Which of the two is older", "which one has more seats"."""
    known = language().words
    if len(words) < 4 or words[0].norm not in known["choosing"]:
        return None
    at = _after_those(words)
    if at is None or at + 1 >= len(words) or words[at].norm not in known["being"] | known["owning_verbs"]:
        return None
    first = at + 1
    if words[first].norm in known["article"]:
        first += 1
    longer = first + 1 < len(words) and words[first].norm in known["more"] | known["fewer"]
    for end in (first + 2, first + 1) if longer else (first + 1,):
        degree = _superlative([t.norm for t in words[first:end]])
        if degree is not None and not degree.startswith(words[first].norm + " "):
            rest = question[words[end - 1].end :]
            return f"{question[: words[0].end]} {_those()} {words[at].text} the {degree}{rest}"
    return None


def _those() -> str:
    """What stands for the things that were listed."""
    return word_map("dialogue", "standalone")["of_them"]


def _after_those(words: Sequence[Token]) -> int | None:
    """Where "which of the two", "which one of them" or "which one" ends; None where none begins the question."""
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
    """The highest degree of one or two words; None for words that have none.

    >>> _superlative(["cheaper"]), _superlative(["more", "recent"]), _superlative(["more"]), _superlative(["red"])
    ('cheapest', 'most recent', 'most', None)
    """
    known, highest = language().words, english_data()["highest"]
    if len(degree) == 2:
        lead = highest.get(degree[0], degree[0])
        return (
            f"{lead} {degree[1]}"
            if lead in known["most"] and gradable_adjective(tokenize(degree[1])[0]) is not None
            else None
        )
    word = degree[0]
    if word in highest:
        return str(highest[word])
    found = gradable_adjective(tokenize(word)[0])
    if found is None or found.degree == "positive":
        return None
    if found.degree == "superlative":
        return word
    return word.removesuffix(_MORE) + _MOST
