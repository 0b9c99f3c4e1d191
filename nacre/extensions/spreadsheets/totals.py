"""Find the rows of a table that have sums of other rows: rows -> the numbers of those rows.

Two signs: the word of a row ("Total", "Zwischensumme Nord"), and numbers that are the sums of the rows above or below.
"""

from collections.abc import Sequence
from statistics import median_low
from typing import NamedTuple

from nacre.extensions.spreadsheets.classify import NUMBER, CellKind, classify, number_of, words

# rows of sums that a later one may sum up to; the part of a unit that sums of rounded numbers may be off
MAX_BOUNDARIES, TOLERANCE = 50, 0.011

# texts of a row that is data if it has as many as most rows (given)
MIN_TEXTS = 3

Row = tuple[int, Sequence[str]]


class _Line(NamedTuple):
    """A row: its number, its texts and their columns, and its numbers by column."""

    number: int
    texts: dict[int, str]
    values: dict[int, float]


def find_totals(rows: Sequence[Row]) -> list[int]:
    """The numbers of the rows that have sums.

    >>> find_totals([(1, ["North", "20"]), (2, ["South", "30"]), (3, ["Total", "50"])])
    [3]
    >>> find_totals([(1, ["Total Wine", "20"]), (2, ["South", "30"])])
    []
    """
    first = _usual_text(rows)
    if not any(is_total_word(cell) for _, row in rows for cell in row if cell) and not any(
        first is not None and not (first < len(row) and row[first]) for _, row in rows
    ):
        return []
    lines = _lines(rows)
    full = max(MIN_TEXTS, median_low(len(line.texts) for line in lines))
    sums, ends = _prefix_sums(lines), _next_words(lines)
    found: list[int] = []
    counted = 0
    # sums over the data alone: what was found before is left out
    running: dict[int, float] = {}
    at_boundary: list[dict[int, float]] = [{}]
    for place, line in enumerate(lines):
        if len(line.texts) < full and _may_be_total(line, first):
            matches = _matching(line, running, at_boundary, counted > 0)
            below = {p: total - sums[place + 1].get(p, 0.0) for p, total in sums[ends[place]].items()}
            matches = matches or _matching(line, below, [{}], place + 2 < len(lines))
            if _is_total_row(line, matches, first, counted):
                found.append(line.number)
                at_boundary = [*at_boundary[-MAX_BOUNDARIES:], dict(running)]
                counted = 0
                continue
        counted += 1
        for column, value in line.values.items():
            running[column] = running.get(column, 0.0) + value
    return found if len(found) < len(lines) else []


def is_total_word(cell: str) -> bool:
    """Whether a text is or begins or ends with a word for sums."""
    return _rank(cell) > 0


def _rank(cell: str) -> int:
    """3 for a word for sums alone ("Total"), 2 for a phrase with a word that means nothing else ("Subtotal North"), 1
    for a phrase that may mean something else ("Total North"), else 0."""
    low = cell.casefold().strip(" :.*()=-–—")
    if not low or len(low) > 60:
        return 0
    if low in words("totals") or low in words("averages"):
        return 3
    parts = [part.strip(":.,()") for part in low.replace("-", " ").split()]
    parts = [part for part in parts if part] or [low]
    if all(part in words("totals") for part in parts):
        return 3
    ends = (parts[0], parts[-1], low.split()[0], low.split()[-1].strip(":.,()"))
    if any(part in words("subtotals") for part in ends):
        return 2
    if any(part in words("totals") or part.endswith(tuple(words("total_endings"))) for part in ends):
        return 1
    return 0


def _usual_text(rows: Sequence[Row]) -> int | None:
    """The first column in which most rows have a text."""
    for place in range(max((len(row) for _, row in rows), default=0)):
        cells = [row[place] for _, row in rows if place < len(row) and row[place]]
        if 10 * len(cells) >= 6 * len(rows) and 2 * sum(not _is_value(cell) for cell in cells) > len(cells):
            return place
    return None


def _is_value(cell: str) -> bool:
    return bool(classify(cell) & (NUMBER | CellKind.ZERO | CellKind.MISSING))


def _lines(rows: Sequence[Row]) -> list[_Line]:
    """The rows with their numbers, which are written with a comma or a point alike in a column."""
    width = max(len(row) for _, row in rows)
    comma = []
    for place in range(width):
        kinds = [classify(row[place]) & NUMBER for _, row in rows if place < len(row) and row[place]]
        comma.append(kinds.count(CellKind.COMMA) - kinds.count(CellKind.POINT))
    overall = sum(comma)
    lines = []
    for number, row in rows:
        texts, values = {}, {}
        for place, cell in enumerate(row):
            if not cell or classify(cell) & CellKind.MISSING:
                continue
            found = number_of(cell, (comma[place] or overall) > 0) or number_of(cell, (comma[place] or overall) <= 0)
            if found:
                values[place] = float(found[0])
            else:
                texts[place] = cell
        lines.append(_Line(number, texts, values))
    return lines


def _prefix_sums(lines: Sequence[_Line]) -> list[dict[int, float]]:
    """The sums of all rows before each one, and of all."""
    sums: list[dict[int, float]] = [{}]
    for line in lines:
        sums.append({**sums[-1], **{p: sums[-1].get(p, 0.0) + v for p, v in line.values.items()}})
    return sums


def _next_words(lines: Sequence[_Line]) -> list[int]:
    """The place of the next line below each one that has a word for sums, or that behind the last."""
    ends, end = [], len(lines)
    for place in reversed(range(len(lines))):
        ends.append(end)
        if any(map(is_total_word, lines[place].texts.values())):
            end = place
    return ends[::-1]


def _may_be_total(line: _Line, first: int | None) -> bool:
    """Whether a line has a word for sums, or no text at all where most lines have one."""
    return any(map(is_total_word, line.texts.values())) if line.texts else first is not None


def _matching(
    line: _Line, running: dict[int, float], boundaries: Sequence[dict[int, float]], has_rows: bool
) -> set[int]:
    """The columns whose number is the sum of the rows since one of the boundaries."""
    if not has_rows and len(boundaries) < 2:
        return set()
    best: set[int] = set()
    for start in reversed(boundaries):
        found = {
            place
            for place, value in line.values.items()
            if abs(running.get(place, 0.0) - start.get(place, 0.0) - value) <= max(TOLERANCE, abs(value) * 1e-6)
            and place in running
        }
        best = max(best, found, key=len)
    return best


def _is_total_row(line: _Line, matches: set[int], first: int | None, counted: int) -> bool:
    ranks = {place: _rank(text) for place, text in line.texts.items()}
    rank = max(ranks.values(), default=0)
    summed = bool(matches) and 2 * len(matches) >= len(line.values) and any(line.values[place] for place in matches)
    if not line.texts:
        # a row without a word, of sums; a formula may leave out rows
        return counted > 1 and summed and (counted > 2 or len(matches) == len(line.values))
    if rank == 3 and len(line.texts) == 1:
        return bool(line.values) or first in ranks
    others = [text for place, text in line.texts.items() if not ranks[place]]
    if rank == 2 and len(others) <= 1 and line.values:
        return True
    return rank > 0 and summed
