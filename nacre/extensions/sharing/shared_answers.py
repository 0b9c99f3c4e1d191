"""Shared answers: a frozen copy of an answer, which only the hash of a token finds -> rows beside its thread.

A copy is gone with its thread, since both are deleted in one transaction. What it must not outlive besides is checked
in `routes`. It has at most so many rows and characters as one page should have. Its chart: rows and a kind -> SVG."""

import json
import math
import re
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from itertools import accumulate, pairwise
from typing import Any, Literal, NamedTuple

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

# kinds of charts; "" is the one that fits
Kind = Literal["", "bars", "grouped", "stacked", "line", "scatter", "pie", "histogram"]

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
    itself, such as its licence; `chart` the kind of chart that the page showed."""

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
    chart: Kind = ""


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

Write = Callable[[Value], str]

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


def freeze_answer(record: Answer, origin: str = "", chart: Kind = "", names: Sequence[str] = ()) -> SharedAnswer:
    """The copy of an answer that is shared: what its page shows, without costs, failed queries and names of threads.
    `names` are those of the things that have the values."""
    table = record["table"]
    if table is not None:
        columns, wanted = table["columns"], table["rows"]
    elif len(names) == len(record["values"]) > 1 and all(map(_is_number, record["values"])):
        columns = ["", *record["citations"][0]["columns"][-1:]]
        wanted = [[name, value] for name, value in zip(names, record["values"], strict=True)]
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
        chart=chart,
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


MIN_ROWS, MAX_POINTS, MAX_GROUPS, MAX_BARS, MAX_BINS, TICKS = 3, 2000, 8, 24, 16, 5
WIDE, HIGH, LEFT, RIGHT, TOP, RADIUS = 640, 280, 76, 40, 30, 120
_TIME = re.compile(r"[12]\d{3}(?:-\d\d(?:-\d\d)?)?")


class Point(NamedTuple):
    """A mark of a chart: its name and group, its number, and its place along the axis."""

    name: str
    group: str
    value: float
    at: float = 0.0


class Chart(NamedTuple):
    """Points with the names of their number and of what they stand along. `write` formats a number."""

    kind: str
    points: list[Point]
    what: str
    by: str
    write: Write

    def number(self, value: float) -> str:
        return escape(self.write(int(value) if value.is_integer() else value))

    def title(self, point: Point) -> str:
        return f"<title>{escape(', '.join(filter(None, point[:2])))}: {self.number(point.value)}</title>"


def chart_figure(columns: Sequence[str], rows: Sequence[Row], write: Write, kind: Kind = "", others: str = "") -> str:
    """Rows as a chart of a kind if they allow it, else of the one that fits them best: SVG, or "" if they allow none.
    `others` names groups that are summed.

    >>> rows = [("A", "oak", 4), ("A", "ash", 2), ("B", "oak", 3)]
    >>> chart_figure(["pier", "kind", "boats"], rows, str).count("<rect"), chart_figure(["boats"], rows, str)
    (3, '')
    >>> "C: 7 (35 %)" in chart_figure(["pier", "boats"], [("A", 4), ("B", 9), ("C", 7)], str, "pie")
    True
    """
    chart = _chart_of(columns, [row for row in rows[:MAX_POINTS] if len(row) == len(columns)], write, kind, others)
    if chart is None:
        return ""
    label = escape(": ".join(filter(None, dict.fromkeys((chart.what, chart.by)))))
    groups, whole = list(dict.fromkeys(p.group for p in chart.points)), sum(p.value for p in chart.points)
    if chart.kind == "pie":
        shares = [chart.number(round(100 * each.value / whole, 1)) for each in chart.points]
        groups = [f"{p.group}: {chart.number(p.value)} ({shares[n]} %)" for n, p in enumerate(chart.points)]
    legend = "".join(f'<li class="tone-{n}">{escape(each)}</li>' for n, each in enumerate(groups) if len(groups) > 1)
    draw = _pie if chart.kind == "pie" else _bars if chart.kind in ("bars", "grouped", "stacked") else _plane
    return (
        f'<figure class="scroll" role="region" tabindex="0" aria-label="{label}"><figcaption>{label}'
        f'</figcaption><ul class="legend">{legend}</ul>{draw(chart, groups)}</figure>'
    )


def _chart_of(columns: Sequence[str], rows: Sequence[Row], write: Write, kind: Kind, others: str) -> Chart | None:
    """The chart of a kind, if the rows allow it, or else lines over time, stacked bars or bars."""
    cells = [[row[i] for row in rows if row[i] is not None] for i in range(len(columns))]
    whole = [i for i, own in enumerate(cells) if own and len(own) == len(rows)]
    when = [i for i in whole if all(_TIME.fullmatch(str(cell)) for cell in cells[i])][:1]
    names = when + [i for i in whole if i not in when and all(isinstance(cell, str) for cell in cells[i])]
    numbers = [i for i, own in enumerate(cells) if own and i not in when and all(map(_is_number, own))]
    value = next((i for i in numbers if kind or (len(set(cells[i])) > 1 and len(rows) >= MIN_ROWS)), None)
    if value is None:
        return None

    def distinct(*some: int) -> int:
        return len({tuple(row[i] for i in some) for row in rows})

    single = [i for i in names if distinct(i) == len(rows)][:1]
    pairs = ([i, j] for i in names for j in reversed(names) if i != j and 1 < distinct(j) <= MAX_BARS)
    pair = next((two for two in pairs if distinct(two[0]) < len(rows) == distinct(*two)), [])
    is_signed, line = min(map(_place, cells[value])) < 0, single if single == when else pair if when else []
    places = {
        "line": line if when and line[:1] == when and distinct(*when) >= MIN_ROWS else [],
        "stacked": [] if is_signed else pair,
        "grouped": pair,
        "bars": single,
        "pie": [] if is_signed else single,
        "scatter": numbers[1:2],
        "histogram": [value],
    }
    drawn = next((each for each in (kind, "line", "stacked", "grouped", "bars") if places.get(each)), None)
    if drawn is None:
        return None
    along, *group = places[drawn]
    by = ", ".join(columns[i] for i in places[drawn])
    if drawn == "histogram":
        return Chart(drawn, _bins([_place(cell) for cell in cells[value]], write), columns[value], by, write)
    name = along if drawn != "scatter" else next(iter(names), along)
    points = [
        Point(str(row[name]), "".join(str(row[i]) for i in group), _place(row[value]), _place(row[along]))
        for row in rows
        if row[value] is not None and row[along] is not None
    ]
    return Chart(drawn, _shown(drawn, points, others), columns[value], by, write)


def _shown(kind: str, points: list[Point], others: str) -> list[Point]:
    """The points in order: by time, or by value unless they are sorted. Small groups and parts of a pie are summed."""
    if all(_TIME.fullmatch(each.name) for each in points):
        points.sort(key=lambda point: point.name)
    elif kind in ("bars", "pie") and points != sorted(points, key=lambda point: point.value):
        points.sort(key=lambda point: -point.value)
    if kind == "pie":
        return _summed([each._replace(name="", group=each.name) for each in points], others)
    shown = list(dict.fromkeys(each.name for each in points))[: MAX_POINTS if kind == "line" else MAX_BARS]
    return points if kind == "scatter" else _summed([each for each in points if each.name in shown], others)


def _summed(points: Sequence[Point], others: str) -> list[Point]:
    """The points with the smallest groups as one, if there are too many."""
    sums, merged = Counter[str](), Counter[tuple[str, str, float]]()
    for each in points:
        sums[each.group] += each.value  # type: ignore[assignment]
    small = {group for group, _ in sums.most_common()[MAX_GROUPS - 1 :]} if len(sums) > MAX_GROUPS else set()
    for each in points:
        group = others.replace("{n}", str(len(small))) if each.group in small else each.group
        merged[each.name, group, each.at] += each.value  # type: ignore[assignment]
    return [Point(name, group, value, at) for (name, group, at), value in merged.items()]


def _bins(numbers: Sequence[float], write: Write) -> list[Point]:
    """How many numbers lie in each of equal parts of their range."""
    most = min(MAX_BINS, math.ceil(math.sqrt(len(numbers))) + 1)
    step = round_step((max(numbers) - min(numbers)) / most or 1.0)
    counts = Counter(math.floor(each / step) for each in numbers)
    edges = {n: write(n * step) for n in range(min(counts), max(counts) + 2)}
    return [Point(f"{edges[n]} – {edges[n + 1]}", "", float(counts[n]), n * step) for n in list(edges)[:-1]]


def _bars(chart: Chart, groups: Sequence[str]) -> str:
    """A bar for each name, in parts or side by side by group. Parts of a percent are of its room."""
    rows = [[p for p in chart.points if p.name == name] for name in dict.fromkeys(each.name for each in chart.points)]
    bars = rows if chart.kind == "stacked" else [[each] for own in rows for each in own]
    ends = [sum(each.value for each in own) for own in bars]
    low, lines = min(0.0, *ends), list[str]()
    room = max(0.0, *ends) - low or 1.0
    for own, end in zip(bars, ends, strict=True):
        starts = accumulate((each.value for each in own), initial=-low)
        rects = (
            f'<rect class="tone-{groups.index(each.group)}" x="{100 * min(at, at + each.value) / room:.2f}%"'
            f' width="{100 * abs(each.value) / room:.2f}%" height="100%">{chart.title(each)}</rect>'
            for at, each in zip(starts, own, strict=False)
        )
        lines.append(f'<span>{escape(own[0].name)}</span><svg aria-hidden="true">{"".join(rects)}</svg>')
        lines.append(f"<span>{chart.number(end)}</span>")
    return f'<div class="bars">{"".join(lines)}</div>'


def _pie(chart: Chart, groups: Sequence[str]) -> str:
    parts, edges = list[str](), [0.0, *accumulate(each.value for each in chart.points)]
    for n, (start, end) in enumerate(pairwise(edges)):
        # an arc to where it begins is none
        turns = (math.tau * start / edges[-1], math.tau * min(end / edges[-1], start / edges[-1] + 0.9999))
        ends = [f"{WIDE / 2 + RADIUS * math.sin(a):.1f} {RADIUS * (1 - math.cos(a)):.1f}" for a in turns]
        path = f"M{WIDE / 2} {RADIUS}L{ends[0]}A{RADIUS} {RADIUS} 0 {int(turns[1] - turns[0] > math.pi)} 1 {ends[1]}Z"
        parts.append(f'<path class="part tone-{n}" d="{path}"><title>{escape(groups[n])}</title></path>')
    return _svg(chart, parts, 2 * RADIUS)


def _svg(chart: Chart, parts: Sequence[str], high: int) -> str:
    label = escape(f"{chart.what}: {chart.by}")
    return f'<svg class="lines" role="img" aria-label="{label}" viewBox="0 0 {WIDE} {high}">{"".join(parts)}</svg>'


def _plane(chart: Chart, groups: Sequence[str]) -> str:
    """Axes with lines, points or the bars of a histogram."""
    points, is_bins = chart.points, chart.kind == "histogram"
    wide = points[1].at - points[0].at if is_bins and len(points) > 1 else float(is_bins)
    low_x, high_x = min(p.at for p in points), max(p.at for p in points) + wide
    least, most = min(p.value for p in points), max(p.value for p in points)
    levels = _marks(0.0 if 0 <= least < most / 2 or is_bins else least, most, all(p.value.is_integer() for p in points))
    if chart.kind == "line":
        ticks = sorted({each.at: each.name for each in points}.items())
        ticks = ticks[:: math.ceil(len(ticks) / TICKS)]
    else:
        ticks = [(mark, chart.number(mark)) for mark in _marks(low_x, high_x, False)]
        low_x, high_x = ticks[0][0], ticks[-1][0]

    def x(at: float) -> float:
        return round(LEFT + (at - low_x) / (high_x - low_x or 1) * (WIDE - LEFT - RIGHT), 1)

    def y(number: float) -> float:
        return round(TOP + HIGH - (number - levels[0]) / (levels[-1] - levels[0] or 1) * HIGH, 1)

    foot = TOP + HIGH
    parts = [] if is_bins else [f'<text class="axis" x="0" y="{TOP - 14}">{escape(chart.what)}</text>']
    for number in levels:
        parts.append(f'<path class="grid" d="M{LEFT} {y(number)}H{WIDE - RIGHT}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y(number) + 4}" text-anchor="end">{chart.number(number)}</text>')
    for at, text in ticks:
        parts.append(f'<text x="{x(at)}" y="{foot + 20}" text-anchor="middle">{escape(text)}</text>')
    parts.append(f'<text class="axis" x="{WIDE / 2}" y="{foot + 38}" text-anchor="middle">{escape(chart.by)}</text>')
    for n, group in enumerate(groups):
        own = sorted((each for each in points if each.group == group), key=lambda point: point.at)
        if chart.kind == "line":
            corners = " ".join(f"{x(each.at)},{y(each.value)}" for each in own)
            parts.append(f'<polyline class="tone-{n}" points="{corners}"/>')
        for each in own:
            size = f'x="{x(each.at)}" y="{y(each.value)}" width="{x(each.at + wide) - x(each.at) - 1:.1f}"'
            tag = f'rect {size} height="{foot - y(each.value):.1f}"'
            mark = tag if is_bins else f'circle cx="{x(each.at)}" cy="{y(each.value)}" r="3"'
            parts.append(f'<{mark} class="tone-{n}">{chart.title(each)}</{mark.split()[0]}>')
    return _svg(chart, parts, foot + 46)


def _marks(low: float, high: float, is_whole: bool) -> list[float]:
    """Round numbers along an axis."""
    step = round_step(max((high - low) / TICKS or 1.0, float(is_whole)))
    return [n * step for n in range(math.floor(low / step), math.ceil(high / step) + 1)]


def _is_number(cell: Value | None) -> bool:
    return type(cell) in (int, float) and math.isfinite(float(str(cell)))


def _place(cell: Value | None) -> float:
    """A number, or a year, month or day, as a place on the axis."""
    if isinstance(cell, int | float):
        return float(cell)
    if not _TIME.fullmatch(str(cell)):
        return 0.0
    year, month, day = [*map(int, str(cell).split("-")), 1, 1][:3]
    return year + (month - 1) / 12 + (day - 1) / 372
