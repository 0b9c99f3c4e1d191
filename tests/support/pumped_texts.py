"""Long texts derived from a regular expression that make it backtrack, if it can: pattern -> texts by length."""

import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

# one character for each category that the patterns of the project name, and their most frequent literals
PROBES = " \t\n\raA1_-.,:;()[]<>\"'|/\\*#é%"
# neither matched by the classes that patterns name nor the end of a line, so that matches fail at it
ENDS = ("\x00", "\n\x00")
MAX_CHARACTERS = 9
MAX_UNITS = 40
REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
CATEGORIES: dict[Any, Callable[[str], bool]] = {
    codes.CATEGORY_DIGIT: str.isdigit,
    codes.CATEGORY_SPACE: str.isspace,
    codes.CATEGORY_WORD: lambda each: each.isalnum() or each == "_",
}
OPPOSITES = {
    codes.CATEGORY_NOT_DIGIT: codes.CATEGORY_DIGIT,
    codes.CATEGORY_NOT_SPACE: codes.CATEGORY_SPACE,
    codes.CATEGORY_NOT_WORD: codes.CATEGORY_WORD,
}


def pumped_texts(expression: re.Pattern[Any]) -> Iterator[Callable[[int], str]]:
    """Functions from a length to a text: a beginning of the pattern, a unit many times, an end that does not match."""
    tree = _parser.parse(expression.pattern, expression.flags)
    characters = representatives(tree)
    units = [*characters, *(a + b for a, b in combinations(characters, 2))]
    begins = dict.fromkeys(beginnings(tree))
    units = list(dict.fromkeys([*units[:MAX_UNITS], *(each for each in begins if len(each) > 1)]))
    for begin in ["", *(each for each in begins if each)][:MAX_CHARACTERS]:
        for unit in units if not begin else characters:
            for end in ENDS:
                yield partial(pump, begin, unit, end)


def pump(begin: str, unit: str, end: str, length: int) -> str:
    """A text of about this length."""
    return begin + unit * max(1, length // len(unit)) + end


def representatives(tree: Any) -> list[str]:
    """One character for each set of the pattern's classes that match the same characters."""
    nodes = list(classes(tree))
    literals = [chr(value) for code, value in nodes if code is codes.LITERAL]
    by_classes: dict[tuple[bool, ...], str] = {}
    for each in [*PROBES, *literals]:
        matching = tuple(matches(node, each) for node in nodes)
        if any(matching):
            by_classes.setdefault(matching, each)
    return sorted(by_classes.values(), key=lambda each: -sum(matches(node, each) for node in nodes))[:MAX_CHARACTERS]


def classes(tree: Any) -> Iterator[Any]:
    """The nodes of a parsed pattern that match one character."""
    for code, value in tree:
        if code in (codes.LITERAL, codes.NOT_LITERAL, codes.ANY, codes.IN):
            yield code, value
        for part in parts(code, value):
            yield from classes(part)


def parts(code: Any, value: Any) -> list[Any]:
    """The patterns inside a node."""
    if code in REPEATS:
        return [value[2]]
    if code is codes.SUBPATTERN:
        return [value[3]]
    if code is codes.ATOMIC_GROUP:
        return [value]
    if code is codes.BRANCH:
        return list(value[1])
    return [value[1]] if code in (codes.ASSERT, codes.ASSERT_NOT) else []


def matches(node: Any, character: str) -> bool:
    """Whether a node of one character matches it."""
    code, value = node
    if code is codes.ANY:
        return character != "\n"
    if code in (codes.LITERAL, codes.NOT_LITERAL):
        return (chr(value) == character) == (code is codes.LITERAL)
    negated = value[0][0] is codes.NEGATE
    return any(is_in(item, character) for item in value if item[0] is not codes.NEGATE) != negated


def is_in(item: Any, character: str) -> bool:
    code, value = item
    if code is codes.RANGE:
        return bool(value[0] <= ord(character) <= value[1])
    if code is codes.CATEGORY:
        return CATEGORIES[value](character) if value in CATEGORIES else not CATEGORIES[OPPOSITES[value]](character)
    return chr(value) == character


def beginnings(tree: Any, before: str = "") -> Iterator[str]:
    """Short texts that match the pattern up to each of its repetitions, and its alternatives as a whole."""
    for code, value in tree:
        if code in REPEATS:
            yield before
        inner = parts(code, value) if code not in (codes.ASSERT, codes.ASSERT_NOT) else []
        for part in inner:
            yield from beginnings(part, before)
        before += sample(code, value)
    yield before


def sample(code: Any, value: Any) -> str:
    """A short text that a node matches."""
    if code in (codes.LITERAL, codes.NOT_LITERAL, codes.ANY, codes.IN):
        known = chr(value) if code is codes.LITERAL else ""
        return known or next((each for each in "a 1" + PROBES if matches((code, value), each)), "a")
    if code in (codes.ASSERT, codes.ASSERT_NOT):
        return ""
    inner = parts(code, value)
    text = "".join(sample(*node) for node in inner[0]) if inner else ""
    return text * max(1, min(value[0], 9)) if code in REPEATS else text
