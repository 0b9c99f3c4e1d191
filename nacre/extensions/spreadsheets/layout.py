"""Find the table in a sheet: its first rows -> the headings of its columns, and where its rows begin.

Above a table may be titles, and a row of merged headings; headings may be empty or doubled, or missing altogether.
"""

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from ingestion.induce.names import lowercase_name
from nacre.extensions.spreadsheets.classify import is_value, is_year, words
from nacre.language.data import word_list

# rows in which the headings are searched, and columns that are read; characters of a heading (given)
HEAD_ROWS, MAX_COLUMNS, MAX_HEADING = 60, 2_000, 200


class SheetLayout(NamedTuple):
    """The headings ("" for a column without one), the number of rows above the first row of data, and notes."""

    headings: tuple[str, ...]
    above: int
    notes: tuple[str, ...]
    skipped: int = 0


def find_layout(head: Sequence[Sequence[str]], top: int = 0) -> SheetLayout:
    """The layout of a table by its first rows, which are below `top` others."""
    filled = [sum(1 for cell in row if cell.strip()) for row in head]
    at = _heading_row(head, filled)
    if at is None:
        return SheetLayout(
            (), top + next((n for n, count in enumerate(filled) if count), 0), ("It has no row of headings.",)
        )
    notes = []
    group: Sequence[str] = ()
    last, first = at, at
    if at + 1 < len(head) and _is_second_row(head, at):
        group, last = head[at], at + 1
    elif at and filled[at - 1] >= 2 and not any(is_value(cell) and not is_year(cell) for cell in head[at - 1]):
        group, first = head[at - 1], at - 1
    headings = [_shortened(cell) for cell in head[last]]
    if group:
        headings = _under_group(headings, group)
        notes.append(f"The headings of rows {top + first + 1} and {top + last + 1} are read together.")
    if titles := [cell.strip() for row in head[:first] for cell in row if cell.strip()]:
        shown = " | ".join(titles)[:MAX_HEADING]
        notes.append(f"Above the table, not read: {shown}")
    return SheetLayout(tuple(headings), top + last + 1, tuple(notes), len(titles))


_ORDINALS = ("second", "third", "fourth", "fifth")


def other_names(name: str, names: Sequence[str]) -> list[str]:
    """What people call a doubled heading besides its name, headings of a sheet that has them in two languages, and one
    with a word for names beside what they are names of.

    >>> other_names("Phone 2", ["Phone", "Phone 2"]), other_names("Phase 2", ["Phase 2"])
    (['Phone', 'second Phone'], [])
    >>> other_names("Topf / pot", ["Topf / pot", "Ton / clay"]), other_names("Price / kg", ["Pot", "Price / kg"])
    (['Topf', 'pot'], [])
    >>> other_names("Name_Kiln_Site", ["Name_Kiln_Site", "Nr_Kiln_Site"]), other_names("First name", ["First name"])
    (['kiln site'], [])
    """
    if " / " in name and 2 * sum(" / " in each for each in names) > len(names):
        return [part for part in map(str.strip, name.split(" / ")) if part]
    taken = {lowercase_name(each).casefold() for each in names}
    if (bearer := _bearer(name)) and bearer.casefold() not in taken:
        return [bearer]
    before, _, number = name.rpartition(" ")
    is_doubled = number.isdecimal() and before.casefold() in {each.casefold() for each in names}
    return [before, f"{_ORDINALS[int(number) - 2]} {before}"] if is_doubled and 2 <= int(number) <= 5 else []


def _bearer(heading: str) -> str:
    """What a heading with a word for names at its start or its end has the names of, in small letters; "" if they are
    parts of names, or there is no such word."""
    own = lowercase_name(heading).split()
    called = word_list("ingestion", "name_words") | words("names").keys()
    if len(own) < 2 or not {own[0].casefold(), own[-1].casefold()} & called:
        return ""
    parts = word_list("ingestion", "partial_name_words") | words("given").keys() | words("family").keys()
    rest = own[1:] if own[0].casefold() in called else own[:-1]
    return "" if {"".join(own).casefold(), rest[0].casefold()} & (parts - called) else " ".join(rest)


