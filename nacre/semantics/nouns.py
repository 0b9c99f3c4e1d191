"""Nouns in English as answers need them: plural, article, possessive, lists."""

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

from nacre.semantics.english import read
from nacre.semantics.words import lemma

_OF = (" of ", " in ", " for ", " from ", " with ", " by ", " at ", " on ", " to ", " per ", " as ")
_VOWELS = "aeiou"
_SPELLED_WITH_A_VOWEL = "AEFHILMNORSX"
_ACRONYM = 4


@cache
def _wording() -> dict[str, Any]:
    return {
        name: each if isinstance(each, dict) else frozenset(each.split()) for name, each in read("wording.yaml").items()
    }


def wording(name: str) -> Any:
    """One entry of the resource: a set of words, or the forms by the word."""
    return _wording()[name]


@lru_cache(maxsize=8192)
def plural(noun: str) -> str:
    """The plural of a noun phrase; one that is plural already stays.

    >>> plural("car variant"), plural("country"), plural("branch of a bank"), plural("Grapes"), plural("vehicle sent")
    ('car variants', 'countries', 'branches of a bank', 'Grapes', 'vehicles sent')
    """
    head, rest = _headed(noun)
    before, space, word = head.rpartition(" ")
    return f"{before}{space}{_plural(word)}{rest}"


@cache
def _singulars() -> dict[str, str]:
    return {several: one for one, several in wording("plurals").items()}


@lru_cache(maxsize=8192)
def singular(noun: str) -> str:
    """The singular of a noun phrase.

    >>> singular("grapes"), singular("project outcomes"), singular("series"), singular("class"), singular("people")
    ('grape', 'project outcome', 'series', 'class', 'person')
    """
    head, rest = _headed(noun)
    before, space, word = head.rpartition(" ")
    low = word.lower()
    irregular = _singulars().get(low, "")
    one = irregular or (low if low in wording("unchanged") else lemma(low))
    if one == low or not low.isalpha() or _plural(one) != low:
        return noun
    return f"{before}{space}{word[0]}{one[1:]}{rest}"


def is_plural(noun: str) -> bool:
    """Whether a noun phrase is a plural by its form.

    >>> is_plural("grapes"), is_plural("status"), is_plural("series"), is_plural("sales in millions")
    (True, False, False, True)
    """
    return singular(noun) != noun or _headed(noun)[0].rpartition(" ")[2].lower() in wording("plural_only")


def article(noun: str) -> str:
    """The noun with "a" or "an".

    >>> article("hour"), article("EU grant"), article("university"), article("X5"), article("island")
    ('an hour', 'an EU grant', 'a university', 'an X5', 'an island')
    """
    first = noun.split()[0] if noun.split() else noun
    low = first.lower()
    if low.startswith(tuple(wording("vowel_sound"))):
        vowel = True
    elif (first.isupper() and len(first) <= _ACRONYM) or any(map(str.isdigit, first)):
        vowel = first[:1] in _SPELLED_WITH_A_VOWEL or first.startswith(("8", "11", "18"))
    elif low.startswith(tuple(wording("consonant_sound"))):
        vowel = False
    else:
        vowel = low[:1] in _VOWELS
    return f"{'an' if vowel else 'a'} {noun}"


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "city"), counted(1200, "city")
    ('1 city', '1,200 cities')
    """
    return f"{number:,} {noun if number == 1 else plural(noun)}"


def joined(names: Sequence[str], word: str = "and") -> str:
    """Names as a list; with semicolons where a name has commas of its own.

    >>> joined(["A", "B", "C"]), joined(["A, the first", "B"])
    ('A, B and C', 'A, the first; and B')
    """
    if len(names) < 2:
        return "".join(names)
    if any(", " in name for name in names):
        return f"{'; '.join(names[:-1])}; {word} {names[-1]}"
    return f"{', '.join(names[:-1])} {word} {names[-1]}"


def _plural(word: str) -> str:
    low = word.lower()
    known: dict[str, str] = wording("plurals")
    if low in wording("unchanged") or low in wording("plural_only") or low in known.values():
        return word
    if low in known:
        return word[0] + known[low][1:]
    if not low.isalpha():
        return word if low.endswith("s") else f"{word}s"
    if low.endswith("s") and lemma(low) != low and not low.endswith(("ss", "us", "is")):
        return word
    if word.isupper() and len(word) <= _ACRONYM:
        return f"{word}s"
    if lemma(low) != low and not low.endswith("ing"):
        # a form of a verb, as in "total spent"
        return word
    if low.endswith(("s", "x", "z", "ch", "sh")):
        return f"{word}es"
    if low.endswith("y") and low[-2:-1] not in _VOWELS:
        return f"{word[:-1]}ies"
    return f"{word}s"


def _headed(noun: str) -> tuple[str, str]:
    """The part of a noun phrase that its plural changes, and the rest: what follows a preposition or a bracket, and a
    participle before it ("vehicle sent").
    """
    ends = [at for mark in (*_OF, " (") if (at := noun.find(mark)) > 0]
    end = min(ends, default=len(noun))
    before, space, last = noun[:end].rpartition(" ")
    if space and last in wording("participles"):
        end = len(before)
    return noun[:end], noun[end:]
