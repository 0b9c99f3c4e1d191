"""What the values that a query shows rest on: an Origin of each + numbers of the question -> ToolError or None.

A model writes queries, and what they show is cited. So a value must be stored, or a count, an aggregate, a comparison
or arithmetic of stored ones. `sql_origins` and `sparql_origins` read a query into Origins; the rules are here.
"""

import math
import random
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise
from typing import NamedTuple

from nacre.errors import ToolError
from nacre.language.quantities import find_amounts, is_unit_factor
from nacre.language.thesaurus import english_data
from nacre.language.tokens import tokenize

# numbers that arithmetic may contain although no question states them, by where they stand. Unit factors
# (`is_unit_factor`) and the numbers of the question may stand beside them
TERMS = frozenset({
    0.0, 1.0,  # nothing, and both ends of a span: "end - start + 1"
    32.0, 273.15,  # degrees of Fahrenheit and Kelvin
})  # fmt: skip

FACTORS = frozenset({
    1.0, -1.0,  # whole numbers as fractions
    2.0, 0.5,  # the middle of a range
    5.0, 9.0, 1.8,  # degrees of Fahrenheit
    *(10.0**power for power in range(-9, 10)),  # percent, decades, thousands, millions
})  # fmt: skip

# texts of a CASE that say whether its condition holds
TRUTHS = frozenset({"yes", "no", "true", "false"})

# constants and operations in the arithmetic of one value, of which more could spell any number (set by hand)
MAX_CONSTANTS, MAX_STEPS = 4, 8

# steps from a stored date: to the end of its month, for example
MAX_DATE_STEPS = 2

# the least share by which a value must change with the stored ones, so that it is not a constant in disguise (given)
LEAST_CHANGE = 0.01

# random values for which arithmetic is computed: that all are within `LEAST_CHANGE` must not happen by chance (given)
ATTEMPTS = 8

_ARITHMETIC = frozenset("+-*/%")

# what may have constants inside that change its value
_COMPUTED = _ARITHMETIC | {"same", "column", "words", "aggregate", "total", "function", "choice"}

# what stands for a group of the pattern in a replacement
_REFERENCE = re.compile(r"[$\\]\d")

_NUMERAL = re.compile(r"\d+(?:\.\d+)?")


@dataclass(frozen=True, eq=False)
class Origin:
    """Where a value comes from: `op` says how it is made of its `parts`; parts may be shared.

    `text` of "text" and "number" is the literal, of "same" the type if it is another than text (`WHOLE` if it rounds),
    of what can't be looked into an identification ("stored", "aggregate", "truth" ...): two Origins with the same one
    have the same value. "words" is a stored text that is no number, "again" what a recursive query has so far.
    """

    op: str
    parts: tuple["Origin", ...] = ()
    text: str = ""


NOTHING = Origin("nothing")

WHOLE = "whole number"

# of a moment, which a day lacks, as functions of SPARQL are called
_TIME_PARTS = ("HOURS", "MINUTES", "SECONDS")

# whose value is, or has in it, one of the parts
_SHOWS = _COMPUTED | {"either", "every", "case", "joined", "replaced", "piece"}


class _Kind(IntEnum):
    """What a value is; from `TRUTH` on it is evidence."""

    NOTHING, CONSTANT, TRUTH, STORED, PIECE = range(5)


def stated_numbers(*texts: str) -> frozenset[float]:
    """The numbers of a question, in digits and words, with their shares for percentages.

    >>> sorted(stated_numbers("Which two cost 25 %?"))
    [0.02, 0.25, 0.75, 0.98, 1.02, 1.25, 2.0, 25.0]
    """
    words = english_data()["numbers"]
    found = {float(words[token.norm]) for text in texts for token in tokenize(text) if token.norm in words}
    found |= {abs(amount.value) for text in texts for amount in find_amounts(text)}
    found |= {float(numeral) for text in texts for numeral in _NUMERAL.findall(text)}
    return frozenset(number for n in found if math.isfinite(n) for number in (n, n / 100, 1 - n / 100, 1 + n / 100))


def check_origins(origins: Iterable[Origin], numbers: frozenset[float]) -> None:
    """Raise ToolError `refused` if a value is no evidence; `numbers` are those that the question states."""
    judge = _Judge(numbers)
    for origin in origins:
        if judge.kind(origin) == _Kind.CONSTANT:
            raise unfounded("A value that the query itself states")


