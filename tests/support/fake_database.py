"""A database that gives what a test put into its queues, and remembers what it was asked."""

import weakref
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from agents.turn_view import Language
from nacre.language.tokens import word_forms
from nacre.records.evidence import BranchResult, LookUp, Occurrence, Query, QueryError, Rows, Table
from nacre.records.schema import Schema
from nacre.records.turn import Reading
from nacre.stores.sqlite.lexicon import Lexicon, Row, TableLink, write_lexicon
from nacre.understanding.ranking.probabilities import MAX_READINGS_RUN

NO_SCHEMA = Schema((), (), (), (), {}, 0, 0)
DISH = "CREATE TABLE dish (\n  id INTEGER\n);"


def lexicon_of(schema: Schema, names: Sequence[Row] = (), links: Sequence[TableLink] = ()) -> Lexicon:
    """A lexicon of these names and links."""
    folder = TemporaryDirectory()
    file = Path(folder.name) / "lexicon.sqlite"
    write_lexicon(file, names, (), links, word_forms)
    lexicon = Lexicon(file, schema)
    weakref.finalize(lexicon, folder.cleanup)
    return lexicon


def rows(*cells: str | int | float | None, sql: str = "", columns: int = 1) -> BranchResult:
    """What a query gave that ran: one cell a row, or rows of so many columns."""
    lines = tuple(tuple(cells[n : n + columns]) for n in range(0, len(cells), columns))
    query = Query("sql", 1, sql, rows=len(lines), by="model")
    table = Table(tuple(f"c{n}" for n in range(columns)), lines)
    return BranchResult("sql", (Rows("sql", 1, query=query, table=table),), (query,), by="model")


def refused(message: str, sql: str = "") -> BranchResult:
    """What a query gave that did not run."""
    error = QueryError("unknown_name", message)
    return BranchResult("sql", (), (Query("sql", 1, sql, error=error, by="model"),), error, by="model")


@dataclass
class FakeDatabase:
    """`readings` are what the readings give, by their place; `written` what queries give, used up from the front;
    one query too many is an error of the test. `queries`, `looked`, `read_at` and `phrases` are what was asked."""

    readings: Sequence[BranchResult] = ()
    written: list[BranchResult] = field(default_factory=list)
    seen: Mapping[str, str] = field(default_factory=dict)
    occurring: Sequence[Occurrence] = ()
    schema: Schema = NO_SCHEMA
    lexicon: Lexicon = field(default_factory=lambda: lexicon_of(NO_SCHEMA))
    text: str = DISH
    home: str = "dish"
    queries: list[str] = field(default_factory=list)
    looked: list[LookUp] = field(default_factory=list)
    read_at: list[int] = field(default_factory=list)
    phrases: list[str] = field(default_factory=list)
    language: Language = "sql"
    wants_query: bool = False
    most: int = MAX_READINGS_RUN

    async def read(self, readings: Sequence[Reading], names: str = "") -> list[BranchResult]:
        self.read_at += range(len(readings))
        return [self.readings[i] if i < len(self.readings) else BranchResult("sql") for i in range(len(readings))]

    async def query(self, text: str, question: str | None, names: str = "") -> BranchResult:
        self.queries.append(text)
        assert self.written, f"no rows are left for {text}"
        found = self.written.pop(0)
        return replace(
            found,
            queries=tuple(replace(query, text=text) for query in found.queries),
            evidence=tuple(
                replace(each, query=replace(each.query, text=text) if each.query else None)  # type: ignore[arg-type, union-attr]
                for each in found.evidence
            ),
        )

    def describe(self, relations: Collection[str] | None, focus: Collection[str] | None = None) -> str:
        return self.text if relations is None else "".join(f"CREATE TABLE {name} (...);\n" for name in relations)

    def table_of(self, thing: str) -> str:
        return self.home

    async def occurrences(self, phrases: Sequence[str]) -> list[Occurrence]:
        self.phrases += phrases
        return list(self.occurring)

    async def look_up(self, wanted: LookUp) -> str:
        self.looked.append(wanted)
        return self.seen.get(wanted.text or wanted.table, "nothing is there")
