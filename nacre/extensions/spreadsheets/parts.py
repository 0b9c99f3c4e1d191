"""Find the tables of a sheet and the rows in them that are no data: Sheet -> its parts, each a sheet of its own.

Tables are separated by empty rows or columns. Sums, repeated headings, section titles and notes are left out and named.
The value of merged cells, of a repetition mark, and of a first column that is only written where it changes, holds for
all its rows. Longer sheets are no work of hands and stay as they are.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, pairwise
from typing import NamedTuple

from ingestion.read.tables import Sheet, UnreadableTable
from nacre.extensions.spreadsheets.classify import CellKind, classify, is_value, is_year, words
from nacre.extensions.spreadsheets.layout import HEAD_ROWS, MAX_HEADING, find_layout, find_totals

# rows of a sheet in which tables and sums are searched, and tables of a sheet (given)
MAX_ROWS, MAX_PARTS = 20_000, 20

# the least share of rows without a value in a first column that is only written where it changes (given)
MIN_REPEATED = 1 / 3

# characters of the title of a table that names it
MAX_TITLE = 60

# rows of a reason that are listed
MAX_LISTED = 5

Rows = Sequence[Sequence[str]]


@dataclass
class _Part:
    """A table: its rows from `top` (with titles) to `end`, the first row below its headings, rows that are left out by
    the reason, and cells that are filled by their row and column."""

    top: int
    end: int
    title: str = ""
    body: int = 0
    headings: tuple[str, ...] = ()
    left_out: dict[str, list[int]] = field(default_factory=dict)
    filled: dict[int, dict[int, str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def leave_out(self, reason: str, rows: Sequence[int]) -> None:
        if rows:
            self.left_out.setdefault(reason, []).extend(rows)


def sheet_parts(sheet: Sheet) -> list[Sheet]:
    """The tables of a sheet, each with its own rows in their places; the sheet itself if it is one plain table."""
    try:
        rows = [list(map(str.strip, row)) for row in islice(sheet.rows(), MAX_ROWS + 1)]
    except UnreadableTable:
        return [sheet]
    if len(rows) > MAX_ROWS or max((sum(map(bool, row)) for row in rows), default=0) < 2:
        return [sheet]
    ends = _ends_of_tables(rows)
    if not ends:
        return _parts_below(sheet, rows)
    found: list[Sheet] = []
    note = f"{len(ends) + 1} tables stand side by side, with empty columns between them."
    for left, right in pairwise((0, *ends, max(map(len, rows)))):
        merged = tuple(each for each in sheet.merged if left <= each[1] and each[3] < right)
        own = sheet._replace(rows=_between(sheet, left, right), whole=sheet.rows, merged=merged)
        own = own._replace(notes=(*sheet.notes, note))
        found += _parts_below(own, [_cut(row, left, right) for row in rows], beside=len(found))
    return found


def _cut(row: Sequence[str], left: int, right: int) -> list[str]:
    """A row whose cells in other columns are empty."""
    return [*[""] * min(left, len(row)), *row[left:right]]


def _between(sheet: Sheet, left: int, right: int) -> Callable[[], Iterator[Sequence[str]]]:
    return lambda: (_cut(row, left, right) for row in sheet.rows())


def _ends_of_tables(rows: Rows) -> list[int]:
    """The first columns of tables that stand beside others: below an own row of headings each row begins with another
    text, and this row, the last one or the first heading tells that the table is no part of that on its left."""
    used = [any(place < len(row) and row[place] for row in rows) for place in range(max(map(len, rows)))]
    starts = [n for n, is_used in enumerate(used) if is_used and n > 1 and not used[n - 1] and any(used[:n])]
    found: list[int] = []
    for start in starts:
        left = _table_between(rows, found[-1] if found else 0, start)
        right = _table_between(rows, start, next((n for n in starts if n > start), None))
        if left is None or right is None:
            continue
        keys = right.keys
        is_key = all(keys) and len({*keys}) == len(keys) and not any(map(is_value, keys))
        if left.body != right.body or left.headings[0] == right.headings[0] or (is_key and left.end != right.end):
            found.append(start)
    return found


class _Beside(NamedTuple):
    """A table beside another one: its first row below its headings, the row below it, its headings, and its first
    column."""

    body: int
    end: int
    headings: list[str]
    keys: list[str]


def _table_between(rows: Rows, left: int, right: int | None) -> _Beside | None:
    """The table in some columns; None if they have no headings over two columns and rows."""
    own = [row[left:right] for row in rows]
    end = max((n + 1 for n, row in enumerate(own) if any(row)), default=0)
    layout = find_layout(own[: min(end, HEAD_ROWS)])
    headings = [each for each in layout.headings if each]
    first = next((n for n, each in enumerate(layout.headings) if each), 0)
    keys = [row[first] if first < len(row) else "" for row in own[layout.above : end]]
    return _Beside(layout.above, end, headings, keys) if len(headings) > 1 and len(keys) > 1 else None


def _parts_below(sheet: Sheet, rows: Rows, beside: int | None = None) -> list[Sheet]:
    """The tables of a sheet that stand below each other, and `beside` others."""
    parts, below = _tables(rows)
    for part in parts:
        _read_body(rows, part, sheet)
    is_alone = len(parts) == 1 and beside is None
    if not parts or (is_alone and not (parts[0].left_out or parts[0].filled or below)):
        return [sheet]
    return [
        sheet._replace(
            rows=_view(sheet, part),
            notes=(*sheet.notes, *_notes(rows, part, below.get(n, []))),
            top=part.top,
            label="" if is_alone else _label(sheet, part, n + (beside or 0)),
            skipped=sum(bool(cell) for n in _skipped_rows(part, below.get(n, [])) for cell in rows[n]),
            whole=sheet.whole or sheet.rows,
        )
        for n, part in enumerate(parts)
    ]


def _skipped_rows(part: _Part, below: Sequence[int]) -> list[int]:
    return [*(n for numbers in part.left_out.values() for n in numbers), *below]


def _view(sheet: Sheet, part: _Part) -> Callable[[], Iterator[Sequence[str]]]:
    """The rows of a sheet, of which those beside a part and those left out are empty."""
    left_out = {n for numbers in part.left_out.values() for n in numbers}

    def rows() -> Iterator[Sequence[str]]:
        for n, row in enumerate(islice(sheet.rows(), part.end)):
            if n < part.top or n in left_out:
                yield []
            elif n in part.filled:
                cells = [*row, *[""] * (max(part.filled[n]) + 1 - len(row))]
                yield [part.filled[n].get(place, cell) for place, cell in enumerate(cells)]
            else:
                yield row

    return rows


def _notes(rows: Rows, part: _Part, below: Sequence[int]) -> Iterator[str]:
    yield from part.notes
    for reason, numbers in part.left_out.items():
        shown = ", ".join(f"{n + 1:,}" for n in sorted(numbers)[:MAX_LISTED])
        more = f" and {len(numbers) - MAX_LISTED:,} more" if len(numbers) > MAX_LISTED else ""
        start, has, is_ = ("Row", "has", "is") if len(numbers) == 1 else ("Rows", "have", "are")
        yield f"{start} {shown}{more} {has} {reason} and {is_} not read."
    if texts := [cell for n in below for cell in rows[n] if cell]:
        yield f"Below the table, not read: {' | '.join(texts)[:MAX_HEADING]}"


def _label(sheet: Sheet, part: _Part, number: int) -> str:
    """The name of a table among several of a sheet: its title up to a comma or the like."""
    title = part.title
    for mark in (",", ":", "(", " – ", " - ", ";"):
        title = title.partition(mark)[0].strip()
    if title and len(title) <= MAX_TITLE:
        return title
    return f"{sheet.name or 'table'} {number + 1}" if number else ""


def _tables(rows: Rows) -> tuple[list[_Part], dict[int, list[int]]]:
    """The tables of a sheet, and the rows below each that belong to none."""
    parts: list[_Part] = []
    below: dict[int, list[int]] = {}
    pending: list[int] = []
    for start, end in _segments(rows):
        first = next((n for n in range(start, end) if _count(rows[n]) > 1), None)
        if first is None:
            pending += range(start, end)
            continue
        if not parts:
            parts.append(_Part(pending[0] if pending else start, end))
        elif len(parts) == 1 and _is_preamble(rows, parts[0], first, end):
            parts[0].end, parts[0].title = end, ""
        elif _goes_on(rows, parts[-1], first, end):
            parts[-1].end = end
        elif _is_note(rows, parts[-1], first, end):
            below.setdefault(len(parts) - 1, []).extend([*pending, *range(start, end)])
        elif len(parts) >= MAX_PARTS:
            parts[-1].end = end
        else:
            titles = [*pending, *range(start, first)]
            own = titles[-1:] if titles and (titles[-1] >= start or not _is_far(rows, titles[-1], start)) else []
            below.setdefault(len(parts) - 1, []).extend(titles[: len(titles) - len(own)])
            parts.append(_Part(own[0] if own else first, end))
        pending = []
        _find_headings(rows, parts[-1])
    if pending and parts:
        below.setdefault(len(parts) - 1, []).extend(pending)
    return parts, {n: numbers for n, numbers in below.items() if numbers}


def _is_far(rows: Rows, title: int, start: int) -> bool:
    """Whether a line above an empty row is a note on what is above it rather than a title: a sentence, or a mark."""
    text = next(cell for cell in rows[title] if cell)
    return start - title > 2 or len(text) > MAX_TITLE or text[0] in "*†¹²³" or text.endswith((".", "!"))


def _segments(rows: Rows) -> Iterator[tuple[int, int]]:
    """The runs of rows with a cell."""
    start = None
    for n, row in enumerate([*rows, []]):
        if any(row):
            start = n if start is None else start
        elif start is not None:
            yield start, n
            start = None


def _count(row: Sequence[str]) -> int:
    return sum(map(bool, row))


def _find_headings(rows: Rows, part: _Part) -> None:
    layout = find_layout(rows[part.top : min(part.end, part.top + HEAD_ROWS)])
    part.body, part.headings = part.top + layout.above, layout.headings
    titles = [row for row in rows[part.top : part.body] if _count(row) == 1]
    part.title = next(cell for cell in titles[-1] if cell) if titles else ""


def _is_preamble(rows: Rows, part: _Part, first: int, end: int) -> bool:
    """Whether rows above a wider table are names and values about it: "Author | A. Lind"."""
    if end - first < 2 or max(map(_count, rows[first:end])) < 3:
        return False
    own = rows[part.top : part.end]
    # every table has a row of two cells or more
    return not any(_count(row) > 2 for row in own) and not _values_below(own)


def _values_below(rows: Rows) -> list[int]:
    """The columns with a text in the first row and values alone below it."""
    found = []
    for place, cell in enumerate(rows[0] if rows else ()):
        cells = [row[place] for row in rows[1:] if place < len(row) and row[place]]
        if cell and not is_value(cell) and cells and all(is_value(each) or _is_missing(each) for each in cells):
            found.append(place)
    return found


def _is_missing(cell: str) -> bool:
    return bool(classify(cell) & CellKind.MISSING)


def _goes_on(rows: Rows, part: _Part, first: int, end: int) -> bool:
    """Whether rows below an empty one belong to the table above it."""
    row = rows[first]
    if _same_headings(row, part.headings):
        return True
    are_texts = not any((is_value(cell) and not is_year(cell)) or _is_missing(cell) for cell in row if cell)
    multiple = [each for each in rows[first:end] if _count(each) > 1]
    if are_texts and len(multiple) > 1:
        if any(_is_total(cell) for cell in row):
            return True
        above = rows[part.body : part.end]
        if not all(_is_mixed(above, place) for place in _values_below(multiple)):
            return False
        shared = {cell.casefold() for cell in row if cell} & {each.casefold() for each in part.headings if each}
        wide = {_count(each) for each in multiple}
        if shared or (wide == {_count(row)} and _count(row) != sum(map(bool, part.headings))):
            return False
    return not _is_note(rows, part, first, end)


def _is_mixed(rows: Rows, place: int) -> bool:
    """Whether a column of a table has texts among values, so that another text may be one of its cells."""
    cells = [row[place] for row in rows if place < len(row) and row[place]]
    return any(not is_value(cell) and not _is_missing(cell) for cell in cells) and any(map(is_value, cells))


def _is_total(cell: str) -> bool:
    return cell.casefold().rstrip(":. ") in words("totals")


def _is_note(rows: Rows, part: _Part, first: int, end: int) -> bool:
    """Whether rows below a table have too few cells for it, and no values where it has some."""
    wide = sum(map(bool, part.headings)) or max(map(_count, rows[part.body : part.end]), default=0)
    above = rows[part.body : part.end]
    values = [place for place in range(len(part.headings)) if is_mostly_values(above, place)]
    for row in rows[first:end]:
        fits = [place for place in values if place < len(row) and is_value(row[place])]
        if 2 * _count(row) > wide or fits or any(map(_is_total, row)):
            return False
    return True


def is_mostly_values(rows: Rows, place: int) -> bool:
    """Whether most cells of a column are numbers or dates."""
    cells = [row[place] for row in rows[:HEAD_ROWS] if place < len(row) and row[place]]
    return bool(cells) and 2 * sum(map(is_value, cells)) > len(cells)


def _same_headings(row: Sequence[str], headings: Sequence[str]) -> bool:
    own = [cell.casefold() for cell in row if cell]
    return len(own) > 1 and own == [each.casefold() for each in headings if each]


def _read_body(rows: Rows, part: _Part, sheet: Sheet) -> None:
    """Find what is left out of a table and what is filled in."""
    numbers = [n for n in range(part.body, part.end) if any(rows[n])]
    part.leave_out("the headings again", [n for n in numbers if _same_headings(rows[n], part.headings)])
    wide = sum(map(bool, part.headings))
    singles = [n for n in numbers if _count(rows[n]) == 1] if wide > 2 else []
    # a title stands above the rows of each section
    if len(singles) > 1 and singles[0] == numbers[0] and all(n + 1 not in singles for n in singles):
        part.leave_out("the title of a section", [n for n in singles if rows[n][0] and n + 1 < part.end])
    taken = set(_skipped_rows(part, ()))
    numbers = [n for n in numbers if n not in taken]
    _fill_merged(rows, part, sheet.merged)
    _fill_repeated(rows, part, numbers)
    body = [(n, [part.filled.get(n, {}).get(p, cell) for p, cell in enumerate(rows[n])]) for n in numbers]
    if sums := find_totals(body):
        part.leave_out("sums of the rows above" if len(sums) == 1 else "sums of other rows", sums)
        part.filled = {n: cells for n, cells in part.filled.items() if n not in sums}


def _fill_merged(rows: Rows, part: _Part, merged: Sequence[tuple[int, int, int, int]]) -> None:
    """The value of cells that are merged over rows holds for each of them; a number only in the first columns, which
    tell groups apart."""
    own = [each for each in merged if part.body <= each[0] < each[2] < part.end]
    places = {each[1] for each in own}
    first_single = next((n for n in range(len(part.headings) or 1) if n not in places), 0)
    kept = []
    for top, left, bottom, _ in own:
        value = rows[top][left] if left < len(rows[top]) else ""
        if value and is_value(value) and left > first_single:
            kept.append(top + 1)
            continue
        for n in range(top + 1, bottom + 1) if value else ():
            if left >= len(rows[n]) or not rows[n][left]:
                part.filled.setdefault(n, {})[left] = value
    if kept:
        shown = ", ".join(map(str, sorted(kept)[:MAX_LISTED]))
        part.notes.append(f"Numbers in merged cells stay in their first row: row {shown}.")
    if part.filled:
        part.notes.append("The value of merged cells is that of all their rows.")


def _fill_repeated(rows: Rows, part: _Part, numbers: Sequence[int]) -> None:
    """Repetition marks, and a first column of texts that is only written where it changes."""
    last: dict[int, str] = {}
    marked = 0
    for n in numbers:
        for place, cell in enumerate(rows[n]):
            if cell.casefold() in words("ditto") and place in last:
                part.filled.setdefault(n, {})[place] = last[place]
                marked += 1
            elif cell:
                last[place] = cell
    if marked:
        part.notes.append(f"{marked:,} repetition marks have the value above them.")
    cells = [rows[n][0] if rows[n] else "" for n in numbers]
    groups = [cell for cell in cells if cell]
    blank = len(cells) - len(groups)
    opened = sum(1 for one, other in pairwise(cells) if one and not other)
    if not part.headings or not part.headings[0] or opened < 2 or not cells[0] or blank < MIN_REPEATED * len(cells):
        return
    if len(set(groups)) < len(groups) or any(map(is_value, groups)) or part.filled:
        return
    beside = [len(rows[n]) > 1 and bool(rows[n][1]) for n in numbers]
    # a row of sums has its word in the first column
    if all(full or cell for full, cell in zip(beside, cells, strict=True)):
        own = ""
        for n, cell in zip(numbers, cells, strict=True):
            own = cell or own
            if not cell:
                part.filled.setdefault(n, {})[0] = own
        part.notes.append(
            f"{part.headings[0]!r} is only written where it changes, so its value is that of the rows below it."
        )


def parts_of(sheets: Iterator[Sheet]) -> Iterator[Sheet]:
    """The parts of some sheets."""
    return chain.from_iterable(map(sheet_parts, sheets))
