"""Check what a sentence claims against the evidence it cites: sentence -> unsupported claims."""

import re
from collections.abc import Iterator, Sequence

from records.evidence import Evidence
from semantics.english import function_words, resource
from semantics.units import convert, quantities
from semantics.words import fold, tokens

_CITATION = re.compile(r"\[\d+(?:\s*[,;]\s*\d+)*\]")
# a run of capitalised words, or of words with digits in them: a name
_NAME = re.compile(r"(?:\b[A-Z0-9ÀÖØ-Þ][\w'’&./+-]*)(?:\s+(?:of|the|de|and)?\s*[A-Z0-9ÀÖØ-Þ][\w'’&./+-]*)*")


def unsupported(sentence: str, evidence: Sequence[Evidence]) -> list[str]:
    """The numbers and names of the sentence that its evidence does not hold, as written.

    A number may be rounded, formatted, converted to another unit, or count the rows; a name may be any part of a cell
    or a text.
    """
    text = _CITATION.sub(" ", sentence)
    held = _Held(evidence)
    missing = [text[q.start : q.end].strip() for q in quantities(text) if not held.number(q.value, q.unit)]
    for match in _NAME.finditer(text):
        words = [t.norm for t in tokens(match[0])]
        # the first word of a sentence is capitalised anyway
        first = match.start() == len(text) - len(text.lstrip())
        unknown = [
            w
            for w in (words[1:] if first else words)
            if not w[0].isdigit() and w not in function_words() and not held.word(w)
        ]
        if unknown:
            missing.append(match[0].strip())
    return missing


class _Held:
    """The numbers and words of some evidence."""

    def __init__(self, evidence: Sequence[Evidence]) -> None:
        self.numbers: list[tuple[float, str]] = []
        words: set[str] = set()
        for found in evidence:
            for text in _texts(found):
                words.update(t.norm for t in tokens(text))
                self.numbers += [(q.value, q.unit) for q in quantities(text)]
            table = found.table
            if table is None:
                continue
            self.numbers += [(float(n), "") for n in (len(table.rows), table.contributing) if n is not None]
            for row in table.rows:
                for cell, unit in zip(row, table.units or [""] * len(row), strict=False):
                    if isinstance(cell, (int, float)):
                        self.numbers.append((float(cell), unit))
        self.words = words

    def word(self, word: str) -> bool:
        return word in self.words or word.rstrip("s") in self.words

    def number(self, value: float, unit: str) -> bool:
        return any(_same(value, "" if unit == "currency" else unit, own, own_unit) for own, own_unit in self.numbers)


def _texts(found: Evidence) -> Iterator[str]:
    yield from (found.text, found.title, found.words)
    for triple in found.triples:
        yield triple[2]
    if found.query is not None:
        yield from (found.query.words, *(str(p) for p in found.query.params))
    if found.table is not None:
        yield from found.table.columns
        yield from (str(cell) for row in found.table.rows for cell in row if isinstance(cell, str))


def _same(value: float, unit: str, own: float, own_unit: str) -> bool:
    own_unit = own_unit if own_unit != "currency" else ""
    candidates = [own]
    if unit and own_unit and fold(unit) != fold(own_unit):
        units = resource()["units"]
        converted = convert(own, units.get(fold(own_unit), own_unit), unit)
        candidates = [converted] if converted is not None else []
    return any(_rounds_to(c, value) or _rounds_to(abs(c), value) for c in candidates)


def _rounds_to(exact: float, said: float) -> bool:
    """Is `said` the exact value, or it rounded to the decimals that were said?"""
    if abs(exact - said) <= 1e-9 * max(1.0, abs(exact)):
        return True
    text = f"{said:.6f}".rstrip("0")
    decimals = len(text.split(".")[1]) if "." in text else 0
    return abs(round(exact, decimals) - said) < 1e-9 and (decimals > 0 or abs(exact) >= 10)
