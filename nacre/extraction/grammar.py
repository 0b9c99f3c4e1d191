"""Words of a sentence and what they may do in it: text -> Words with their classes."""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml

from nacre.language.thesaurus import function_words
from nacre.language.tokens import fold, lemma

_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_](?:[\w&/-]*[^\W_])?(?:['’](?:s\b)?)?|[,;:()–—]|[€$£%°]")
_INITIAL = re.compile(r"[A-Z]\.")
DATA = Path(__file__).parents[1] / "language" / "en" / "extraction.yaml"
CLAUSE_MARKS = frozenset(",;:()–—")


class Word(NamedTuple):
    """A word or mark, its place, its folded form, and its class: a key of the language data, "capital", "number",
    "verb" (it may be an inflected one), "mark" or "word"."""

    text: str
    start: int
    end: int
    norm: str
    kind: str


@cache
def word_classes() -> dict[str, frozenset[str]]:
    """The classes of words of the language data."""
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    data = yaml.load(DATA.read_text(encoding="utf-8"), Loader=loader)
    return {name: frozenset(str(said).split()) for name, said in data.items()}


def tag_words(text: str) -> list[Word]:
    """The words and marks of a sentence, in order.

    >>> [w.kind for w in tag_words("Ada Lovelace wrote the notes.")]
    ['capital', 'capital', 'verb', 'determiners', 'verb']
    """
    found: list[Word] = []
    for match in _WORD.finditer(text):
        said = match[0]
        end = match.end()
        if _INITIAL.match(text, match.start()) and end - match.start() == 1:
            end += 1
            said = text[match.start() : end]
        norm = fold(said).rstrip(".")
        found.append(Word(said, match.start(), end, norm, _kind(said, norm, first=not found)))
    return [word for i, word in enumerate(found) if not _is_hedge(found, i)]


def _is_hedge(found: Sequence[Word], i: int) -> bool:
    """Whether a word is of "up to", "more than" or the like before a number."""
    hedges = word_classes()["about_number"]
    for first in (i - 1, i):
        pair = found[max(0, first) : first + 2]
        if len(pair) == 2 and first >= 0 and all(w.norm in hedges for w in pair) and pair[0].norm not in ("to", "than"):
            after = found[first + 2 : first + 3]
            return bool(after) and after[0].kind == "number"
    return False


_ORDER = ("be", "have", "modal", "owning", "determiners", "persons", "things", "prepositions", "and", "but", "relative")


def _kind(said: str, norm: str, *, first: bool) -> str:
    if said in CLAUSE_MARKS:
        return "mark"
    if said[0].isdigit():
        return "number"
    known = word_classes()
    if len(said.rstrip(".")) == 1 and said[0].isupper() and not (first and norm == "a"):
        return "capital"
    if not (said[0].isupper() and not first and norm in known["months"]):
        for name in _ORDER:
            if norm in known[name]:
                return name
    if norm in known["adverbs"] or (said[0].islower() and norm.endswith("ly")):
        return "adverbs"
    if said[0].isupper() or any(c.isdigit() for c in said):
        return "capital"
    return "verb" if may_be_inflected(norm) else "word"


def may_be_inflected(norm: str) -> bool:
    """Whether a word may be a finite verb or a participle, by its form.

    >>> may_be_inflected("taught"), may_be_inflected("teaches"), may_be_inflected("lecture")
    (True, True, False)
    """
    if len(norm) < 3 or not norm.isalpha() or norm in function_words() or norm in word_classes()["nouns"]:
        return False
    return lemma(norm) != norm or norm.endswith("ed")


def may_be_participle(word: Word) -> bool:
    """Whether a word may follow a form of be or have."""
    return word.kind == "verb" and not (word.norm.endswith("s") and not word.norm.endswith("ss"))


def phrase_text(text: str, part: Sequence[Word]) -> str:
    """The stretch of the sentence that the words cover, without a determiner in front."""
    while part and part[0].kind in ("determiners", "owning") and len(part) > 1:
        part = part[1:]
    return " ".join(text[part[0].start : part[-1].end].split()) if part else ""