def check_headings(names: Iterable[str], known: Iterable[str], numbers: frozenset[float]) -> None:
    """Raise ToolError `refused` if a column that a query names has a number, which an answer would show beside a value,
    that neither the question states nor a name of the graph that the query contains. Single digits only tell names
    apart."""
    given = {float(numeral) for name in known for numeral in _NUMERAL.findall(name)} | numbers
    for name in names:
        for numeral in _NUMERAL.findall(name):
            if float(numeral) >= 10 and float(numeral) not in given:
                raise unfounded(f"The number {numeral} in the name of a column")


def unfounded(what: str) -> ToolError:
    """The error for what is no evidence."""
    return ToolError(
        "refused",
        f"{what} is no evidence: show stored values, or counts, aggregates, comparisons and arithmetic of them, "
        "without texts and numbers of your own. Leave out what is missing, and name columns with AS.",
    )


class _Made(NamedTuple):
    """What a value is computed from: its constants and operations, whether it divides, and the marks of its values."""

    constants: int
    steps: int
    divides: bool
    values: frozenset[int]


class _Judge:
    """Judges each Origin once."""

    def __init__(self, numbers: frozenset[float]) -> None:
        self._numbers = numbers
        self._kinds: dict[int, _Kind] = {}
        self._decisive: dict[int, bool] = {}
        self._marks: dict[int, int] = {}
        self._values: dict[tuple[int, int], float] = {}
        self._made: dict[int, _Made] = {}
        self._shown: dict[int, frozenset[str]] = {}
        self._stepped: dict[int, int] = {}

    def kind(self, origin: Origin) -> _Kind:
        """What a value is; raises ToolError `refused` for one with a constant that it may not have."""
        if id(origin) not in self._kinds:
            self._kinds[id(origin)] = self._kind(origin)
        return self._kinds[id(origin)]

    def _kind(self, origin: Origin) -> _Kind:
        parts = origin.parts
        match origin.op:
            case "same" if origin.text and (
                "joined" in (shown := self._shows(parts[0])) or ("words" in shown and "piece" not in shown)
            ):
                raise unfounded("A number or date made of words or joined texts")
            case op if op not in ("same", "column", "either", "every") and any(
                "again" in self._shows(each) for each in _values_of(origin)
            ):
                raise unfounded("A value that a recursive query computes from what it has so far")
            case "same" | "column" | "words":
                return self.kind(parts[0])
            case "truth":
                # A comparison, whose literals are free: a stored value must decide it
                marks = [self._mark(part) for part in origin.parts if self._is_decisive(part)]
                if not marks:
                    raise unfounded("A comparison that no stored value decides")
                if len(marks) > len(set(marks)):
                    raise unfounded("A comparison of a value with itself")
                return _Kind.TRUTH
            case "all":
                if not all(map(self._is_evidence, parts)):
                    raise unfounded("A condition that no stored value decides")
                return _Kind.TRUTH
            case "rows" | "limit" | "count" | "total":
                return self._rows(origin)
            case "choice":
                return self._choice(parts)
            case "case":
                return self._case(parts, zero=False)
            case "joined":
                return self._joined(parts)
            case "replaced":
                return self._replaced(origin)
            case "length" if _stripped(parts[0]).op == "stored":
                return _Kind.STORED
            case "length" | "position":
                raise unfounded("A length or position in a text that the query cuts or words")
            case "piece" | "aggregate" | "function" | "either" | "every":
                return self._of_parts(origin)
            case op if op in _ARITHMETIC:
                return self._arithmetic(origin)
            case _:
                return self._of_literal(origin)

    def _of_literal(self, origin: Origin) -> _Kind:
        match origin.op:
            case "stored":
                return _Kind.STORED
            case "nothing" | "again":
                return _Kind.NOTHING
            case "text" if any(map(str.isalnum, _REFERENCE.sub("", origin.text))):
                raise unfounded(f"The text {origin.text[:60]!r}")
            case "number":
                self._check_number(origin, TERMS | FACTORS)
            case "missing":
                raise ToolError("unknown_name", f"no such column: {origin.text}.")
            case "unknown":
                raise unfounded(origin.text[:80])
        # a text of other marks, or the day of today
        return _Kind.CONSTANT

    def _of_parts(self, origin: Origin) -> _Kind:
        if origin.op == "function":
            # steps from a date, of which several give any other one
            steps = [part for part in origin.parts if part.op == "number"]
            for step in steps:
                self._check_number(step, frozenset({0.0, 1.0}))
            if self._date_steps(origin) > MAX_DATE_STEPS:
                raise unfounded("A date that its steps decide")
        kinds = [self.kind(part) for part in origin.parts]
        evidence = [kind for kind in kinds if kind >= _Kind.TRUTH]
        if origin.op in ("either", "every"):
            # the rows of several queries: each must be evidence, and with "every" none may be missing
            missing = origin.op == "every" and _Kind.NOTHING in kinds
            return _Kind.CONSTANT if missing or _Kind.CONSTANT in kinds else max(kinds, default=_Kind.NOTHING)
        if not evidence:
            return max(kinds, default=_Kind.CONSTANT)
        return max(*evidence, _Kind.STORED if origin.op == "aggregate" else _Kind.PIECE)

    def _date_steps(self, origin: Origin) -> int:
        """The steps from a stored date, also those of functions within, behind whatever columns."""
        if id(origin) not in self._stepped:
            own = sum(part.op == "number" for part in origin.parts) if origin.op == "function" else 0
            self._stepped[id(origin)] = own + max(map(self._date_steps, origin.parts), default=0)
        return self._stepped[id(origin)]

    def _replaced(self, origin: Origin) -> _Kind:
        """A text with other marks, or the part that a pattern for the whole of it keeps ("$1"); letters and digits that
        go or come could make it say anything."""
        text, *stated = origin.parts
        if any(each.op != "text" for each in stated) or "joined" in self._shows(text):
            raise unfounded("A replacement that is no literal, or in a joined text,")
        pattern, replacement = (each.text for each in stated)
        if not (_REFERENCE.fullmatch(replacement) and pattern.startswith("^") and pattern.endswith("$")):
            for each in stated:
                self.kind(each)
        return _Kind.PIECE if self._is_evidence(text) else self.kind(text)

    def _rows(self, origin: Origin) -> _Kind:
        """Rows are stored if at least one source is and the others add none; so are counts and sums of them."""
        parts = origin.parts
        if origin.op == "limit":
            if parts[0].op == "number" and parts[0].text != "1":
                self._check_number(parts[0], frozenset())
            return _Kind.NOTHING
        if origin.op == "rows":
            kinds = [self.kind(part) for part in parts]
            return _Kind.CONSTANT if _Kind.CONSTANT in kinds else max(kinds, default=_Kind.NOTHING)
        if self.kind(parts[-1]) != _Kind.STORED:
            raise unfounded("A count or sum of rows that the query itself states")
        return _Kind.STORED if origin.op == "count" else self._total(parts[0])

    def _is_evidence(self, origin: Origin) -> bool:
        return self.kind(origin) >= _Kind.TRUTH

    def _check_number(self, origin: Origin, allowed: frozenset[float]) -> None:
        value = float(origin.text)
        if value not in allowed and abs(value) not in self._numbers:
            raise unfounded(f"The number {origin.text[:40]}")

    def _is_decisive(self, origin: Origin) -> bool:
        """Whether a stored value changes a value."""
        if id(origin) not in self._decisive:
            plain = _stripped(origin)
            self._decisive[id(origin)] = (
                self._varies(plain)
                if plain.op in _ARITHMETIC
                else plain.op == "stored"
                or (plain.op == "count" and self._is_evidence(plain))
                or any(map(self._is_decisive, plain.parts))
            )
        return self._decisive[id(origin)]

    def _total(self, value: Origin) -> _Kind:
        """A sum; 1 in each row counts them, and 0 adds nothing."""
        if value.op == "number" and value.text == "1":
            return _Kind.STORED
        if self._shows(value) & {"joined", "words"}:
            raise unfounded("A sum of words or joined texts")
        kind = self._case(value.parts, zero=True) if value.op == "case" else self._choice(_without_zero(value))
        return max(kind, _Kind.STORED) if kind >= _Kind.TRUTH else kind

    def _choice(self, parts: Sequence[Origin]) -> _Kind:
        """The first value that is not missing; counts and sums of nothing are 0."""
        kept = [part for part in parts if not (_is_zero(part) and _is_total(parts[0]))]
        kinds = [self.kind(part) for part in kept]
        if any(kind == _Kind.CONSTANT and part.op != "text" for kind, part in zip(kinds, kept, strict=True)):
            raise unfounded("A number for what is missing")
        return max(kinds, default=_Kind.NOTHING)

    def _case(self, parts: Sequence[Origin], *, zero: bool) -> _Kind:
        """The first part has the conditions. Words and numbers for true and false say which of them holds."""
        conditions, *results = parts
        stated = [each for each in results if each.op in ("text", "number")]
        others = [self.kind(each) for each in results if each not in stated]
        if stated and max(others, default=_Kind.NOTHING) == _Kind.NOTHING and all(map(_is_truth, stated)):
            return self.kind(conditions)
        for each in stated:
            if not (zero and _is_zero(each)):
                raise unfounded(f"The value {each.text[:60]!r} of a CASE")
        return _Kind.CONSTANT if _Kind.CONSTANT in others else max(others, default=_Kind.NOTHING)

    def _joined(self, parts: Sequence[Origin]) -> _Kind:
        """Texts after each other. Pieces of texts, or digits of numbers, could spell any word, and so could
        short values without a mark between them."""
        marks = [part.op == "text" and any(map(_is_visible, part.text)) for part in map(_stripped, parts)]
        if not all(a or b for a, b in pairwise(marks)):
            raise unfounded("A text of values without a mark between them")
        kinds = [self.kind(part) for part in parts]
        if any(kind == _Kind.CONSTANT and part.op != "text" for kind, part in zip(kinds, parts, strict=True)):
            raise unfounded("A text with a number of the query")
        pieces = sum(
            kind in (_Kind.PIECE, _Kind.TRUTH) or _stripped(part).op in (*_ARITHMETIC, "count", "total")
            for kind, part in zip(kinds, parts, strict=True)
        )
        if pieces > 1:
            raise unfounded("A text made of pieces")
        return _Kind.PIECE if pieces else max(kinds, default=_Kind.NOTHING)

    def _arithmetic(self, origin: Origin) -> _Kind:
        additive = origin.op in "+-"
        kinds = []
        for part in origin.parts:
            plain = _stripped(part)
            if plain.op == "number":
                is_factor = not additive and (float(plain.text) in FACTORS or is_unit_factor(abs(float(plain.text))))
                if not is_factor:
                    self._check_number(plain, TERMS if additive else FACTORS)
                kinds.append(_Kind.CONSTANT)
                continue
            kinds.append(self.kind(part))
            if additive and kinds[-1] == _Kind.CONSTANT and plain.op in _ARITHMETIC:
                raise unfounded("A number made of others")
        if max(kinds) <= _Kind.CONSTANT:
            return max(kinds)
        if _Kind.TRUTH in kinds or any(self._shows(part) & {"length", "joined", "words"} for part in origin.parts):
            raise unfounded("A number made of comparisons, lengths, words or joined texts")
        left, right = map(self._made_of, origin.parts)
        if additive and _Kind.CONSTANT in kinds and (left.divides or right.divides):
            raise unfounded("A number added to a rest or a share, which may be 0,")
        is_plain = left.steps == right.steps == 0 and _stripped(origin.parts[0]).op == "stored"
        if additive and left.values == right.values and not is_plain:
            raise unfounded("A value added to itself")
        made = self._made_of(origin)
        if made.constants > MAX_CONSTANTS or made.steps > MAX_STEPS or not self._varies(origin):
            raise unfounded("Arithmetic that its constants or its steps decide")
        return _Kind.STORED

    def _made_of(self, origin: Origin) -> "_Made":
        if id(origin) not in self._made:
            is_passed = origin.op in ("same", "column", "words")
            inside = origin.parts[:1] if is_passed or origin.op == "total" else origin.parts
            parts = [self._made_of(part) for part in inside] if origin.op in _COMPUTED else []
            steps = (origin.op in _ARITHMETIC) + sum(part.steps for part in parts)
            own = frozenset() if origin.op == "number" else frozenset({self._mark(origin)})
            self._made[id(origin)] = _Made(
                constants=(origin.op == "number") + sum(part.constants for part in parts),
                steps=steps,
                divides=origin.op in ("/", "%")
                or (origin.op == "same" and origin.text == WHOLE and steps > 0)
                # all days have the same hours
                or (origin.op == "function" and origin.text.startswith(_TIME_PARTS))
                or any(part.divides for part in parts),
                values=frozenset[int]().union(*(part.values for part in parts)) if steps or is_passed else own,
            )
        return self._made[id(origin)]

    def _varies(self, origin: Origin) -> bool:
        """Whether arithmetic gives other values for other stored ones."""
        values = [self._value(origin, attempt) for attempt in range(ATTEMPTS)]
        largest = max(map(abs, values))
        return math.isfinite(largest) and max(values) - min(values) > LEAST_CHANGE * largest

    def _value(self, origin: Origin, attempt: int) -> float:
        """The value that arithmetic gives if each value that it rests on is a random number."""
        key = (id(origin), attempt)
        if key not in self._values:
            self._values[key] = self._computed(origin, attempt)
        return self._values[key]

    def _computed(self, origin: Origin, attempt: int) -> float:
        if origin.op == "number":
            return float(origin.text)
        if origin.op in ("same", "words") or (origin.op == "column" and _stripped(origin).op == "number"):
            return self._value(origin.parts[0], attempt)
        if origin.op not in _ARITHMETIC:
            return random.Random(f"{self._mark(origin)} {attempt}").uniform(2, 1000)
        left, right = (self._value(part, attempt) for part in origin.parts)
        try:
            return {
                "+": lambda: left + right,
                "-": lambda: left - right,
                "*": lambda: left * right,
                "/": lambda: left / right,
                "%": lambda: math.fmod(left, right),
            }[origin.op]()
        except (ZeroDivisionError, OverflowError, ValueError):
            return math.inf

    def _shows(self, origin: Origin) -> frozenset[str]:
        """What a value is made of, as far as its parts are seen in it."""
        if id(origin) not in self._shown:
            inside = (self._shows(part) for part in _values_of(origin))
            self._shown[id(origin)] = frozenset({origin.op}).union(*inside)
        return self._shown[id(origin)]

    def _mark(self, origin: Origin) -> int:
        """The same number for values that are the same."""
        if id(origin) not in self._marks:
            is_same = origin.op in ("same", "words")
            own = (
                self._mark(origin.parts[0])
                if is_same
                else hash((origin.op, origin.text, *map(self._mark, origin.parts)))
            )
            self._marks[id(origin)] = own
        return self._marks[id(origin)]


