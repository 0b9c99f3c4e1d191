"""The chart of a shared answer: rows with times and numbers -> lines over time as SVG, which needs no scripts."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import NamedTuple

from nacre.language.quantities import round_step
from nacre.records.answer import Value

MIN_POINTS, MAX_POINTS, MAX_GROUPS, TICKS = 3, 2000, 8, 5
WIDE, HIGH, LEFT, RIGHT, TOP, BOTTOM = 640, 280, 76, 14, 30, 36
LEGEND_COLUMNS, LEGEND_LINE, LETTERS = 4, 18, 18
_TIME = re.compile(r"[12]\d{3}(?:-\d\d(?:-\d\d)?)?")

Row = Sequence[Value | None]


class Lines(NamedTuple):
    """The columns of times, numbers and groups of a table; `group` is None for one line."""

    when: int
    value: int
    group: int | None


def line_figure(columns: Sequence[str], rows: Sequence[Row], write: Callable[[Value], str]) -> str:
    """Lines over time with axes; "" if the rows are of another shape. `write` formats a number.

    >>> figure = line_figure(["year", "boats"], [(2001, 4), (2002, 9), (2003, 7)], str)
    >>> figure.count("<circle"), "2001" in figure, line_figure(["pier", "boats"], [("A", 4), ("B", 9), ("C", 7)], str)
    (3, True, '')
    """
    found = _find_lines(rows, len(columns))
    if found is None:
        return ""
    groups = list(dict.fromkeys("" if found.group is None else str(row[found.group]) for row in rows))
    points = [(_instant(row[found.when]), float(str(row[found.value])), row) for row in rows]
    low_x, high_x = min(p[0] for p in points), max(p[0] for p in points)
    bottom_value, top_value = min(0.0, *(p[1] for p in points)), max(p[1] for p in points)
    is_whole = all(isinstance(row[found.value], int) for row in rows)
    step = round_step(max((top_value - bottom_value) / TICKS, 1.0 if is_whole else 1e-300))
    low, high = math.floor(bottom_value / step) * step, math.ceil(max(top_value, 0.0) / step) * step
    top = TOP + (math.ceil(len(groups) / LEGEND_COLUMNS) * LEGEND_LINE if found.group is not None else 0)

    def x(at: float) -> float:
        return round(LEFT + (at - low_x) / (high_x - low_x or 1) * (WIDE - LEFT - RIGHT), 1)

    def y(number: float) -> float:
        return round(top + HIGH - (number - low) / (high - low or 1) * HIGH, 1)

    parts = [f'<text class="axis" x="0" y="{top - 14}">{escape(columns[found.value])}</text>']
    for n in range(round((high - low) / step) + 1):
        number = low + n * step
        label = escape(write(int(number) if number == int(number) else number))
        parts.append(f'<path class="grid" d="M{LEFT} {y(number)}H{WIDE - RIGHT}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y(number) + 4}" text-anchor="end">{label}</text>')
    times = {at: str(row[found.when]) for at, _, row in sorted(points, key=lambda point: point[0])}
    for at, text in _spread(list(times.items()), high_x - low_x):
        parts.append(f'<text x="{x(at)}" y="{top + HIGH + 20}" text-anchor="middle">{escape(text)}</text>')
    for n, group in enumerate(groups):
        own = sorted((p for p in points if found.group is None or str(p[2][found.group]) == group), key=lambda p: p[0])
        corners = " ".join(f"{x(at)},{y(number)}" for at, number, _ in own)
        parts.append(f'<polyline class="tone-{n}" points="{corners}"/>')
        for at, number, row in own:
            title = ", ".join(filter(None, (group, times[at]))) + f": {write(row[found.value] or 0)}"
            parts.append(
                f'<circle class="tone-{n}" cx="{x(at)}" cy="{y(number)}" r="3"><title>{escape(title)}</title></circle>'
            )
        if found.group is not None:
            side, line = n % LEGEND_COLUMNS * WIDE / LEGEND_COLUMNS, n // LEGEND_COLUMNS * LEGEND_LINE
            parts.append(f'<circle class="tone-{n}" cx="{side + 6}" cy="{line + 8}" r="5"/>')
            parts.append(f'<text x="{side + 16}" y="{line + 12}">{escape(group[:LETTERS])}</text>')
    by = columns[found.when] if found.group is None else f"{columns[found.when]}, {columns[found.group]}"
    name = escape(f"{columns[found.value]}: {by}")
    return (
        f'<figure class="scroll" role="region" tabindex="0" aria-label="{name}"><svg class="lines" role="img"'
        f' aria-label="{name}" viewBox="0 0 {WIDE} {top + HIGH + BOTTOM}">{"".join(parts)}</svg></figure>'
    )


def _find_lines(rows: Sequence[Row], columns: int) -> Lines | None:
    """Where the times, numbers and groups are; None if no time has one number, or one of each group."""
    if not MIN_POINTS <= len(rows) <= MAX_POINTS or any(len(row) != columns or None in row for row in rows):
        return None
    cells = [[row[i] for row in rows] for i in range(columns)]
    when = next((i for i in range(columns) if all(_TIME.fullmatch(str(cell)) for cell in cells[i])), None)
    numbers = (
        i
        for i in range(columns)
        if i != when and all(type(cell) in (int, float) and math.isfinite(float(str(cell))) for cell in cells[i])
    )
    value = next((i for i in numbers if len(set(cells[i])) > 1), None)
    if when is None or value is None or len(set(map(str, cells[when]))) < MIN_POINTS:
        return None
    if len(set(map(str, cells[when]))) == len(rows):
        return Lines(when, value, None)
    for i in range(columns):
        is_group = (
            i != when and all(isinstance(cell, str) for cell in cells[i]) and 1 < len(set(cells[i])) <= MAX_GROUPS
        )
        if is_group and len({(str(row[when]), row[i]) for row in rows}) == len(rows):
            return Lines(when, value, i)
    return None


def _instant(cell: Value | None) -> float:
    """A year, month or day as a place on the axis."""
    year, month, day = [*map(int, str(cell).split("-")), 1, 1][:3]
    return year + (month - 1) / 12 + (day - 1) / 372


def _spread(times: list[tuple[float, str]], span: float) -> Iterator[tuple[float, str]]:
    """Some of the times, apart from each other."""
    last = -math.inf
    for at, text in times:
        if at - last >= span / TICKS:
            last = at
            yield at, text
