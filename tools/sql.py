"""The branch `sql`: a reading of the question -> the rows of its plan, with keys and units."""

import time
from math import inf

from records.errors import ToolError
from records.evidence import Evidence, Found, Query, QueryError, Rows, Table
from records.turn import Reading
from semantics.run_plan import run_plan
from semantics.to_sql import RAW
from stores.tables import Tables

BRANCH = "sql"
# steps of SQLite for each query of a reading that stands beside the likeliest: a count by a value over 12,000 things, a
# filter over 40,000 (measured: 10 to 80 ms). Steps and not seconds, so that the same question has the same answer
BESIDE = 200_000


def run_reading(reading: Reading, index: int, tables: Tables, *, round: int) -> Found:
    """The rows of one reading by its plan; `index` is its place among the readings. A failure comes back as `error`."""
    started = time.perf_counter()
    try:
        # what is likely may take its time, what only stands beside it may not
        steps = BESIDE if index else inf
        table, queries, others = run_plan(reading.plan, tables, round=round, words=reading.words, steps=steps)
    except ToolError as error:
        return failed(error, "", reading.words, round=round, seconds=time.perf_counter() - started, by="rules")
    evidence: list[Evidence] = list(others)
    if table is not None:
        keys = tuple(dict.fromkeys(key for row in table.keys for key in row))
        evidence.insert(
            0,
            Rows(
                BRANCH,
                round,
                table,
                text=brief(table),
                reading=index,
                query=queries[0] if queries else None,
                beside=queries[1:],
                words=reading.words,
                keys=keys,
            ),
        )
    return Found(BRANCH, tuple(evidence), queries)


def failed(error: ToolError, text: str, words: str, *, round: int, seconds: float, by: str) -> Found:
    """A query that gave nothing, with the reason."""
    why = QueryError(error.kind, str(error))
    query = Query(
        BRANCH, round, text, words=words, error=why, seconds=seconds, by="model" if by == "model" else "rules"
    )
    return Found(BRANCH, (), (query,), error=why, by=by)


def brief(table: Table, rows: int = 3) -> str:
    """The first rows in one line, as a citation shows them: a value as it was written, where that is known.

    >>> brief(Table(("name", "height"), (("A", 3), ("B", None)), units=("", "m")))
    'name: A, height: 3 m; name: B'
    """
    units = table.units or ("",) * len(table.columns)
    written = {c.removesuffix(RAW) for c in table.columns if c.endswith(RAW)}
    parsed = {c for name in written for c in (name, f"{name} (low)", f"{name} (high)")}
    lines = [
        ", ".join(
            f"{column.removesuffix(RAW)}: {cell}{f' {unit}' if unit else ''}"
            for column, cell, unit in zip(table.columns, row, units, strict=False)
            if cell is not None and column not in parsed
        )
        for row in table.rows[:rows]
    ]
    more = len(table.rows) - rows
    return "; ".join(line for line in lines if line) + (f"; and {more} more rows" if more > 0 else "")
