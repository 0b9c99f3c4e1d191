"""The stream gate: text of either mind -> sentences whose claims their evidence holds, released for good."""

import re
from collections.abc import Callable, Sequence

from agents.account import said
from agents.plain import plain
from agents.trust import content_words, is_empty
from records.evidence import Evidence
from semantics.claims import unsupported

# a sentence ends at its full stop, with the [n] that follow it, where something other than a small letter, a digit
# or a further [n] comes next: "approx. 5 m [1]. Next"; or at the end of a line
_END = re.compile(
    r"[.!?…।。]['\"”’»)]*(?:\s*\[[\d,; ]*\])*\s+(?=[^\s\[a-z\d]|\[[^\d\],; ])"
    r"|(?:\s*\[[\d,; ]*\])*[^\S\n]*\n\s*(?=[^\s\[]|\[[^\d\],; ])"
)
_STOP = re.compile(r"[.!?…।。\n]")
_CITED = re.compile(r"\s*\[(\d[\d,; ]*)\]")
_LAST = re.compile(r"([.!?…।。:]*['\"”’»)]*)\s*$")
_TOKENS = re.compile(r"\S+\s*|\s+")
_LETTER = re.compile(r"[^\W_]")


class Gate:
    """One answer in the making. `answer` is what was released, `cited` the evidence by its numbers [1], [2], ...

    `unsupported` counts the sentences that were corrected, replaced or dropped, `fed` those of free text that passed.
    `spare` are sentences of the rules, with the indexes of their evidence: the first that was not said yet takes the
    place of an unsupported one.
    """

    def __init__(self, evidence: Sequence[Evidence], release: Callable[[str], None]) -> None:
        self.answer = ""
        self.cited: list[int] = []
        self.unsupported = 0
        self.fed = 0
        self.spare: list[tuple[str, tuple[int, ...]]] = []
        self._evidence = evidence
        self._release = release
        self._held = ""
        self._gap = " "
        self._said: set[str] = set()

    def say(self, text: str, evidence: Sequence[int]) -> None:
        """One sentence of the rules; it is about the graph as a whole where it has no evidence.

        What the check does not find in the evidence of such a sentence is shown as the evidence has it.
        """
        core = " ".join(_disarmed(text).split())
        if evidence and unsupported(core, self._these(evidence)):
            self.unsupported += 1
            core = " ".join(_disarmed(" ".join(_verbatim(each) for each in self._these(evidence))).split()) or core
        self._let_out(core, evidence, " ")

    def feed(self, text: str, shown: Sequence[int]) -> None:
        """A piece of free text; each sentence is checked as soon as the next one begins."""
        self._held += text
        while (end := self._end()) is not None:
            sentence, self._held = self._held[:end], self._held[end:]
            self._judge(sentence, shown)

    def finish(self, shown: Sequence[int]) -> None:
        """The free text has ended: check what is held."""
        held, self._held = self._held, ""
        self._judge(held, shown)

    def discard(self) -> None:
        """The free text broke off: forget what is held."""
        self._held = ""

    def _end(self) -> int | None:
        if not _STOP.search(self._held):
            return None
        for match in _END.finditer(self._held):
            # "1. " numbers a line and is no sentence yet
            if _LETTER.search(re.sub(r"\d", "", self._held[: match.start()])):
                return match.end()
        return None

    def _judge(self, raw: str, shown: Sequence[int]) -> None:
        gap, self._gap = self._gap, "\n" if "\n" in raw[len(raw.rstrip()) :] else " "
        text = plain(raw)
        numbers = [int(n) for found in _CITED.findall(text) for n in re.findall(r"\d+", found)]
        core = " ".join(_CITED.sub("", text).split())
        if not _LETTER.search(core) or core in self._said:
            return
        named = list(dict.fromkeys(shown[n - 1] for n in numbers if 0 < n <= len(shown)))
        if named and not unsupported(core, self._these(named)):
            self.fed += 1
            self._let_out(core, named, gap)
            return
        self.unsupported += 1
        other = self._other(core, shown)
        if other is not None:
            self.fed += 1
            self._let_out(core, [other], gap)
        else:
            self._say_spare()

    def _other(self, core: str, shown: Sequence[int]) -> int | None:
        """The evidence that a sentence should have cited: it holds its claims and at least half of its words."""
        words = content_words(core)
        if not words:
            return None
        best: tuple[float, int] | None = None
        for index in shown:
            each = self._evidence[index]
            shared = len(words & content_words(f"{each.title} {each.words} {each.text}")) / len(words)
            if shared >= 0.5 and (best is None or shared > best[0]) and not unsupported(core, [each]):
                best = (shared, index)
        return None if best is None else best[1]

    def _say_spare(self) -> None:
        while self.spare:
            text, evidence = self.spare.pop(0)
            if not set(evidence) <= set(self.cited):
                self.say(text, evidence)
                return

    def _let_out(self, core: str, evidence: Sequence[int], gap: str) -> None:
        if not core or core in self._said:
            return
        self._said.add(core)
        for index in evidence:
            if index not in self.cited:
                self.cited.append(index)
        numbers = "".join(f" [{self.cited.index(index) + 1}]" for index in dict.fromkeys(evidence))
        end = _LAST.search(core)
        stop = end[1] if end else ""
        body = core[: len(core) - len(stop)] if stop else core
        piece = f"{gap if self.answer else ''}{body}{numbers}{stop}"
        for token in _TOKENS.findall(piece):
            self.answer += token
            self._release(token)

    def _these(self, indexes: Sequence[int]) -> list[Evidence]:
        return [self._evidence[index] for index in indexes]


def _verbatim(evidence: Evidence) -> str:
    return evidence.text if evidence.table is None or is_empty(evidence.table) else said(evidence.table).text


def _disarmed(text: str) -> str:
    """Text of the rules may quote the graph, and what the graph calls [7] is no citation."""
    return re.sub(r"\[(\s*\d[\d\s,;]*)\]", r"(\1)", plain(text))
