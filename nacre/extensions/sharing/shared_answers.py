"""Shared answers: a frozen copy of an answer, which only the hash of a token finds -> rows beside its thread.

A copy is gone with its thread, since both are deleted in one transaction. What it must not outlive besides is checked
in `routes`. It has at most so many rows and characters as one page should have. Its chart: rows with times and
numbers -> lines over time, two names and numbers -> stacked bars, as SVG, which needs no scripts."""

import json
import math
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from typing import Any, NamedTuple

from pydantic import ValidationError

from agents.answering.fallbacks import CONFIRM
from nacre.errors import ConfigError
from nacre.language.data import load_language_texts
from nacre.language.quantities import round_step
from nacre.language.translation import GLOSSED_LANGUAGES
from nacre.records.answer import Answer, Value
from nacre.records.json_form import from_json, to_json
from nacre.stores.state.conversations import Conversations
from nacre.stores.state.database import StorageError, json_text

DAY = 86_400.0

# links of one owner that work (given): a key can't fill the disk with them
MAX_OF_OWNER = 1000

TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")


class DamagedShareError(StorageError):
    """The stored copy can't be read."""


@dataclass(frozen=True)
class SharedCitation:
    """A source as it is shown; `all_rows` counts the rows of the record, of which `rows` are the first."""

    n: int
    source: str
    text: str
    basis: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Value | None, ...], ...]
    all_rows: int


@dataclass(frozen=True)
class SharedQuery:
    """A query that ran: what it asks for in words, its text with its parameters, and the number of its rows."""

    tool: str
    words: str
    text: str
    params: tuple[Value | None, ...]
    rows: int


@dataclass(frozen=True)
class SharedAnswer:
    """A frozen copy of an answer, bounded in rows and characters. `all_rows` counts the rows of the answer, of which
    `rows` are the first. A list without a table is one column without a heading. `origin` is what the graph states of
    itself, such as its licence."""

    question: str
    standalone: str
    answer: str
    language: str
    graph: str
    version: str
    status: str
    confidence: float | None
    notes: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[Value | None, ...], ...]
    all_rows: int
    citations: tuple[SharedCitation, ...]
    triples: tuple[tuple[str, ...], ...]
    readings: tuple[str, ...]
    queries: tuple[SharedQuery, ...]
    origin: str = ""


@dataclass(frozen=True)
class ShareLink:
    """A link to a shared answer, without its token. Times are seconds since 1970."""

    id: str
    owner: str
    thread: str
    turn: int
    graph: str
    question: str
    created: float
    expires: float


@dataclass(frozen=True)
class OpenedShare:
    """What a token gives. `key` is the hash of the owner's key when the answer was shared, "" without keys."""

    link: ShareLink
    key: str
    answer: SharedAnswer


class SharedAnswerStore:
    """The shared answers of a state database. Methods raise StorageError if it can't be read or written."""

    def __init__(self, conversations: Conversations) -> None:
        self._conversations = conversations
        self._database = conversations.database

    def add(
        self, owner: str, thread: str, turn: int, answer: SharedAnswer, key: str, days: int
    ) -> tuple[str, ShareLink]:
        """Store a copy; its token, which is shown once, and its link. Raises ConfigError if the owner has too many."""
        token, id, now = secrets.token_urlsafe(32), secrets.token_hex(8), self._conversations.now()
        link = ShareLink(id, owner, thread, turn, answer.graph, answer.question, now, now + days * DAY)
        record = json_text(to_json(answer))
        with self._database.writing(f"shares of {owner}") as run:
            run("DELETE FROM shared_answer WHERE expires <= ?", now)
            number = run("SELECT count(*) FROM shared_answer WHERE owner = ?", owner).fetchone()[0]
            if number >= MAX_OF_OWNER:
                raise ConfigError(
                    f"{number} answers are shared, the most for one key. Withdraw some: DELETE /api/shares"
                )
            run(
                "INSERT INTO shared_answer VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                *(_hash(token), id, owner, thread, turn, answer.graph, key, answer.question, now, link.expires, record),
            )
        return token, link

    def open(self, token: str) -> OpenedShare | None:
        """What a token gives; None if it is unknown, withdrawn or expired, or if its thread is gone. Raises
        DamagedShareError if the stored copy can't be read."""
        if not TOKEN.fullmatch(token):
            return None
        rows = self._database.read(
            f"SELECT {_LINK}, s.key_hash, s.record FROM shared_answer s JOIN conversation c ON c.owner = s.owner"
            " AND c.thread = s.thread WHERE s.hash = ? AND s.expires > ?",
            *(_hash(token), self._conversations.now()),
        )
        if not rows:
            return None
        *link, key, record = rows[0]
        return OpenedShare(ShareLink(*link), key, _parse(record))

    def listed(self, owner: str | None = None, limit: int = MAX_OF_OWNER) -> list[ShareLink]:
        """The links of an owner that have not expired, the latest first; without one, those of all owners."""
        where, given = ("", []) if owner is None else (" AND s.owner = ?", [owner])
        sql = f"SELECT {_LINK} FROM shared_answer s WHERE s.expires > ?{where} ORDER BY s.created DESC, s.id LIMIT ?"
        return [ShareLink(*row) for row in self._database.read(sql, self._conversations.now(), *given, limit)]

    def revoke(self, id: str, owner: str | None = None) -> bool:
        """Delete a shared answer, of this owner if one is given; whether there was one."""
        where, given = ("", []) if owner is None else (" AND owner = ?", [owner])
        with self._database.writing(deletes=True) as run:
            return bool(run(f"DELETE FROM shared_answer WHERE id = ?{where}", id, *given).rowcount)


