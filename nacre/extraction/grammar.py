"""Tag the words of a sentence: text -> Words with their classes."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from nacre.language.base import word_list
from nacre.language.thesaurus import function_words
from nacre.language.tokens import fold, lemma

_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_](?:[\w&/-]*[^\W_])?(?:['’](?:s\b)?)?|[,;:()–—]|[€$£%°]")
_INITIAL = re.compile(r"[A-Z]\.")
CLAUSE_MARKS = frozenset(",;:()–—")
# classes of function words in the order in which they are tried
_FUNCTION_CLASSES = (
    "be",
    "have",
    "modal",
    "owning",
    "determiners",
    "persons",
    "things",
    "prepositions",
    "and",
    "but",
    "relative",
)


class Word(NamedTuple):
    """A word or punctuation mark with its place, its folded form and its class.

    The class is a key of `language/en/extraction.yaml`, or "capital", "number", "verb" (a possible inflected verb),
    "mark" or "word".
    """

    text: str
    start: int
    end: int
    norm: str
    kind: str


def is_in_class(word: str, name: str) -> bool:
    """Whether a folded word is in a class of the language data."""
    return word in word_list("extraction", name)


def tag_words(text: str) -> list[Word]:
    """The words and marks of a sentence in order, without hedges such as "up to" before numbers.

    >>> [w.kind for w in tag_words("Ada Lovelace wrote the notes.")]
    ['capital', 'capital', 'verb', 'determiners', 'verb']
    """
    words: list[Word] = []
    for match in _WORD.finditer(text):
        written = match[0]
        end = match.end()
        if _INITIAL.match(text, match.start()) and end - match.start() == 1:
            end += 1
            written = text[match.start() : end]
        norm = fold(written).rstrip(".")
        words.append(Word(written, match.start(), end, norm, _class_of(written, norm, first=not words)))
    return [word for i, word in enumerate(words) if not _is_hedge(words, i)]


def may_be_inflected(norm: str) -> bool:
    """Whether a word may be a finite verb or a participle, by its form.

    >>> may_be_inflected("taught"), may_be_inflected("teaches"), may_be_inflected("lecture")
    (True, True, False)
    """
    if len(norm) < 3 or not norm.isalpha() or norm in function_words() or is_in_class(norm, "nouns"):
        return False
    return lemma(norm) != norm or norm.endswith("ed")


def may_be_participle(word: Word) -> bool:
    """Whether a word may be a participle after a form of "be" or "have"."""
    return word.kind == "verb" and not (word.norm.endswith("s") and not word.norm.endswith("ss"))


def phrase_text(text: str, part: Sequence[Word]) -> str:
    """The text from the first to the last of some words, without determiners at the start."""
    while part and part[0].kind in ("determiners", "owning") and len(part) > 1:
        part = part[1:]
    return " ".join(text[part[0].start : part[-1].end].split()) if part else ""


def _class_of(written: str, norm: str, *, first: bool) -> str:
    if written in CLAUSE_MARKS:
        return "mark"
    if written[0].isdigit():
        return "number"
    if len(written.rstrip(".")) == 1 and written[0].isupper() and not (first and norm == "a"):
        return "capital"
    if not (written[0].isupper() and not first and is_in_class(norm, "months")):
        for name in _FUNCTION_CLASSES:
            if is_in_class(norm, name):
                return name
    if is_in_class(norm, "adverbs") or (written[0].islower() and norm.endswith("ly")):
        return "adverbs"
    if written[0].isupper() or any(c.isdigit() for c in written):
        return "capital"
    return "verb" if may_be_inflected(norm) else "word"


def _is_hedge(words: Sequence[Word], i: int) -> bool:
    """Whether a word belongs to "up to", "more than" or a similar pair before a number."""
    for first in (i - 1, i):
        pair = words[max(0, first) : first + 2]
        is_pair = len(pair) == 2 and first >= 0 and all(is_in_class(word.norm, "about_number") for word in pair)
        if is_pair and pair[0].norm not in ("to", "than"):
            after = words[first + 2 : first + 3]
            return bool(after) and after[0].kind == "number"
    return False
