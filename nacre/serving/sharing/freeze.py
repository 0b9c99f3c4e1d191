"""Freeze an answer: Answer -> SharedAnswer, with at most so many rows and characters as one page should have."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from nacre.records.answer import Answer, Value
from nacre.stores.conversations.shared_answers import SharedAnswer, SharedCitation, SharedQuery

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


def freeze_answer(record: Answer) -> SharedAnswer:
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