_LINK = "s.id, s.owner, s.thread, s.turn, s.graph, s.question, s.created, s.expires"


def _parse(record: str) -> SharedAnswer:
    try:
        data: Any = json.loads(record)
        return from_json(SharedAnswer, data)
    except (ValueError, ValidationError, RecursionError) as error:
        # the error would quote the record
        raise DamagedShareError("a shared answer is damaged") from error


def _hash(token: str) -> str:
    # a token has 256 random bits: a slow hash would add no protection
    return sha256(token.encode()).hexdigest()


Row = tuple[Value | None, ...]

MAX_ROWS, MAX_COLUMNS = 500, 50

# characters of all rows together, of the answer, of any other text, and of a cell
MAX_ROW_CHARACTERS, MAX_ANSWER, MAX_TEXT, MAX_CELL = 200_000, 20_000, 4000, 500

MAX_CITATIONS, MAX_QUERIES, MAX_TRIPLES, MAX_PARTS = 50, 20, 50, 50

# longer lists of names are given in full below the answer
MAX_NAMED = 30

# what is said of the rest of a list or table is for the command line
_HINT = re.compile(
    r" \(the first are shown, ask with --json for the rest\)|; the first are shown, ask with --json for the rest"
    r"| \(ask with --json for all\)"
)


def _confirm(language: str) -> str:
    """What an unsure answer asks the person who asked, which no reader of a copy can answer."""
    return str(load_language_texts(f"{language}/answers.yaml")["confirm"]) if language in GLOSSED_LANGUAGES else CONFIRM


