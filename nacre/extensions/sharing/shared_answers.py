"""Shared answers: a frozen copy of an answer, which only the hash of a token finds -> rows beside its thread.

A copy is gone with its thread, since both are deleted in one transaction. What it must not outlive besides is checked
in `routes`. It has at most so many rows and characters as one page should have.
"""

import json
import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from pydantic import ValidationError

from nacre.errors import ConfigError
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
        with self._database.writing() as run:
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
        answer=_HINT.sub("", record["answer"])[:MAX_ANSWER],
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
