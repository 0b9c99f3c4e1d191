"""Run readings: a reading of a question + tables or a SPARQL engine -> the rows of its plan, with keys and units."""

import time
from collections.abc import Sequence
from dataclasses import replace

from nacre.errors import ToolError
from nacre.language.forms.nouns import number_with_noun
from nacre.plans.inspect_select import named_variables
from nacre.plans.missing_values import UNKNOWN_TRUTH
from nacre.plans.run import Engine, tables_engine
from nacre.plans.statement import RAW_TEXT_SUFFIX
from nacre.plans.translated_names import translate_table, translated_names
from nacre.records.evidence import BranchResult, Cell, Evidence, Query, QueryError, Rows, Table
from nacre.records.turn import Reading
from nacre.stores.sqlite.tables import Tables
from nacre.wording.run_plan import run_plan

BRANCH = "sql"


def run_reading(reading: Reading, index: int, engine: Tables | Engine, *, round: int) -> BranchResult:
    """The rows of one reading by its plan. `index` is its place among the readings; those after the likeliest get a
    smaller time budget. A failure is the `error` of the result."""
    engine = tables_engine(engine) if isinstance(engine, Tables) else engine
    started = time.perf_counter()
    try:
        table, queries, others = run_plan(
            reading.plan, engine, round=round, words=reading.words, is_alternative=index > 0
        )
    except ToolError as error:
        seconds = time.perf_counter() - started
        return failed_query(error, "", reading.words, round=round, seconds=seconds, by="rules", branch=engine.tool)
    evidence: list[Evidence] = list(others)
    if table is not None:
        keys = tuple(dict.fromkeys(key for row in table.keys for key in row))
        evidence.insert(
            0,
            Rows(
                engine.tool,
                round,
                table,
                text=summarize_rows(table),
                reading=index,
                query=queries[0] if queries else None,
                beside=queries[1:],
                words=reading.words,
                keys=keys,
            ),
        )
    # a reading whose queries failed has not found nothing
    broke = next((query.error for query in queries if query.error), None) if not evidence else None
    return BranchResult(engine.tool, tuple(evidence), queries, error=broke)


def run_readings(readings: Sequence[Reading], tables: Tables, *, round: int, names: str = "") -> list[BranchResult]:
    """The rows of each reading, the likeliest first. Things have their names in the language `names` if it is given."""
    engine = tables_engine(tables)
    found = [run_reading(reading, index, engine, round=round) for index, reading in enumerate(readings)]
    if not names:
        return found
    return [_translate_names(each, reading, tables, names) for each, reading in zip(found, readings, strict=True)]


def _translate_names(found: BranchResult, reading: Reading, tables: Tables, language: str) -> BranchResult:
    """A result with the names of its things in another language, as far as they have some."""
    named = {key for variable in named_variables(reading.plan.body) for key in variable.keys}

    def translate(rows: Rows) -> Rows:
        names = translated_names({*named, *rows.keys}, language, tables)
        table = translate_table(rows.table, names)
        own = tuple((key, names[key].name) for key in sorted(named & names.keys()))
        return replace(rows, table=table, text=summarize_rows(table), names=own)

    return replace(found, evidence=tuple(translate(e) if isinstance(e, Rows) else e for e in found.evidence))


def failed_query(
    error: ToolError, text: str, words: str, *, round: int, seconds: float, by: str, branch: str = BRANCH
) -> BranchResult:
    """The result of a query that failed, with the reason."""
    why = QueryError(error.kind, str(error))
    query = Query(
        branch, round, text, words=words, error=why, seconds=seconds, by="model" if by == "model" else "rules"
    )
    return BranchResult(branch, (), (query,), error=why, by=by)


def _cell_words(column: str, cell: Cell, unit: str) -> str:
    if column == UNKNOWN_TRUTH.columns[0]:
        return "yes" if cell else "no"
    return f"{column.removesuffix(RAW_TEXT_SUFFIX)}: {cell}{f' {unit}' if unit else ''}"


def summarize_rows(table: Table, rows: int = 3) -> str:
    """The first rows in one line, as a citation shows them: values as they were written, if that is known.

    >>> summarize_rows(Table(("name", "height"), (("A", 3), ("B", None)), units=("", "m")))
    'name: A, height: 3 m; name: B'
    """
    units = table.units or ("",) * len(table.columns)
    written = {c.removesuffix(RAW_TEXT_SUFFIX) for c in table.columns if c.endswith(RAW_TEXT_SUFFIX)}
    parsed = {c for name in written for c in (name, f"{name} (low)", f"{name} (high)")}
    lines = [
        ", ".join(
            _cell_words(column, cell, unit)
            for column, cell, unit in zip(table.columns, row, units, strict=False)
            if cell is not None and column not in parsed
        )
        for row in table.rows[:rows]
    ]
    more = len(table.rows) - rows
    return "; ".join(line for line in lines if line) + (
        f"; and {number_with_noun(more, 'more row')}" if more > 0 else ""
    )