def freeze_answer(record: Answer, origin: str = "") -> SharedAnswer:
    """The copy of an answer that is shared: what its page shows, without costs, failed queries and names of threads."""
    table = record["table"]
    if table is not None:
        columns, wanted = table["columns"], table["rows"]
    elif len(record["values"]) > MAX_NAMED:
        columns, wanted = [""], [[value] for value in record["values"]]
    else:
        columns, wanted = [], []
    rows, left = _bounded_rows(wanted, MAX_ROW_CHARACTERS // 2)
    citations, left = [], left + MAX_ROW_CHARACTERS // 2
    for each in record["citations"][:MAX_CITATIONS]:
        cited, left = _bounded_rows(each["rows"], left)
        citations.append(
            SharedCitation(
                each["n"],
                _text(each["source"]),
                _text(each["text"]),
                _text(each["basis"]),
                _texts(each["columns"], MAX_COLUMNS),
                cited,
                len(each["rows"]),
            )
        )
    derivation = record["derivation"]
    return SharedAnswer(
        question=_text(record["question"]),
        standalone=_text(record["standalone_own"] or record["standalone"]),
        answer=_HINT.sub("", record["answer"]).replace(_confirm(record["language"]), "").rstrip()[:MAX_ANSWER],
        language=record["language"],
        graph=record["graph"],
        version=record["version"],
        status=record["status"],
        confidence=record["confidence"],
        notes=_texts([*([record["reason"]] if record["reason"] else []), *record["caveats"]], MAX_PARTS),
        columns=_texts(columns, MAX_COLUMNS),
        rows=rows,
        all_rows=len(wanted),
        citations=tuple(citations),
        triples=tuple(_texts(triple, 3) for triple in derivation["triples"][:MAX_TRIPLES]),
        readings=_texts((each["words"] for each in derivation["planned"]["selected"]), MAX_PARTS),
        queries=tuple(
            SharedQuery(each["tool"], _text(each["words"]), _text(each["text"]), _row(each["params"]), each["rows"])
            for each in record["queries"][:MAX_QUERIES]
            if each["text"] and each["error"] is None
        ),
        origin=_text(origin),
    )


def _bounded_rows(rows: Sequence[Sequence[Value | None]], characters: int) -> tuple[tuple[Row, ...], int]:
    """The first rows within so many characters, and the characters that are left."""
    kept: list[Row] = []
    for each in rows[:MAX_ROWS]:
        row = _row(each)
        characters -= sum(len(str(cell)) + 1 for cell in row)
        if characters < 0:
            return tuple(kept), 0
        kept.append(row)
    return tuple(kept), characters


def _row(cells: Sequence[Value | None]) -> Row:
    return tuple(cell[:MAX_CELL] if isinstance(cell, str) else cell for cell in cells[:MAX_COLUMNS])


def _texts(texts: Iterable[Any], most: int) -> tuple[str, ...]:
    return tuple(_text(each) for _, each in zip(range(most), texts, strict=False))


def _text(text: str) -> str:
    return str(text)[:MAX_TEXT]


MIN_POINTS, MAX_POINTS, MAX_GROUPS, TICKS = 3, 2000, 8, 5
WIDE, HIGH, LEFT, RIGHT, TOP, BOTTOM = 640, 280, 76, 14, 30, 36
LEGEND_COLUMNS, LEGEND_LINE, LETTERS = 4, 18, 18
MAX_STACKS, STACK_LEFT, STACK_LINE = 24, 150, 26
_TIME = re.compile(r"[12]\d{3}(?:-\d\d(?:-\d\d)?)?")


class Lines(NamedTuple):
    """The columns of times, numbers and groups of a table; `group` is None for one line."""

    when: int
    value: int
    group: int | None


def line_figure(columns: Sequence[str], rows: Sequence[Sequence[Value | None]], write: Callable[[Value], str]) -> str:
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
        parts += _legend(groups)
    by = columns[found.when] if found.group is None else f"{columns[found.when]}, {columns[found.group]}"
    return _figure(f"{columns[found.value]}: {by}", parts, top + HIGH + BOTTOM)


def stacked_figure(
    columns: Sequence[str], rows: Sequence[Sequence[Value | None]], write: Callable[[Value], str]
) -> str:
    """A bar for each name of the first column, in parts by the second; "" if the rows are of another shape.

    >>> rows = [("A", "oak", 4), ("A", "ash", 2), ("B", "oak", 3)]
    >>> figure = stacked_figure(["pier", "kind", "boats"], rows, str)
    >>> figure.count("<path"), "A, oak: 4" in figure, stacked_figure(["pier", "kind", "boats"], [*rows, rows[0]], str)
    (3, True, '')
    """
    names, groups = (list(dict.fromkeys(row[i] for row in rows if len(row) > i)) for i in range(2))
    is_named = all(len(row) >= 3 and isinstance(row[0], str) and isinstance(row[1], str) for row in rows)
    is_counted = is_named and all(type(row[2]) in (int, float) and float(str(row[2])) >= 0 for row in rows)
    is_small = len(names) <= MAX_STACKS and 1 < len(groups) <= MAX_GROUPS and len(names) < len(rows)
    if not is_counted or not is_small or len({row[:2] for row in map(tuple, rows)}) < len(rows):
        return ""
    sums = {name: sum((float(str(row[2])) for row in rows if row[0] == name), 0.0) for name in names}
    scale = (WIDE - STACK_LEFT - LEFT) / (max(sums.values()) or 1)
    top, parts = TOP + math.ceil(len(groups) / LEGEND_COLUMNS) * LEGEND_LINE, [*_legend(groups)]
    for n, name in enumerate(names):
        x, y = float(STACK_LEFT), top + n * STACK_LINE
        parts.append(f'<text x="{STACK_LEFT - 8}" y="{y + 4}" text-anchor="end">{escape(str(name)[:LETTERS])}</text>')
        for row in (row for row in rows if row[0] == name):
            title, width = f"{name}, {row[1]}: {write(row[2] or 0)}", round(float(str(row[2])) * scale, 1)
            tone = f'class="tone-{groups.index(row[1])}" stroke-width="16"'
            parts.append(f'<path {tone} d="M{x} {y}h{width}"><title>{escape(title)}</title></path>')
            x = round(x + width, 1)
        total = sums[name]
        parts.append(f'<text x="{x + 6}" y="{y + 4}">{write(int(total) if total.is_integer() else total)}</text>')
    return _figure(f"{columns[2]}: {columns[0]}, {columns[1]}", parts, top + len(names) * STACK_LINE)


def _legend(groups: Sequence[Value | None]) -> Iterator[str]:
    for n, group in enumerate(groups):
        side, line = n % LEGEND_COLUMNS * WIDE / LEGEND_COLUMNS, n // LEGEND_COLUMNS * LEGEND_LINE
        yield f'<circle class="tone-{n}" cx="{side + 6}" cy="{line + 8}" r="5"/>'
        yield f'<text x="{side + 16}" y="{line + 12}">{escape(str(group)[:LETTERS])}</text>'


def _figure(name: str, parts: Iterable[str], high: int) -> str:
    label = escape(name)
    return (
        f'<figure class="scroll" role="region" tabindex="0" aria-label="{label}"><svg class="lines" role="img"'
        f' aria-label="{label}" viewBox="0 0 {WIDE} {high}">{"".join(parts)}</svg></figure>'
    )


def _find_lines(rows: Sequence[Sequence[Value | None]], columns: int) -> Lines | None:
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
