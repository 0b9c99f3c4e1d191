"""Find the table in a sheet: its first rows -> the headings of its columns, and where its rows begin; rows with sums.

Above a table may be titles, and a row of merged headings; headings may be empty or doubled, or missing altogether. A
row has sums if one of its cells is a word for them ("Total", "Zwischensumme Nord"), or if its numbers are the sums of
rows above or below it.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import median, median_low
from typing import NamedTuple

from ingestion.induce.names import lowercase_name
from nacre.extensions.spreadsheets.classify import NUMBER, CellKind, classify, is_value, is_year, number_of, words
from nacre.language.data import word_list
from nacre.language.translation import GLOSSED_LANGUAGES, gloss_label, is_english, is_in_language

# rows in which the headings are searched, and columns that are read; characters of a heading (given)
HEAD_ROWS, MAX_COLUMNS, MAX_HEADING = 60, 2_000, 200


class SheetLayout(NamedTuple):
    """The headings ("" for a column without one), the number of rows above the first row of data, and notes. `under`
    are the headings below merged ones without these, where no other column has them."""

    headings: tuple[str, ...]
    above: int
    notes: tuple[str, ...]
    skipped: int = 0
    under: Mapping[str, str] = {}


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
    under: dict[str, str] = {}
    if group:
        lone = {cell for cell, count in Counter(map(str.casefold, headings)).items() if count == 1}
        lower, headings = headings, _under_group(headings, group)
        under = {name: own for name, own in zip(headings, lower, strict=False) if own and own.casefold() in lone}
        notes.append(f"The headings of rows {top + first + 1} and {top + last + 1} are read together.")
    if titles := [cell.strip() for row in head[:first] for cell in row if cell.strip()]:
        shown = " | ".join(titles)[:MAX_HEADING]
        notes.append(f"Above the table, not read: {shown}")
    return SheetLayout(tuple(headings), top + last + 1, tuple(notes), len(titles), under)


_UNIT_IN_BRACKETS = re.compile(r"[\[(][^\[\]()]*[\])]$")

_ORDINALS = ("first", "second", "third", "fourth", "fifth")


def other_names(name: str, names: Sequence[str]) -> list[str]:
    """What people call a doubled heading besides its name, headings of a sheet that has them in two languages, and one
    with a word for names beside what they are names of.

    >>> other_names("Phone 2", ["Phone", "Phone 2"]), other_names("Phase 2", ["Phase 2"])
    (['Phone', 'second Phone'], [])
    >>> other_names("Print 1: Year", ["Print 1: Year", "Print 2: Year"])
    ['Year', 'Year first Print']
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
    group, _, own = name.rpartition(": ")
    before, _, number = (group or name).rpartition(" ")
    nth = int(number) if number.isdecimal() and int(number) <= len(_ORDINALS) else 0
    if group:
        # of the publishers of the first and the second edition, the first one is the publisher
        is_first = next(each for each in names if each.endswith(f": {own}")) == name
        found = [own] if is_first and own.casefold() not in taken else []
        return [*found, f"{own} {_ORDINALS[nth - 1]} {before}"] if nth else found
    is_doubled = nth > 1 and before.casefold() in {each.casefold() for each in names}
    return [before, f"{_ORDINALS[nth - 1]} {before}"] if is_doubled else []


def english_headings(headings: Sequence[str]) -> dict[str, list[str]]:
    """The English of the headings of a German or French sheet, as far as the dictionary has all of their words.

    >>> english_headings(["Hersteller", "Leistung (kW)", "Nr"]), english_headings(["Rotor", "Leistung"])
    ({'Hersteller': ['manufacturer'], 'Leistung (kW)': ['power']}, {})
    """
    plain = {each: _UNIT_IN_BRACKETS.sub("", lowercase_name(each).strip()).strip() for each in headings}
    foreign = {code: [h for h, name in plain.items() if is_in_language(name, code)] for code in GLOSSED_LANGUAGES}
    code = max(foreign, key=lambda each: len(foreign[each]))
    glossed = {heading: gloss_label(plain[heading], code) for heading in foreign[code]}
    return {h: [name] for h, name in glossed.items() if len(glossed) > 1 and name and is_english(name)}


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


def width_notes(headings: int, cut: int, ragged: Sequence[int]) -> Iterator[str]:
    """Notes on cells beyond the last column, and on rows with another number of cells than there are headings."""
    if cut:
        yield f"{cut:,} cells are beyond column {MAX_COLUMNS:,} and are not read."
    if ragged:
        shown = ", ".join(map(str, ragged[:3])) + (f" and {len(ragged) - 3:,} more" if len(ragged) > 3 else "")
        yield f"Not as many cells as headings ({headings:,}): row {shown}."


def without_tail(
    tail: Sequence[Sequence[str]], at: int, end: int, notes: list[str]
) -> tuple[int, Sequence[Sequence[str]]]:
    """The end of a table without sums below it, and the rows below the end. `tail` are the last rows before `at`."""
    first = at - len(tail)
    while first < end and (row := tail[end - first - 1]) is not None:
        texts = [cell.strip() for cell in row if cell.strip()]
        if len(texts) > 1 and texts[0].casefold().rstrip(":") in words("totals"):
            notes.append(f"Row {end:,} has sums of the rows above and is not read.")
        elif texts:
            break
        end -= 1
    below = tail[max(0, end - first) :]
    texts = [cell.strip() for row in below if len([c for c in row if c.strip()]) == 1 for cell in row if cell.strip()]
    if texts:
        notes.append(f"Below the table, not read: {' | '.join(texts)[:MAX_HEADING]}")
    return end, below


def _heading_row(head: Sequence[Sequence[str]], filled: Sequence[int]) -> int | None:
    """The first row that is as full as those below it; None if that is a row of data."""
    for at, count in enumerate(filled):
        below = [many for many in filled[at + 1 :] if many]
        if not count or (below and count < max(1, min(2, max(below)), median(below) / 2)):
            continue
        of_values = [n for n in range(len(head[at])) if _is_column_of_values(head[at + 1 :], n)]
        own = [head[at][n] for n in of_values if head[at][n].strip()]
        values = [cell for cell in own if is_value(cell) and not is_year(cell)]
        # sums may stand among headings
        if values and 2 * len(values) >= len(own):
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
    # the sums of all rows before each one, and of all
    sums: list[dict[int, float]] = [{}]
    for line in lines:
        sums.append({**sums[-1], **{p: sums[-1].get(p, 0.0) + v for p, v in line.values.items()}})
    ends, found = _next_words(lines), list[int]()
    counted = 0
    # sums over the data alone: what was found before is left out
    running: dict[int, float] = {}
    at_boundary: list[dict[int, float]] = [{}]
    for place, line in enumerate(lines):
        # a word for sums, or no text at all where most lines have one
        has_word = any(map(is_total_word, line.texts.values())) if line.texts else first is not None
        if len(line.texts) < full and has_word:
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
        texts = [cell for cell in cells if not classify(cell) & (NUMBER | CellKind.ZERO | CellKind.MISSING)]
        if 10 * len(cells) >= 6 * len(rows) and 2 * len(texts) > len(cells):
            return place
    return None


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


def _next_words(lines: Sequence[_Line]) -> list[int]:
    """The place of the next line below each one that has a word for sums, or that behind the last."""
    ends, end = [], len(lines)
    for place in reversed(range(len(lines))):
        ends.append(end)
        if any(map(is_total_word, lines[place].texts.values())):
            end = place
    return ends[::-1]


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
