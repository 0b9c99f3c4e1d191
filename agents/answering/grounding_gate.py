"""Check an answer while it is written: sentences + evidence -> supported sentences, released for good.
Sentences of the rules come whole (`say`), free text of a model comes in pieces (`feed`)."""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from agents.answering.select_answer import content_words, is_empty
from agents.turn_view import CitedSentence
from nacre.checking.claims import MIXED_ROWS, FindGraphNames, is_bare_answer, no_graph_names, unsupported_claims
from nacre.checking.evidence_index import EvidenceIndex
from nacre.language.data import word_list
from nacre.language.sanitize import CITED, disarm_citations, escape_markup
from nacre.language.tokens import ENGLISH, fold, tokenize
from nacre.records.evidence import Evidence, EvidenceSentence
from nacre.wording.answer import verbalise_rows
from nacre.wording.grid import align_markdown_table

# a sentence ends at its full stop, with the [n] that follow it, if something other than a small letter, a digit or a
# further [n] comes next ("approx. 5 m [1]. Next"), or at the end of a line
_CITATIONS = r"(?:\s*+\[[\d,; ]*+\])"

_END = re.compile(
    rf"(?P<end>[.!?…।。]['\"”’»)]*+{_CITATIONS}*+\s++(?=[^\s\[a-z\d]|\[[^\d\],; ])"
    rf"|(?<!\s){_CITATIONS}*+[^\S\n]*+\n\s*+(?=[^\s\[]|\[[^\d\],; ]))"
    # citations inside a sentence are passed over, so that each run of them is tried once
    rf"|(?<!\s){_CITATIONS}++"
)

_STOP = re.compile(r"[.!?…।。\n]")

_ABBREVIATED = re.compile(r"\b[A-Z][a-z]{0,3}$")

_LETTER = re.compile(r"[^\W_]")

_NO_DIGIT = re.compile(r"[^\W\d_]")

# where a Markdown table begins, and what separates its cells; in a cell a bar is "\\|"
_TABLE = "\n\n| "

_BARS = re.compile(r"(?:(?<!\s)\s++)?(?<!\\)\|\s*+")

MAX_WORD = 60  # letters around a full stop that are looked at (given)

MAX_ABBREVIATION = 8

# evidence with a smaller share of a sentence's words gives way to evidence that has clearly more
_RELATED = 0.5

_CLEARLY = 0.25


@dataclass(frozen=True)
class ShownEvidence:
    """What a model was shown: `indexes` are the evidence behind its [1], [2] ... The first of the `fallbacks` that was
    not said yet replaces an unsupported sentence; they are sentences of the rules. `may_retry`: the model can correct
    unsupported sentences, so nothing replaces them yet, and none is released before the first is supported."""

    indexes: Sequence[int]
    fallbacks: Sequence[CitedSentence] = ()
    may_retry: bool = False


class RefusedSentence(NamedTuple):
    """A sentence of free text that was not released, and what its evidence does not support."""

    text: str
    why: str


class ReleasedAnswer(NamedTuple):
    """The released text, its evidence by index, and how many sentences were corrected, replaced or dropped."""

    text: str
    cited: list[int]
    unsupported: int


