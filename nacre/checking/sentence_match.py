"""Match the words of a sentence with its evidence: text + EvidenceIndex -> SentenceMatch."""

from functools import cached_property
from typing import NamedTuple

from nacre.checking.evidence_index import CellPosition, EvidenceIndex
from nacre.language.base import pattern, word_list
from nacre.language.dates import find_periods
from nacre.language.quantities.amounts import Amount
from nacre.language.thesaurus import function_words
from nacre.language.tokens import Token, tokenize


class MatchedSpan(NamedTuple):
    """A name or number of the sentence and where its evidence has it."""

    start: int
    end: int
    places: frozenset[CellPosition]


class SentenceMatch:
    """One sentence and the evidence it may rest on."""

    def __init__(self, text: str, evidence: EvidenceIndex, language: str = "en") -> None:
        self.text = text
        self.language = language
        self.evidence = evidence
        self.words = tokenize(text)
        self.norms = [word.norm for word in self.words]
        self.periods = find_periods(text)
        found = pattern("checking", "yes_no").match(text)
        self.yes_no = found[1] if found else ""

    @cached_property
    def run_lengths(self) -> list[int]:
        """For each word the length of the longest stretch of evidence, word by word, that it stands in."""
        lengths = [0] * len(self.norms)
        after = 0
        for first in range(len(self.norms)):
            # a part of a stretch stands in the evidence as well
            after = max(after, first)
            while after < len(self.norms) and self.evidence.contains_words(self.norms[first : after + 1]):
                after += 1
            for i in range(first, after):
                lengths[i] = max(lengths[i], after - first)
        return lengths

    @cached_property
    def labels(self) -> list[MatchedSpan]:
        """Whole cells and titles in the sentence, unless they are part of a longer one or of a column's name."""
        if self.evidence.rows < 2:
            return []
        words = f" {' '.join(self.norms)} "
        found: list[tuple[int, int, frozenset[CellPosition]]] = []
        headings = dict.fromkeys(self.evidence.headings - self.evidence.labels.keys(), frozenset[CellPosition]())
        for label, places in (*self.evidence.labels.items(), *headings.items()):
            at = words.find(f" {label} ") if label else -1
            while at >= 0:
                found.append((at, at + len(label), frozenset(places)))
                at = words.find(f" {label} ", at + 1)
        longest = [a for a in found if not any(b[:2] != a[:2] and b[0] <= a[0] and a[1] <= b[1] for b in found)]
        # from a place among the joined words to a place in the text
        text_place, place = dict[int, int](), 0
        for i, norm in enumerate(self.norms):
            text_place[place], text_place[place + len(norm)] = self.words[i].start, self.words[i].end
            place += len(norm) + 1
        return [MatchedSpan(text_place[at], text_place[after], places) for at, after, places in longest if places]

    def copies_amount(self, amount: Amount) -> bool:
        """Whether the number is part of a longer stretch that the evidence has word by word."""
        inside = [i for i, word in enumerate(self.words) if word.start < amount.end and amount.start < word.end]
        return bool(inside) and all(self.run_lengths[i] > len(inside) for i in inside)

    def knows_word(self, word: Token) -> bool:
        """Whether the evidence has the word, another form of it, or a synonym."""
        return word.norm in self.evidence.words or word.lemma in self.evidence.words

    @cached_property
    def denial(self) -> str:
        """The word that denies the sentence after its yes or no; "" without one.

        "Not long" after a comma does not deny it.
        """
        negations, verbs = word_list("checking", "negations"), word_list("checking", "auxiliary_verbs")
        for i in range(1 if self.yes_no else 0, len(self.words)):
            word = self.norms[i]
            if self.run_lengths[i] > 1:
                continue
            # later in a sentence, "without" or "none of the others" does not deny it
            may_deny = i == 0 or self.norms[i - 1] in verbs or word in word_list("checking", "strong_negations")
            if word.endswith("n't") or (word in negations and may_deny):
                return self.words[i].text
        return ""

    @property
    def is_negative(self) -> bool:
        """Whether the sentence has a negation anywhere: "the list names no mill"."""
        return bool(self.denial) or not word_list("checking", "negations").isdisjoint(self.norms)

    @cached_property
    def content(self) -> list[int]:
        """The positions of the words that carry meaning."""
        return [i for i, word in enumerate(self.words) if word.norm not in function_words()]