def undated_names(labels: Sequence[str]) -> list[tuple[str, str]]:
    """The name of each table, which does not begin with a date, and the one with or without its date ("" for none).
    Tables that only differ by their dates keep them.

    >>> undated_names(["2024 03 loans", "gifts 2024", "2024"]), undated_names(["loans 2024", "loans 2025"])
    ([('loans', '2024 03 loans'), ('gifts 2024', 'gifts'), ('2024', '')], [('loans 2024', ''), ('loans 2025', '')])
    """
    heads = [label.strip(" 0123456789.-") or label for label in labels]
    found = []
    for label, head in zip(labels, heads, strict=True):
        if head == label or heads.count(head) > 1:
            found.append((label, ""))
        else:
            found.append((head, label) if label[0].isdigit() else (label, head))
    return found


def distinct_names(headings: Sequence[str], width: int) -> tuple[list[str], list[str]]:
    """A name for each column that no other has, whatever its case, and notes on the changed ones.

    >>> distinct_names(["Name", "name", "Phone", "Phone", ""], 5)[0]
    ['Name', 'name 2', 'Phone', 'Phone 2', 'Column 5']
    """
    names: list[str] = []
    notes: list[str] = []
    given = {heading.casefold() for heading in headings}
    taken: set[str] = set()
    for number in range(1, width + 1):
        heading = headings[number - 1] if number <= len(headings) else ""
        name, count = heading or f"Column {number}", 1
        while name.casefold() in taken or (name != heading and name.casefold() in given):
            count += 1
            name = f"{heading or 'Column'} {count if heading else number + count}"
        taken.add(name.casefold())
        names.append(name)
        if name != heading and headings:
            what = f"a further heading {heading!r}" if heading else "no heading"
            notes.append(f"Column {number} has {what} and is called {name!r}.")
    return names, notes


def _heading_row(head: Sequence[Sequence[str]], filled: Sequence[int]) -> int | None:
    """The first row that is as full as those below it; None if that is a row of data."""
    for at, count in enumerate(filled):
        below = [many for many in filled[at + 1 :] if many]
        if not count or (below and count < max(1, min(2, max(below)), median(below) / 2)):
            continue
        values = [n for n, cell in enumerate(head[at]) if is_value(cell) and not is_year(cell)]
        if any(_is_column_of_values(head[at + 1 :], n) for n in values):
            return None
        return at
    return None


def _is_column_of_values(rows: Sequence[Sequence[str]], column: int) -> bool:
    cells = [row[column] for row in rows if column < len(row) and row[column].strip()]
    return bool(cells) and 2 * sum(map(is_value, cells)) > len(cells)


def _is_second_row(head: Sequence[Sequence[str]], at: int) -> bool:
    """Whether the row below has headings too: texts alone, also where this row is empty, over columns of values."""
    own, below = head[at], head[at + 1]
    if not any(cell.strip() for cell in below) or any(is_value(cell) and not is_year(cell) for cell in below):
        return False
    gaps = [n for n, cell in enumerate(below) if cell.strip() and not (n < len(own) and own[n].strip())]
    return any(_is_column_of_values(head[at + 2 :], n) for n in gaps)


def _under_group(headings: Sequence[str], group: Sequence[str]) -> list[str]:
    """Each heading after that of its group, which stands over its first column."""
    found, over = [], ""
    for number in range(max(len(headings), len(group))):
        own = headings[number] if number < len(headings) else ""
        over = _shortened(group[number]) if number < len(group) and group[number].strip() else over
        is_over = over and (own or (number < len(group) and group[number].strip()))
        found.append(f"{over} {own}".strip() if is_over else own)
    return found


def _shortened(cell: str) -> str:
    return " ".join(cell.split())[:MAX_HEADING]
