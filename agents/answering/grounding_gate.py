"""The stream gate: text of either mind -> sentences whose claims their evidence holds, released for good."""

import re
from collections.abc import Callable, Sequence

from agents.answering.draft import rows_phrase
from agents.answering.select_answer import content_words, is_empty
from nacre.checking.claims import FindGraphNames, is_bare_answer, no_graph_names, unsupported_claims
from nacre.checking.evidence_index import EvidenceIndex
from nacre.language.sanitize import disarm_citations, escape_markup
from nacre.records.evidence import Evidence, EvidenceSentence
from nacre.wording.answers.grid import align_markdown_table

# a sentence ends at its full stop, with the [n] that follow it, where something other than a small letter, a digit
# or a further [n] comes next: "approx. 5 m [1]. Next"; or at the end of a line
_END = re.compile(
    r"[.!?…।。]['\"”’»)]*(?:\s*\[[\d,; ]*\])*\s+(?=[^\s\[a-z\d]|\[[^\d\],; ])"
    r"|(?:\s*\[[\d,; ]*\])*[^\S\n]*\n\s*(?=[^\s\[]|\[[^\d\],; ])"
)
_STOP = re.compile(r"[.!?…।。\n]")
_CITED = re.compile(r"\s*\[(\d[\d,; ]*)\]")
_ABBREVIATED = re.compile(r"\b[A-Z][a-z]{0,3}$")
_LAST = re.compile(r"([.!?…।。:]*['\"”’»)]*)\s*$")
_LETTER = re.compile(r"[^\W_]")
# where a Markdown table begins, and what parts its cells; in a cell a bar is "\\|"
_TABLE = "\n\n| "
_BARS = re.compile(r"\s*(?<!\\)\|\s*")
# evidence with fewer of a sentence's words gives way to evidence that clearly has more
_RELATED = 0.5
_CLEARLY = 0.25


