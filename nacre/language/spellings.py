"""Values that are written in several ways: text -> the key of its spellings; two texts -> how alike they are."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from functools import cache

from rapidfuzz.distance import OSA

from nacre.language.data import load_language_texts

RESOURCE = "resources/spellings.yaml"

# letters of the shortest values that may be misspellings or variants of each other; letters of abbreviations (given)
MIN_SIMILAR, MIN_VARIANT, MAX_INITIALS, MAX_LENGTH = 6, 4, 5, 80

_DOTS = re.compile(r"(?<=[^\W\d_])[.'’´`](?!\d)")

_JOINTS = re.compile(r"(?<=\w)\s*[-‐‑–—_,;:]\s*(?=\w)")

_DIGIT = re.compile(r"\d")

_SPACES = re.compile(r"(?<!\d) | (?!\d)")


def spelling_key(text: str) -> str:
    """What is equal for texts that differ by case, spaces, Unicode form or punctuation alone, also by an article and by
    letters that are written as two. Signs that may mean something stay: "A-", "C++", "1.5".

    >>> spelling_key("U.K.") == spelling_key("uk"), spelling_key("Hamn - Sandø") == spelling_key("HAMN–SANDØ")
    (True, True)
    """
    return _SPACES.sub("", _plain(text))


def same_spellings(value: str, values: Iterable[str]) -> tuple[str, ...]:
    """A value and those that have its key."""
    key = spelling_key(value)
    others = sorted(each for each in values if each != value and len(each) <= MAX_LENGTH and spelling_key(each) == key)
    return (value, *others)


def spelling_groups(values: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """The values that are one in several spellings or variants, in time that grows with their number. Initials count
    where one value alone has them.

    >>> spelling_groups(["Italy", "U.K.", "United Kingdom", "Gray", "grey", "Uganda", "UK", "A. B."])
    (('Gray', 'grey'), ('U.K.', 'UK', 'United Kingdom'))
    """
    groups: dict[str, list[str]] = defaultdict(list)
    initials: dict[str, set[str]] = defaultdict(set)
    for value in sorted(set(values)):
        if len(value) <= MAX_LENGTH:
            plain = _plain(value)
            key = _variant_key(plain)
            groups[key].append(value)
            letters = _initials(plain)
            if letters and (short := _variant_key(letters)) != key:
                initials[short].add(key)
    for short, longs in initials.items():
        if len(longs) == 1 and short in groups:
            groups[min(longs)] += groups.pop(short)
    return tuple(sorted(tuple(sorted(group)) for group in groups.values() if len(group) > 1))


def is_variant(one: str, other: str) -> bool:
    """Whether two texts are surely two ways to write one: in British and American English, or initials.

    >>> is_variant("cancelled", "canceled"), is_variant("United Kingdom", "U.K."), is_variant("paid", "part")
    (True, True, False)
    """
    first, second = _plain(one), _plain(other)
    if _variant_key(first) == _variant_key(second):
        return True
    return first == _initials(second) or second == _initials(first)


def is_similar(one: str, other: str) -> bool:
    """Whether one of two texts may be a misspelling of the other: one letter differs, is left out, or is moved.

    >>> is_similar("Norwegian", "Norwegain"), is_similar("Type A", "Type B"), is_similar("Site 12", "Site 13")
    (True, False, False)
    """
    first, second = spelling_key(one), spelling_key(other)
    if min(len(first), len(second)) < MIN_SIMILAR or abs(len(first) - len(second)) > 1 or first[0] != second[0]:
        return False
    words = _plain(one).split(), _plain(other).split()
    if len(words[0]) == len(words[1]):
        # of several words each is long enough
        differ = [(a, b) for a, b in zip(*words, strict=True) if a != b]
        if len(differ) != 1 or min(map(len, differ[0])) < MIN_VARIANT:
            return False
    return not _DIGIT.search(first + second) and OSA.distance(first, second, score_cutoff=1) <= 1


def _plain(text: str) -> str:
    """A text in small letters with one blank between words, without its article."""
    low = unicodedata.normalize("NFKC", text).casefold()
    low = "".join(load_language_texts(RESOURCE)["letters"].get(each, each) for each in low)
    low = " ".join(_JOINTS.sub(" ", _DOTS.sub("", low)).split())
    first, _, rest = low.partition(" ")
    return rest if rest and first in load_language_texts(RESOURCE)["articles"] else low


def _variant_key(plain: str) -> str:
    if len(plain) < MIN_VARIANT:
        return f" {_SPACES.sub('', plain)}"  # no key of a longer text
    for pattern, counts_as in _variants():
        plain = pattern.sub(counts_as, plain)
    return plain.replace(" ", "")


def _initials(plain: str) -> str:
    """The first letters of a few words; "" for one word or many."""
    words = [word for word in plain.replace("-", " ").split() if word[0].isalpha()]
    return "".join(word[0] for word in words) if 1 < len(words) <= MAX_INITIALS else ""


@cache
def _variants() -> list[tuple[re.Pattern[str], str]]:
    return [(re.compile(pattern), counts_as) for pattern, counts_as in load_language_texts(RESOURCE)["variants"]]