def _stripped(origin: Origin) -> Origin:
    """An Origin without what leaves a value as it is."""
    while origin.op in ("same", "column", "words"):
        origin = origin.parts[0]
    return origin


def _values_of(origin: Origin) -> Sequence[Origin]:
    """The parts that are seen in a value: without conditions, and without the rows of a sum."""
    if origin.op not in _SHOWS:
        return ()
    return origin.parts[1:] if origin.op == "case" else origin.parts[:1] if origin.op == "total" else origin.parts


def _is_visible(char: str) -> bool:
    """Whether a character parts what stands on both sides of it.

    >>> [_is_visible(char) for char in (" ", ", "[0], "\ufe0f", "\u2800", "\u200b")]
    [True, True, False, False, False]
    """
    return char != "\u2800" and (char.isspace() or unicodedata.category(char)[0] in "LNPS")


def _without_zero(value: Origin) -> Sequence[Origin]:
    """The values that a sum may add, without the 0 for what is missing."""
    return value.parts[:-1] if value.op == "choice" and _is_zero(value.parts[-1]) else (value,)


def _is_zero(origin: Origin) -> bool:
    return origin.op == "number" and float(origin.text) == 0


def _is_truth(origin: Origin) -> bool:
    if origin.op == "number":
        return float(origin.text) in (0, 1)
    return origin.text.casefold() in TRUTHS


def _is_total(origin: Origin) -> bool:
    """Whether a value is a count or a sum, which is 0 of nothing."""
    plain = _stripped(origin)
    if plain.op in _ARITHMETIC or plain.op == "either":
        return all(map(_is_total, plain.parts))
    return plain.op in ("count", "total")