class GroundingGate:
    """One answer in the making: `answer` is the released text, `cited` the evidence behind its [1], [2] ...
    `unsupported` counts sentences that were corrected, replaced or dropped, `passed` those of free text that were
    released, `refused` those that the model may correct; `is_lead_refused`: the first was among them, the rest was not
    looked at; `is_lead_lost`: nothing stands in its place. `known` finds the names of the graph in a sentence; free
    text may be in `language`, in which the question `said` some words."""

    def __init__(
        self,
        evidence: Sequence[Evidence],
        release: Callable[[str], None],
        known: FindGraphNames = no_graph_names,
        language: str = "en",
        said: Collection[str] = (),
    ) -> None:
        self.answer = ""
        self.cited: list[int] = []
        self.unsupported = 0
        self.passed = 0
        self._evidence = evidence
        self._release = release
        self._known = known
        self._language = language
        self._said = said
        self._indexes: dict[tuple[int, ...], EvidenceIndex] = {}
        self._pending = ""
        self._gap = " "
        self._after_table = False
        self._released: set[str] = set()
        self._used_fallbacks = 0
        self.refused: list[RefusedSentence] = []
        self.is_lead_refused = False
        self.is_lead_lost = False

    def released(self) -> ReleasedAnswer:
        """The answer so far."""
        return ReleasedAnswer(self.answer, self.cited, self.unsupported)

    def say(self, text: str, evidence: Sequence[int], translated: str = "") -> None:
        """One sentence of the rules, which may end with a table; without evidence it is about the whole graph. It is
        replaced by its evidence if that supports neither it nor `translated`, which is written instead of it."""
        supported = translated or text
        forms = [(text, ENGLISH), (translated, "")] if translated else [(text, "")]
        if evidence and all(any(self._unsupported(c, evidence, of) for c in table_claims(form)) for form, of in forms):
            self.unsupported += 1
            supported = " ".join(_verbatim(self._evidence[i]) for i in evidence)
        lead, bar, rows = _harmless(supported).partition(_TABLE)
        core = " ".join(lead.split()) or " ".join(_harmless(translated or text).split())
        self._release_sentence(core, evidence, " ", f"\n\n{align_markdown_table(f'| {rows}')}" if bar else "")

    def feed(self, text: str, shown: ShownEvidence) -> None:
        """A piece of free text; each sentence is checked as soon as the next one begins."""
        self._pending += text
        while (end := self._sentence_end(shown)) is not None:
            sentence, self._pending = self._pending[:end], self._pending[end:]
            self._judge(sentence, shown)

    def finish(self, shown: ShownEvidence) -> None:
        """The free text has ended: check the pending rest."""
        rest, self._pending = self._pending, ""
        self._judge(rest, shown)

    def discard(self) -> None:
        """The free text broke off: drop the pending rest."""
        self._pending = ""

    def _sentence_end(self, shown: ShownEvidence) -> int | None:
        if not _STOP.search(self._pending):
            return None
        # "1. " numbers a line and is no sentence yet
        letter = _NO_DIGIT.search(self._pending)
        ends = (
            match
            for match in _END.finditer(self._pending)
            if match["end"] is not None and not (_follows_abbreviation(match) or self._is_inside_name(match, shown))
        )
        return next((match.end() for match in ends if letter and letter.start() < match.start()), None)

    def _is_inside_name(self, end: re.Match[str], shown: ShownEvidence) -> bool:
        """Whether a full stop stands in a name of the evidence: "Ohio. Department of Parks"."""
        if "[" in end[0]:
            return False
        at, to = end.span()
        words = [
            *tokenize(self._pending[max(0, at - MAX_WORD) : at])[-1:],
            *tokenize(self._pending[to : to + MAX_WORD])[:1],
        ]
        return self._index(shown.indexes).contains_words([word.norm for word in words])

    def _judge(self, raw: str, shown: ShownEvidence) -> None:
        gap, self._gap = self._gap, "\n" if "\n" in raw[len(raw.rstrip()) :] else " "
        text = escape_markup(raw)
        numbers = [int(n) for cited in CITED.findall(text) for n in re.findall(r"\d+", cited)]
        core = " ".join(CITED.sub("", text).split())
        if not _LETTER.search(core) or core in self._released or (shown.may_retry and self.is_lead_refused):
            return
        named = list(dict.fromkeys(shown.indexes[n - 1] for n in numbers if 0 < n <= len(shown.indexes)))
        if named and not self._unsupported(core, named):
            needed = self._needed_evidence(core, named, shown)
            # a number that stands for nothing, or for evidence that the sentence does not rest on
            self.unsupported += set(needed) != set(named) or len(named) < len(set(numbers))
            self.passed += 1
            self._release_sentence(core, needed, gap)
            return
        if not numbers and self._states_absence(core, shown):
            self.passed += 1
            self._release_sentence(core, (), gap)
            return
        self.unsupported += 1
        other = self._better_evidence(core, shown)
        if other is not None:
            self.passed += 1
            self._release_sentence(core, [other], gap)
        elif shown.may_retry:
            self.is_lead_refused |= not self.passed
            self.refused.append(RefusedSentence(core, self._why_refused(core, named)))
        elif not self._say_fallback(shown):
            self.is_lead_lost |= not self.passed

    def _states_absence(self, core: str, shown: ShownEvidence) -> bool:
        """Whether a sentence says that the evidence lacks something, and claims nothing else."""
        words = {token.norm for token in tokenize(core)}
        if any(
            map(words.isdisjoint, (word_list("checking", "absence_subjects"), word_list("checking", "absence_words")))
        ):
            return False
        # its words are those of the question, not of the evidence
        claims = (fold(each) for each in self._unsupported(core, shown.indexes) if each != core)
        return all(each in word_list("checking", "absence_words") for each in claims)

    def _needed_evidence(self, core: str, named: Sequence[int], shown: ShownEvidence) -> list[int]:
        """Those of the named evidence that the sentence rests on, or the evidence that it should have named instead."""
        own = [index for index in named if self._share(core, index)]
        needed = own if own and not self._unsupported(core, own) else list(named)
        best = max(self._share(core, index) for index in needed)
        other = self._answer_evidence(core, needed, shown)
        if other is None and best < _RELATED:
            other = self._better_evidence(core, shown)
            other = other if other is not None and self._share(core, other) >= best + _CLEARLY else None
        return needed if other is None else [other]

    def _answer_evidence(self, core: str, named: Sequence[int], shown: ShownEvidence) -> int | None:
        """The evidence that the rules answer with, for a bare yes or name that rests on something else."""
        own = [index for index in shown.indexes if _is_answer(index, shown)]
        if set(own) & set(named) or not own or not is_bare_answer(core, self._index(own)):
            return None
        return next((index for index in own if not self._unsupported(core, [index])), None)

    def _share(self, core: str, index: int) -> float:
        """The share of the sentence's words that the evidence has, 0..1."""
        words = content_words(core)
        return len(words & self._index([index]).words) / len(words) if words else 0.0

    def _better_evidence(self, core: str, shown: ShownEvidence) -> int | None:
        """The evidence that a sentence should have cited: it supports its claims and has at least half of its words."""
        scores = {index: self._share(core, index) + _is_answer(index, shown) for index in shown.indexes}
        related = sorted((index for index in scores if scores[index] >= _RELATED), key=lambda index: -scores[index])
        return next((index for index in related if not self._unsupported(core, [index])), None)

    def _why_refused(self, core: str, named: Sequence[int]) -> str:
        if not named:
            return "it names no evidence that it rests on, such as [1]"
        claims = self._unsupported(core, named)
        if claims == [MIXED_ROWS]:
            return "it joins names and numbers of different rows"
        if claims == [core]:
            return "the evidence that it names does not have most of its words, or says the opposite"
        return f"the evidence that it names does not have: {', '.join(claims)}"

    def _say_fallback(self, shown: ShownEvidence) -> bool:
        """Whether a sentence of the rules was said instead."""
        while self._used_fallbacks < len(shown.fallbacks):
            text, evidence = shown.fallbacks[self._used_fallbacks]
            self._used_fallbacks += 1
            if not set(evidence) <= set(self.cited):
                self.say(text, evidence)
                return True
        return False

    def _release_sentence(self, core: str, evidence: Sequence[int], gap: str, table: str = "") -> None:
        if not core or core in self._released:
            return
        if self._after_table:
            gap = "\n\n"
        self._after_table = bool(table)
        self._released.add(core)
        for index in evidence:
            if index not in self.cited:
                self.cited.append(index)
        numbers = "".join(f" [{self.cited.index(index) + 1}]" for index in dict.fromkeys(evidence))
        ended = core.rstrip()
        stop = ended[len(ended.rstrip("'\"”’»)").rstrip(".!?…।。:")) :]
        # a quotation keeps its full stop
        stop = "" if "”" in stop else stop
        body = core[: len(core) - len(stop)] if stop else core
        if stop == "..":
            # a value that ends a sentence of its own, or an abbreviation ("Ltd.")
            stop, body = ".", body + "." * bool(_ABBREVIATED.search(body))
        elif stop in ("!.", "?."):
            # a name that ends in a sign ("Help!")
            stop, body = ".", body + stop[0]
        piece = f"{gap if self.answer else ''}{body}{numbers}{stop}{table}"
        self.answer += piece
        self._release(piece)

    def _unsupported(self, core: str, indexes: Sequence[int], language: str = "") -> list[str]:
        return unsupported_claims(core, self._index(indexes), self._known, language or self._language, self._said)

    def _index(self, indexes: Sequence[int]) -> EvidenceIndex:
        key = tuple(sorted(set(indexes)))
        if key not in self._indexes:
            self._indexes[key] = EvidenceIndex([self._evidence[index] for index in key])
        return self._indexes[key]


