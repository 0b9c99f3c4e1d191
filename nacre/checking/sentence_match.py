"""Match the words of a sentence with its evidence: text + EvidenceIndex -> SentenceMatch."""

import re
from functools import cached_property
from typing import NamedTuple

from nacre.checking.evidence_index import NEGATIONS, CellPosition, EvidenceIndex
from nacre.language.dates import find_periods
from nacre.language.quantities.amounts import Amount
from nacre.language.thesaurus import function_words
from nacre.language.tokens import Token, tokenize

_YES_NO = re.compile(r"\W*(yes|no)(?=\s*(?:[,.:;!–—-]|$)|\s+(?:it|there|they|he|she|the|none|this|that|not)\b)", re.I)
_VERBS = frozenset("is are was were be been do does did has have had can could will would may might must shall".split())


class MatchedSpan(NamedTuple):
    """A name or number of the sentence and where its evidence has it."""

    start: int
    end: int
    places: frozenset[CellPosition]


class SentenceMatch:
    """One sentence and what it may rest on."""

    def __init__(self, text: str, held: EvidenceIndex, language: str = "en") -> None:
        self.text = text
        self.language = language
        self.held = held
        self.words = tokenize(text)
        self.norms = [word.norm for word in self.words]
        self.dated = find_periods(text)
        found = _YES_NO.match(text)
        self.yes_no = found[1] if found else ""

    @cached_property
    def runs(self) -> list[int]:
        """For each word the length of the longest stretch of evidence, word by word, that it stands in."""
        runs = [0] * len(self.norms)
        after = 0
        for first in range(len(self.norms)):
            # what is a part of a stretch stands in the evidence as well
            after = max(after, first)
            while after < len(self.norms) and self.held.run(self.norms[first : after + 1]):
                after += 1
            for i in range(first, after):
                runs[i] = max(runs[i], after - first)
        return runs

    @cached_property
    def labels(self) -> list[MatchedSpan]:
        """Where the sentence has whole cells and titles that are no part of a longer one, or of a column's name."""
        if self.held.rows < 2:
            return []
        joined = f" {' '.join(self.norms)} "
        found: list[tuple[int, int, frozenset[CellPosition]]] = []
        headings = dict.fromkeys(self.held.headings - self.held.labels.keys(), frozenset[CellPosition]())
        for label, places in (*self.held.labels.items(), *headings.items()):
            at = joined.find(f" {label} ") if label else -1
            while at >= 0:
                found.append((at, at + len(label), frozenset(places)))
                at = joined.find(f" {label} ", at + 1)
        longest = [a for a in found if not any(b[:2] != a[:2] and b[0] <= a[0] and a[1] <= b[1] for b in found)]
        ends, place = dict[int, int](), 0
        for i, norm in enumerate(self.norms):
            ends[place], ends[place + len(norm)] = self.words[i].start, self.words[i].end
            place += len(norm) + 1
        return [MatchedSpan(ends[at], ends[after], places) for at, after, places in longest if places]

    def has(self, amount: Amount) -> bool:
        """Whether the number is part of a longer stretch that the evidence has word by word."""
        inside = [i for i, w in enumerate(self.words) if w.start < amount.end and amount.start < w.end]
        return bool(inside) and all(self.runs[i] > len(inside) for i in inside)

    def means(self, word: Token) -> bool:
        """Whether the evidence says the word, another form of it, or one for the same."""
        return word.norm in self.held.words or word.lemma in self.held.words

    @cached_property
    def denial(self) -> str:
        """The word that denies what the sentence says after its yes or no, or "".

        "Not long", after a comma, only shades it.
        """
        for i in range(1 if self.yes_no else 0, len(self.words)):
            word = self.norms[i]
            if self.runs[i] > 1:
                continue
            first = i == 0 or self.norms[i - 1] in _VERBS
            # "without", "none of the others", later in a sentence, only shade what it says
            if word.endswith("n't") or (word in NEGATIONS and (first or word in ("never", "cannot"))):
                return self.words[i].text
        return ""

    @cached_property
    def content(self) -> list[int]:
        """The places of the words that carry meaning."""
        return [i for i, word in enumerate(self.words) if word.norm not in function_words()]