class GroundingGate:
    """One answer in the making. `answer` is what was released, `cited` the evidence by its numbers [1], [2], ...

    `unsupported_claims` counts the sentences that were corrected, replaced or dropped, `fed` those of free text that passed.
    `spare` are sentences of the rules, with the indexes of their evidence: the first that was not said yet takes the
    place of an unsupported one. `known` finds the names of the graph in a sentence; free text may be in `language`.
    """

    def __init__(
        self,
        evidence: Sequence[Evidence],
        release: Callable[[str], None],
        known: FindGraphNames = no_graph_names,
        language: str = "en",
    ) -> None:
        self.answer = ""
        self.cited: list[int] = []
        self.unsupported = 0
        self.fed = 0
        self.spare: list[tuple[str, tuple[int, ...]]] = []
        self._evidence = evidence
        self._release = release
        self._known = known
        self._language = language
        self._held: dict[tuple[int, ...], EvidenceIndex] = {}
        self._waiting = ""
        self._gap = " "
        self._tabled = False
        self._said: set[str] = set()
        self._spared = 0

    def say(self, text: str, evidence: Sequence[int]) -> None:
        """One sentence of the rules, or one that ends with a Markdown table; it is about the graph as a whole where it
        has no evidence.

        What the check does not find in the evidence of such a sentence is shown as the evidence has it.
        """
        said = text
        if evidence and any(self._lacks(each, evidence) for each in table_claims(text)):
            self.unsupported += 1
            said = " ".join(_verbatim(self._evidence[i]) for i in evidence)
        lead, bar, rows = _disarmed(said).partition(_TABLE)
        core = " ".join(lead.split()) or " ".join(_disarmed(text).split())
        self._let_out(core, evidence, " ", f"\n\n{align_markdown_table(f'| {rows}')}" if bar else "")

    def feed(self, text: str, shown: Sequence[int]) -> None:
        """A piece of free text; each sentence is checked as soon as the next one begins."""
        self._waiting += text
        while (end := self._end()) is not None:
            sentence, self._waiting = self._waiting[:end], self._waiting[end:]
            self._judge(sentence, shown)

    def finish(self, shown: Sequence[int]) -> None:
        """The free text has ended: check what is held."""
        held, self._waiting = self._waiting, ""
        self._judge(held, shown)

    def discard(self) -> None:
        """The free text broke off: forget what is held."""
        self._waiting = ""

    def _end(self) -> int | None:
        if not _STOP.search(self._waiting):
            return None
        for match in _END.finditer(self._waiting):
            # "1. " numbers a line and is no sentence yet
            if _LETTER.search(re.sub(r"\d", "", self._waiting[: match.start()])):
                return match.end()
        return None

    def _judge(self, raw: str, shown: Sequence[int]) -> None:
        gap, self._gap = self._gap, "\n" if "\n" in raw[len(raw.rstrip()) :] else " "
        text = escape_markup(raw)
        numbers = [int(n) for found in _CITED.findall(text) for n in re.findall(r"\d+", found)]
        core = " ".join(_CITED.sub("", text).split())
        if not _LETTER.search(core) or core in self._said:
            return
        named = list(dict.fromkeys(shown[n - 1] for n in numbers if 0 < n <= len(shown)))
        if named and not self._lacks(core, named):
            needed = self._needed(core, named, shown)
            # a number that stands for nothing, or for what the sentence does not rest on
            self.unsupported += set(needed) != set(named) or len(named) < len(set(numbers))
            self.fed += 1
            self._let_out(core, needed, gap)
            return
        self.unsupported += 1
        other = self._other(core, shown)
        if other is not None:
            self.fed += 1
            self._let_out(core, [other], gap)
        else:
            self._say_spare()

    def _needed(self, core: str, named: Sequence[int], shown: Sequence[int]) -> list[int]:
        """Those of the named evidence that the sentence rests on, or what it should have named instead."""
        own = [index for index in named if self._share(core, index)]
        needed = own if own and not self._lacks(core, own) else list(named)
        best = max(self._share(core, index) for index in needed)
        other = self._answering(core, needed, shown)
        if other is None and best < _RELATED:
            other = self._other(core, shown)
            other = other if other is not None and self._share(core, other) >= best + _CLEARLY else None
        return needed if other is None else [other]

    def _answering(self, core: str, named: Sequence[int], shown: Sequence[int]) -> int | None:
        """The evidence that the rules answer with, for a bare yes or name that rests on something else."""
        own = [index for index in shown if self._answers(index)]
        if set(own) & set(named) or not own or not is_bare_answer(core, self._hold(own)):
            return None
        return next((index for index in own if not self._lacks(core, [index])), None)

    def _answers(self, index: int) -> bool:
        """Whether the rules would answer with this evidence."""
        return any(index in evidence for _, evidence in self.spare)

    def _share(self, core: str, index: int) -> float:
        """How many of the sentence's words the evidence has, 0..1."""
        words = content_words(core)
        return len(words & self._hold([index]).words) / len(words) if words else 0.0

    def _other(self, core: str, shown: Sequence[int]) -> int | None:
        """The evidence that a sentence should have cited: it holds its claims and at least half of its words."""
        best: tuple[float, int] | None = None
        for index in shown:
            shared = self._share(core, index) + self._answers(index)
            if shared >= _RELATED and (best is None or shared > best[0]) and not self._lacks(core, [index]):
                best = (shared, index)
        return None if best is None else best[1]

    def _say_spare(self) -> None:
        while self._spared < len(self.spare):
            text, evidence = self.spare[self._spared]
            self._spared += 1
            if not set(evidence) <= set(self.cited):
                self.say(text, evidence)
                return

    def _let_out(self, core: str, evidence: Sequence[int], gap: str, table: str = "") -> None:
        if not core or core in self._said:
            return
        if self._tabled:
            gap = "\n\n"
        self._tabled = bool(table)
        self._said.add(core)
        for index in evidence:
            if index not in self.cited:
                self.cited.append(index)
        numbers = "".join(f" [{self.cited.index(index) + 1}]" for index in dict.fromkeys(evidence))
        end = _LAST.search(core)
        # what is quoted keeps its full stop
        stop = end[1] if end and "”" not in end[1] else ""
        body = core[: len(core) - len(stop)] if stop else core
        if stop == "..":
            # a value that ends a sentence of its own, or an abbreviation ("Ltd.")
            stop, body = ".", body + "." * bool(_ABBREVIATED.search(body))
        piece = f"{gap if self.answer else ''}{body}{numbers}{stop}{table}"
        self.answer += piece
        self._release(piece)

    def _lacks(self, core: str, indexes: Sequence[int]) -> list[str]:
        return unsupported_claims(core, self._hold(indexes), self._known, self._language)

    def _hold(self, indexes: Sequence[int]) -> EvidenceIndex:
        key = tuple(sorted(set(indexes)))
        if key not in self._held:
            self._held[key] = EvidenceIndex([self._evidence[index] for index in key])
        return self._held[key]


def _verbatim(evidence: Evidence) -> str:
    if isinstance(evidence, EvidenceSentence):
        return evidence.text
    table = evidence.table
    if table.columns[:1] == ("yes",) and table.rows:
        return "Yes." if table.rows[0][0] else "No."
    return evidence.text if is_empty(table) else rows_phrase(table).text


def table_claims(text: str) -> list[str]:
    """What a sentence claims that ends with a table: its lead, and each row as the list of its cells, without headings.

    >>> in_prose("Two:\\n\\n| a | b |\\n| - | - |\\n| x | 1 |\\n| y | 2 |")
    ['Two:', 'x; 1.', 'y; 2.']
    """
    lead, bar, rows = text.partition(_TABLE)
    if not bar:
        return [text]
    cells = [list(filter(None, _BARS.split(line))) for line in rows.split("\n")[2:]]
    lines = ["; ".join([*row[:1], ", ".join(row[1:])]) for row in cells if row]
    return [lead, *(f"{line}.".replace("\\|", "|") for line in lines)]


def _disarmed(text: str) -> str:
    """Text of the rules may quote the graph, and what the graph calls [7] is no citation."""
    return disarm_citations(escape_markup(text))