def _follows_abbreviation(end: re.Match[str]) -> bool:
    """Whether a full stop without a citation belongs to an abbreviation: "incl. Active Steering"."""
    word = end.string[max(0, end.start() - MAX_ABBREVIATION - 1) : end.start()].split(" ")[-1].lstrip("(")
    return "[" not in end[0] and word in word_list("ingestion", "abbreviations")


def _is_answer(index: int, shown: ShownEvidence) -> bool:
    return any(index in evidence for _, evidence in shown.fallbacks)


def _verbatim(evidence: Evidence) -> str:
    if isinstance(evidence, EvidenceSentence):
        return evidence.text
    table = evidence.table
    if table.columns[:1] == ("yes",) and table.rows:
        return "Yes." if table.rows[0][0] else "No."
    return evidence.text if is_empty(table) else verbalise_rows(table).text


def table_claims(text: str) -> list[str]:
    """What a sentence claims that ends with a table: its lead, and each row as the list of its cells, without headings.

    >>> table_claims("Two:\\n\\n| a | b |\\n| - | - |\\n| x | 1 |\\n| y | 2 |")
    ['Two:', 'x; 1.', 'y; 2.']
    """
    lead, bar, rows = text.partition(_TABLE)
    if not bar:
        return [text]
    cells = [list(filter(None, _BARS.split(line))) for line in rows.split("\n")[2:]]
    lines = ["; ".join([*row[:1], ", ".join(row[1:])]) for row in cells if row]
    return [lead, *(f"{line}.".replace("\\|", "|") for line in lines)]


def _harmless(text: str) -> str:
    """Text of the rules with quotations of the graph made harmless: a "[7]" in the data is no citation."""
    return disarm_citations(escape_markup(text))
