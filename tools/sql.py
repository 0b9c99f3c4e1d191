"""Run readings: a reading of a question + tables or a SPARQL engine -> the rows of its plan, with keys and units.
Then the names of things in one language: IRIs + Tables -> names."""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from nacre.errors import ToolError
from nacre.language.tokens import language_property, multilingual_property
from nacre.language.word_forms import number_with_noun
from nacre.plans.run import Engine, tables_engine
from nacre.plans.selects import UNKNOWN_TRUTH, named_variables
from nacre.plans.sql_joins import RAW_TEXT_SUFFIX
from nacre.records.evidence import BranchResult, Cell, Query, QueryError, Rows, Table
from nacre.records.schema import Schema
from nacre.records.turn import Reading
from nacre.stores.sqlite.tables import Tables
from nacre.wording.profile import run_plan

BRANCH = "sql"

# why the likeliest reading gave nothing, where another reading would answer another question
IRREPLACEABLE = ("timeout", "unknown_name", "unavailable")


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
    evidence = others
    if table is not None:
        keys, query = tuple(dict.fromkeys(key for row in table.keys for key in row)), next(iter(queries), None)
        rows = Rows(
            engine.tool, round, table, summarize_rows(table), words=reading.words, reading=index, query=query,
            beside=queries[1:], keys=keys,
        )  # fmt: skip
        evidence = (rows, *others)
    # a reading whose queries failed has not found nothing
    broke = next((query.error for query in queries if query.error), None) if not evidence else None
    return BranchResult(engine.tool, evidence, queries, error=broke)


def run_readings(readings: Sequence[Reading], tables: Tables, *, round: int, names: str = "") -> list[BranchResult]:
    """The rows of each reading, the likeliest first. Things have their names in the language `names` if it is given."""
    engine = tables_engine(tables)
    found: list[BranchResult] = []
    for index, reading in enumerate(readings):
        if found and found[0].error is not None and found[0].error.kind in IRREPLACEABLE:
            found.append(BranchResult(BRANCH, error=found[0].error))
        else:
            found.append(run_reading(reading, index, engine, round=round))
    if not names:
        return found
    return [_translate_names(each, reading, tables, names) for each, reading in zip(found, readings, strict=True)]


def _translate_names(found: BranchResult, reading: Reading, tables: Tables, language: str) -> BranchResult:
    named = {key for variable in named_variables(reading.plan.body) for key in variable.keys}

    def translate(rows: Rows) -> Rows:
        names = translated_names({*named, *rows.keys}, language, tables)
        table = translate_table(rows.table, names)
        own = tuple((key, names[key].name) for key in sorted(named & names.keys()))
        return replace(rows, table=table, text=summarize_rows(table), names=own)

    return replace(found, evidence=tuple(translate(e) if isinstance(e, Rows) else e for e in found.evidence))


def translate_labels(found: BranchResult, tables: Tables, language: str) -> BranchResult:
    """Rows of a query that others wrote, with names in one language in place of the labels of things. Graphs without
    such names, as attached databases are, are not asked for things."""
    if not _name_columns(tables.schema, language):
        return found
    cells = sorted({cell for each in found.rows for row in each.table.rows for cell in row if isinstance(cell, str)})
    marks = ",".join("?" * len(cells[:MAX_THINGS]))
    labelled = tables.run(f"SELECT iri FROM entity WHERE label IN ({marks})", cells[:MAX_THINGS], limit=MAX_THINGS).rows
    names = translated_names([str(iri) for (iri,) in labelled], language, tables)

    def translate(rows: Rows) -> Rows:
        # what the keys of a row name is not known here
        table = replace(translate_table(replace(rows.table, keys=()), names), keys=rows.table.keys)
        return replace(rows, table=table, text=summarize_rows(table))

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


def summarize_rows(table: Table) -> str:
    """The first 3 rows in one line, as a citation shows them: values as they were written, if that is known.

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
        for row in table.rows[:3]
    ]
    more = len(table.rows) - 3
    return "; ".join(line for line in lines if line) + (
        f"; and {number_with_noun(more, 'more row')}" if more > 0 else ""
    )


# Things that are looked up for one answer, at most; parameters of one statement (given).
MAX_THINGS, CHUNK_SIZE = 1000, 400


class TranslatedName(NamedTuple):
    """The label of a thing as rows have it, and its name in another language."""

    label: str
    name: str


def translated_names(iris: Collection[str], language: str, tables: Tables) -> dict[str, TranslatedName]:
    """The names of those things that have one in the language."""
    columns = _name_columns(tables.schema, language)
    found: dict[str, TranslatedName] = {}
    wanted = sorted(iris)[:MAX_THINGS] if columns else []
    for start in range(0, len(wanted), CHUNK_SIZE):
        for relation, key, column in columns:
            part = [iri for iri in wanted[start : start + CHUNK_SIZE] if iri not in found]
            marks = ",".join("?" * len(part))
            rows = tables.run(
                f'SELECT entity.iri, entity.label, min(named."{column}") FROM entity JOIN "{relation}" AS named'
                f' ON named."{key}" = entity.id WHERE entity.iri IN ({marks}) GROUP BY entity.iri, entity.label',
                part,
            ).rows
            found |= {str(iri): TranslatedName(str(label), str(name)) for iri, label, name in rows if name is not None}
    return found


def translate_table(table: Table, names: Mapping[str, TranslatedName]) -> Table:
    """The table with translated names in place of the labels of the things of each row; of all, if no row has keys."""
    if not names:
        return table

    def translated(row: Sequence[Cell], keys: Sequence[str]) -> tuple[Cell, ...]:
        by_label = {names[key].label: names[key].name for key in keys if key in names}
        return tuple(by_label.get(cell, cell) if isinstance(cell, str) else cell for cell in row)

    return replace(table, rows=tuple(map(translated, table.rows, table.keys or (tuple(names),) * len(table.rows))))


def _name_columns(schema: Schema, language: str) -> list[tuple[str, str, str]]:
    """Table, key and column of the names in a language, of labels before other names and of tables before views."""
    found = []
    predicates = [
        p.iri
        for p in schema.predicates
        if (base := multilingual_property(p.iri)) and p.iri == language_property(base, language)
    ]
    for relation in schema.relations:
        for column in relation.columns:
            if column.predicate in predicates and column.value:
                place = (predicates.index(column.predicate), relation.kind == "view")
                found.append((place, relation.name, relation.key, column.value))
    return [(name, key, column) for _, name, key, column in sorted(found)]
