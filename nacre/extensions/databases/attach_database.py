"""Attach a graph to a relational database: address -> a published version with its schema and names.

Rows stay where they are. Rows and names of the relations are sampled as facts: MappedTables -> N-Triples.
"""

import json
import logging
import sqlite3
import tempfile
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import make_url

from ingestion.index.triples import ntriples_literal
from ingestion.induce.declarations import is_name_shaped
from ingestion.induce.names import lowercase_name
from ingestion.layer.entries import TableEntry
from ingestion.layer.layer_file import LayerFiles
from ingestion.read.sources import rdf_files
from ingestion.stages import (
    NO_PROGRESS,
    STORED_TABLES,
    Inputs,
    OnStage,
    StageContext,
    build_folder,
    exclusive_writer,
    new_version_id,
    publish_version,
    report_write_errors,
    run_stages,
)
from ingestion.vocabulary import ALTERNATIVE, COMMENT, LABEL, LAYER_NAME, TYPE, XSD, name_rank
from nacre.errors import ConfigError, IngestionError, ToolError
from nacre.extension import services
from nacre.extensions.databases.attached import AttachedDatabase, AttachedTable, Storage
from nacre.extensions.databases.attached_tables import AttachedTables, catalogue_hash, read_catalogue, source_columns
from nacre.extensions.databases.connection import CHANGED, file_address, keep_file, located
from nacre.extensions.databases.fit_schema import MappedTable, fit_schema, map_tables, with_statistics
from nacre.extensions.databases.guess_links import check_tables, declare_tables, is_own_name
from nacre.extensions.databases.reflect import Selection, reflect_tables
from nacre.extensions.databases.row_keys import table_iri
from nacre.language.data import word_list
from nacre.records.json_form import from_json, json_text
from nacre.records.schema import Schema
from nacre.stores import versions
from nacre.stores.addresses import FILES, DatabaseLimits, parse_address, public_address
from nacre.stores.catalog import Servers
from nacre.stores.sqlite.tables import Cell, quote_identifier
from nacre.stores.versions import Manifest

log = logging.getLogger(__name__)

NOT_LOCAL = "the graph lies in the database {}, and Nacre keeps no {} of it"

_LACKS = {"vector": "passages", "lexical": "passages", "sparql": "triples"}

REFLECT_SECONDS = 120.0

NO_SCHEMA = Schema((), (), (), (), {}, 0, 0)


@dataclass(frozen=True)
class AttachedResult:
    """The result of attaching: the version, its schema, the database, and what was left out."""

    name: str
    version: str
    schema: Schema
    database: AttachedDatabase
    problems: tuple[str, ...] = ()


def attach_database(
    url: str,
    name: str,
    *,
    data: Path,
    selection: Selection = Selection(),  # noqa: B008 (immutable)
    limits: DatabaseLimits = DatabaseLimits(),  # noqa: B008 (immutable)
    layers: LayerFiles = LayerFiles(),  # noqa: B008 (immutable)
    keep: bool = False,
    on_stage: OnStage = NO_PROGRESS,
) -> AttachedResult:
    """Make the database at `url` the content of graph `name`. Rows stay there; the schema, names and values that
    questions may contain, and counts are read. With `keep`, the file of the database is kept with the graph.

    Raises ConfigError for an address that can't be used, IngestionError if the database does not answer or has no rows;
    an earlier version then stays.
    """
    home = data / versions.check_name(name)
    started = time.perf_counter()
    address, dialect = parse_address(url)
    if keep and dialect not in FILES:
        raise ConfigError("Only the file of a database can be kept: sqlite:///FILE or duckdb:///FILE.")
    file = Path(make_url(address).database or "")
    address = file_address(dialect, file) if keep else address
    empty = AttachedDatabase(address, dialect, (), selection.schemas, selection.include, selection.exclude)
    on_stage("catalogue", 0, 0)
    try:
        entries = [entry for layer in layers.layers() for entry in layer.tables]
        mapped, problems = _reflected(empty, selection, limits, entries)
    except ToolError as error:
        raise IngestionError(f"{str(error).removesuffix(CHANGED).strip()} Nothing was attached.") from error
    inputs = blake2b(f"{address}\n{selection}\n{layers}".encode(), digest_size=16).hexdigest()
    unavailable = {branch: NOT_LOCAL.format(public_address(address), what) for branch, what in _LACKS.items()}
    manifest = Manifest(new_version_id(datetime.now(UTC), inputs), inputs=inputs, unavailable=unavailable)
    manifest = replace(manifest, database=public_address(address))
    with exclusive_writer(home):
        with report_write_errors(home):
            versions.remove_damaged_pointer(home)
        with build_folder(home, versions.version_folder(home, manifest.version), Servers(databases=limits)) as folder:
            schema, database, found = _build(folder, mapped, empty, limits, layers, on_stage)
            left = (*problems, *found)
            database = replace(database, left_out=left, catalogue=_catalogue(database, limits))
            database = replace(database, seconds=round(time.perf_counter() - started, 2))
            with report_write_errors(home):
                if keep:
                    kept = keep_file(file, folder)
                    database = replace(database, url=public_address(address), kept=kept)
                (folder / versions.DATABASE).write_text(json_text(database) + "\n", encoding="utf-8")
            publish_version(home, folder, manifest, unavailable["vector"])
    return AttachedResult(name, manifest.version, schema, database, left)


def _catalogue(database: AttachedDatabase, limits: DatabaseLimits) -> str:
    """The hash of the catalogue; "" if it can't be read."""
    with closing(AttachedTables(database, NO_SCHEMA, "", limits)) as tables:
        try:
            return catalogue_hash(read_catalogue(tables.connections, database, SECONDS))
        except ToolError as error:
            log.info("the catalogue can't be compared later: %s", error)
            return ""


def schema_differences(before: AttachedDatabase, after: AttachedDatabase) -> Iterator[str]:
    """What a graph has more or less of its database than before, a line for each."""
    old, new = ({(t.schema, t.table): t for t in each.tables} for each in (before, after))
    for name in sorted(old.keys() | new.keys()):
        label = ".".join(filter(None, name))
        if name not in new:
            yield f"- {label}"
        elif name not in old:
            yield f"+ {label}"
        else:
            had, has = source_columns(old[name]), source_columns(new[name])
            yield from (f"- {label}.{column}" for column in sorted(had - has))
            yield from (f"+ {label}.{column}" for column in sorted(has - had))
            before_types, types = (
                {each.column: "text" if each.storage == "number_text" else each.storage for each in table.columns}
                for table in (old[name], new[name])
            )
            changed = (each for each in types if before_types.get(each, types[each]) != types[each])
            yield from (f"{label}.{each}: {before_types[each]} -> {types[each]}" for each in changed)


def known_database(name: str, data: Path) -> AttachedDatabase | None:
    """The database that a graph is attached to, with the present address of its file if that is kept; None if it is
    attached to none."""
    home = data / versions.check_name(name)
    version = versions.current_version(home)
    file = versions.version_folder(home, version) / versions.DATABASE if version is not None else None
    if file is None or not file.is_file():
        return None
    database = located(from_json(AttachedDatabase, json.loads(file.read_text(encoding="utf-8"))), file.parent)
    # an address that can be attached again, without the option that reads a kept file
    return replace(database, url=make_url(database.url).set(query={}).render_as_string()) if database.kept else database


def _reflected(
    database: AttachedDatabase, selection: Selection, limits: DatabaseLimits, entries: Sequence[TableEntry]
) -> tuple[list[MappedTable], Sequence[str]]:
    with closing(AttachedTables(database, NO_SCHEMA, "", limits)) as tables:
        with tables.connections.connected(REFLECT_SECONDS) as connection:
            found, problems = reflect_tables(connection, selection)
        if not found:
            hint = "Name its schemas with --schema, or check --include." if database.dialect != "sqlite" else ""
            reasons = ". ".join([f"{public_address(database.url)} shows no tables", *problems])
            raise IngestionError(f"{reasons}. {hint}".strip())
        declared, unfit = declare_tables(found, entries)
        keyed, unread = check_tables(tables.connections, declared, database.dialect, entries)
        return map_tables(keyed), [*problems, *unfit, *unread]


def _build(
    folder: Path,
    mapped: Sequence[MappedTable],
    empty: AttachedDatabase,
    limits: DatabaseLimits,
    layers: LayerFiles,
    on_stage: OnStage,
) -> tuple[Schema, AttachedDatabase, list[str]]:
    """Write the files of a version: names, schema and overview. The sampled rows are removed again."""
    provisional = replace(empty, tables=tuple(each.attached for each in mapped))
    with tempfile.TemporaryDirectory(prefix="nacre-attach-") as scratch:
        facts = Path(scratch) / "sample.nt"
        with closing(AttachedTables(provisional, NO_SCHEMA, "", limits)) as tables:
            on_stage("rows", 0, 0)
            sample = write_sample(mapped, tables, facts)
        if not any(sample.rows.values()):
            reason = f" {sample.problems[0]}" if sample.problems else ""
            raise IngestionError(f"{public_address(empty.url)} shows no rows.{reason}")
        with rdf_files([str(facts)]) as sources:
            run_stages(STORED_TABLES, Inputs(sources, (), layers), StageContext(folder, on_stage))
    sampled = folder / versions.TABLES
    fitted = fit_schema(sampled, sample.tables)
    sampled.unlink()
    database = replace(empty, tables=fitted.tables)
    by_iri = {each.iri: each.relation for each in fitted.tables}
    rows = {by_iri[m.attached.iri]: sample.rows[m.attached.relation] for m in sample.tables if m.attached.iri in by_iri}
    partial = {by_iri[m.attached.iri] for m in sample.tables if m.attached.relation in sample.partial} & set(rows)
    with closing(sqlite3.connect(folder / versions.LEXICON)) as names, names:
        # which links lead to a row is not known if not all rows were read that may refer to it
        targets = {(link.target,) for each in fitted.tables if each.relation in partial for link in each.links}
        names.executemany("UPDATE thing SET ends = NULL WHERE relation = ?", sorted(targets))
    with closing(AttachedTables(database, fitted.schema, fitted.layout, limits)) as tables:
        on_stage("counts", 0, 0)
        schema = with_statistics(fitted.schema, tables, rows, partial)
    (folder / versions.SCHEMA).write_text(json_text(schema) + "\n", encoding="utf-8")
    (folder / versions.LAYOUT).write_text(fitted.layout, encoding="utf-8")
    with closing(AttachedTables(database, schema, fitted.layout, limits)) as tables:
        on_stage("overview", 0, 0)
        for write in services("overview"):
            write(folder, schema, tables)
    left = [f"{label!r} is left out: no column gives it" for label in fitted.left]
    return schema, database, [*sample.problems, *unshown(sample, fitted.tables), *left]


UNREAD = "no row has a value that can be read, or a layer excludes it"


def unshown(sample: "Sample", shown: Sequence[AttachedTable]) -> Iterator[str]:
    """The sampled tables and columns that are no class or property, each with the reason."""
    by_iri = {each.iri: each for each in shown}
    for mapped in sample.tables:
        name, relation = mapped.reflected.name, mapped.attached.relation
        found = by_iri.get(mapped.attached.iri)
        if found is None:
            why = "its rows have no key" if sample.rows[relation] else "it has no rows"
            yield f"{name} is left out: {why}"
            continue
        yield from (f"{name}.{each} is left out: it is binary" for each in mapped.reflected.binary)
        read = {each.column for each in found.columns} | {each for link in found.links for each in link.columns}
        lacking = {column.name: UNREAD for _, column in mapped.literals.values()}
        for _, link in mapped.links.values():
            is_shown = table_iri(link.schema, link.table) in by_iri
            why = UNREAD if is_shown else f"it refers to {link.table}, which is left out"
            lacking |= dict.fromkeys(link.columns, why)
        yield from (f"{name}.{column} is left out: {why}" for column, why in lacking.items() if column not in read)


# rows of a table that are read whole; names and values of larger tables; values of all (given)
SAMPLE_ROWS, MOST_NAMES, MOST_VALUES = 5_000, 100_000, 500

# rows with a value of a column that no sampled row has, and rows of a table after MOST_CELLS (given)
MOST_SAMPLES = 20

MOST_CELLS = 3_000_000

LONGEST_VALUE = 2_000

SECONDS = 30.0

# tables that may take all of that; later ones are counted in a tenth of it, so that many endless views end
MOST_WAITS = 4

# of the rows that have a name, and of the names that look like names and that differ (given)
_SHARE_NAMED, _SHARE_DIFFERENT, _SHARE_OWN_NAMES = 0.9, 0.5, 0.2

# columns whose cells are ISO texts with a type
_MOMENTS: dict[Storage, str] = {
    "date": "date",
    "day_number": "date",
    "day_text": "date",
    "datetime": "dateTime",
    "time": "time",
}


class Sample(NamedTuple):
    """The relations that could be read, the number of rows of each, those that were not read whole, and problems."""

    tables: list[MappedTable]
    rows: dict[str, int]
    partial: frozenset[str]
    problems: tuple[str, ...]


def write_sample(mapped: Sequence[MappedTable], tables: AttachedTables, path: Path) -> Sample:
    """Write the facts of a sample to a file of N-Triples. Tables that can't be read are left out."""
    left, waits, counts, partial = MOST_CELLS, 0, {}, set()
    names: set[str] = set()
    readable: list[MappedTable] = []
    problems: list[str] = []
    by_relation = {each.attached.relation: each for each in mapped}
    with path.open("w", encoding="utf-8") as file:
        for table in mapped:
            relation = table.attached.relation
            try:
                seconds = SECONDS if waits < MOST_WAITS else SECONDS / 10
                query = f"SELECT count(*) FROM {quote_identifier(relation)}"
                count = int(tables.run(query, limit=1, seconds=seconds).rows[0][0] or 0)
                each, lines = _table_lines(table, by_relation, count, tables, left, names)
            except ToolError as error:
                waits += error.kind == "timeout"
                problems.append(f"{table.reflected.name} is left out: {error}")
                continue
            left = max(0, left - len(lines))
            counts[relation] = count
            if count > SAMPLE_ROWS or not left:
                partial.add(relation)
            readable.append(each)
            file.writelines(lines)
    return Sample(readable, counts, frozenset(partial), tuple(problems))


def _table_lines(
    mapped: MappedTable, known: dict[str, MappedTable], count: int, tables: AttachedTables, most: int, taken: set[str]
) -> tuple[MappedTable, list[str]]:
    """The table with the columns that name its rows, if they are known, and its facts; `taken` are the names of rows so
    far. The names of a view that repeats them mean the rows of the table."""
    names = [*mapped.literals, *mapped.links]
    columns = ", ".join(map(quote_identifier, ["id", *names]))
    of = quote_identifier(mapped.attached.relation)
    seen: set[Cell] = set()
    rows = max(MOST_SAMPLES, min(SAMPLE_ROWS, most // (len(names) + 1)))
    found = tables.run(f"SELECT {columns} FROM {of}", limit=rows, seconds=SECONDS).rows
    bare = [name for at, name in enumerate(names, 1) if count > rows and all(row[at] is None for row in found)]
    late = {name: _later_values(tables, of, name) for name in bare}
    used = {name for at, name in enumerate(names, 1) if late.get(name) or any(row[at] is not None for row in found)}
    # what no row has would be a thing, not a property
    lines = list(_schema_lines(mapped, known, used)) if found else []
    sources = {column.name: name for name, (_, column) in mapped.literals.items()}
    cells = {name: [row[at] for row in found] for at, name in enumerate(names, 1)}
    label = tuple(sources[column] for column in mapped.attached.label if column in sources)
    label = label or tuple(filter(None, [inferred_name(mapped, cells)]))
    naming = label or tuple(_naming_columns(mapped)[:1])
    own = {_name_of(dict(zip(names, row[1:], strict=True)), naming) for row in found} - {""}
    if mapped.reflected.is_view and own and len(own & taken) >= _SHARE_NAMED * len(own):
        columns_of = tuple(mapped.literals[name][1].name for name in naming)
        mapped = replace(mapped, attached=replace(mapped.attached, label=columns_of))
        kind = lowercase_name(mapped.reflected.name)
        for number, row in enumerate(found, 1):
            if isinstance(row[0], str) and row[0] not in seen:
                seen.add(row[0])
                lines += _row_lines(mapped, row[0], dict(zip(names, row[1:], strict=True)))
                lines.append(_line(row[0], LAYER_NAME, _text(f"{kind} {number}")))
        return mapped, lines
    taken |= own
    for row in found:
        # of rows with one key, the first: a column has one value
        if isinstance(row[0], str) and row[0] not in seen:
            seen.add(row[0])
            lines += _row_lines(mapped, row[0], dict(zip(names, row[1:], strict=True)), label)
    for name, others in late.items():
        for own_key, value in others.items():
            lines += _row_lines(mapped, own_key, {name: value})
    if count > rows:
        for group in dict.fromkeys([*([label] if label else []), *((name,) for name in _naming_columns(mapped))]):
            shown = ", ".join(map(quote_identifier, group))
            query = f"SELECT id, {shown} FROM {of} WHERE {quote_identifier(group[0])} IS NOT NULL"
            for key, *values in tables.run(query, limit=MOST_NAMES, seconds=SECONDS).rows:
                if isinstance(key, str) and key not in seen:
                    lines += _row_lines(mapped, key, dict(zip(group, values, strict=True)), label)
        lines += _rare_values(mapped, tables, seen)
    return mapped, lines


def _name_of(cells: Mapping[str, Cell], label: Sequence[str]) -> str:
    """The name of a row; "" if it lacks a part."""
    parts = [str(cells[name]).strip() for name in label if cells.get(name) is not None]
    return " ".join(parts) if len(parts) == len(label) else ""


def _later_values(tables: AttachedTables, of: str, name: str) -> dict[str, Cell]:
    """Some values of a column that no sampled row has, by row."""
    own = quote_identifier(name)
    query = f"SELECT id, {own} FROM {of} WHERE {own} IS NOT NULL"
    try:
        rows = tables.run(query, limit=MOST_SAMPLES, seconds=SECONDS / 10).rows
    except ToolError as error:
        log.info("later values of %s are not read: %s", name, error)
        return {}
    return {key: value for key, value in rows if isinstance(key, str)}


def _naming_columns(mapped: MappedTable) -> list[str]:
    """The columns whose values name rows: those called names, else unique texts, else the first text."""
    texts = [name for name, (_, column) in mapped.literals.items() if column.storage == "text"]
    words = word_list("ingestion", "name_words")
    named = [name for name in texts if set(name.split("_")) & words or name_rank(mapped.literals[name][0]) is not None]
    unique = [name for name in texts if mapped.literals[name][1].name in mapped.reflected.unique]
    return named[:3] or unique[:2] or texts[:1]


def inferred_name(mapped: MappedTable, cells: Mapping[str, Sequence[Cell]]) -> str:
    """The column whose values name the rows of a table that has no column called a name; "" for none.

    The one that is called like the table and a name ("stop_name" of "stops"), beside names of other things. The only
    column of words, if many of them are different, as the company of a supplier; else the key, if people read it (a
    text), as the code of a ward. Of two columns of words, such as origin and destination, none is a name.
    """
    texts = [name for name, (_, column) in mapped.literals.items() if column.storage == "text"]
    for name in texts:
        is_own = is_own_name(mapped.literals[name][1].name, mapped.reflected)
        if is_own and _tell_apart([value for value in cells[name] if value], cells[name], _SHARE_OWN_NAMES):
            return name
    called = word_list("ingestion", "name_words") | word_list("ingestion", "description_words")
    if named := [name for name in texts if set(name.split("_")) & called]:
        # "franchise name" and "name full", but not a nick name beside another one
        is_part = set(named[0].split("_")) & word_list("ingestion", "partial_name_words")
        is_telling = _tell_apart([value for value in cells[named[0]] if value], cells[named[0]], _SHARE_DIFFERENT)
        return named[0] if len(named) == 1 and is_telling and not is_part else ""
    likely = {}
    for name in texts:
        values = [value for value in cells[name] if isinstance(value, str) and value.strip()]
        if sum(map(is_name_shaped, values)) >= _SHARE_NAMED * len(values) > 0:
            likely[name] = values
    if len(likely) == 1:
        name, values = next(iter(likely.items()))
        if _tell_apart(values, cells[name], _SHARE_DIFFERENT):
            return name
    own = mapped.attached.key[0] if len(mapped.attached.key) == 1 and not mapped.attached.guessed else ""
    return next((name for name in texts if mapped.literals[name][1].name == own), "")


def _tell_apart(values: Sequence[Cell], cells: Sequence[Cell], share: float) -> bool:
    """Whether nearly all cells have one of the values, and this share of the values differ."""
    return len(values) >= _SHARE_NAMED * len(cells) > 0 and len(set(values)) >= share * len(values)


def _rare_values(mapped: MappedTable, tables: AttachedTables, seen: set[Cell]) -> Iterator[str]:
    """One row for each value of a column with few values, since the sample may not have all of them."""
    of = quote_identifier(mapped.attached.relation)
    for name, (_, column) in mapped.literals.items():
        if column.storage not in ("text", "list", "other"):
            continue
        own = quote_identifier(name)
        query = f"SELECT min(id), {own} FROM {of} WHERE {own} IS NOT NULL GROUP BY {own}"
        try:
            found = tables.run(query, limit=MOST_VALUES, seconds=SECONDS)
        except ToolError as error:
            log.info("the values of %s are not listed: %s", name, error)
            continue
        for key, value in () if found.truncated else found.rows:
            if isinstance(key, str) and key not in seen:
                yield from _row_lines(mapped, key, {name: value})


def _schema_lines(mapped: MappedTable, known: dict[str, MappedTable], used: Collection[str]) -> Iterator[str]:
    iri, table = mapped.attached.iri, mapped.reflected
    yield _line(iri, LABEL, _text(lowercase_name(table.name) or table.name))
    if table.comment:
        yield _line(iri, COMMENT, _text(table.comment[:LONGEST_VALUE]))
    for name, (own, column) in mapped.literals.items():
        if column.label and name in used:
            yield _line(own, LABEL, _text(column.label))
        if column.comment and name in used:
            yield _line(own, COMMENT, _text(column.comment[:LONGEST_VALUE]))
    links = {link.name: link for link in mapped.attached.links}
    for name, (own, key) in mapped.links.items():
        if name not in used:
            continue
        target = known.get(links[name].target)
        labels = link_labels(key.columns, target.reflected.name if target else key.table, key.referred)
        yield _line(own, LABEL, _text(labels[0]))
        for other in labels[1:]:
            yield _line(own, ALTERNATIVE, _text(other))


def link_labels(columns: Sequence[str], target: str, referred: Sequence[str] = ()) -> list[str]:
    """What people call a foreign key: its column without the word for a key, or the table that it refers to; the table
    first if the column is only called like the key that it refers to.

    >>> link_labels(["home_stadium_id"], "stadium"), link_labels(["id"], "Customers")
    (['home stadium', 'stadium'], ['customers'])
    >>> link_labels(["isbn"], "book", ["isbn"])
    ['book', 'isbn']
    """
    keys = word_list("ingestion", "key_words")
    kind = lowercase_name(target)
    own = lowercase_name(columns[0]).split() if len(columns) == 1 else []
    while own and own[-1].lower() in keys:
        own.pop()
    labels = dict.fromkeys([*([" ".join(own)] if own else []), kind])
    return list(reversed(labels)) if list(columns) == list(referred) else list(labels)


def _row_lines(mapped: MappedTable, key: str, cells: dict[str, Cell], label: tuple[str, ...] = ()) -> Iterator[str]:
    yield _line(key, TYPE, f"<{mapped.attached.iri}>")
    if label and (name := _name_of(cells, label)):
        yield _line(key, LABEL, _text(name[:LONGEST_VALUE]))
    for name, cell in cells.items():
        if cell is None:
            continue
        if name in mapped.links:
            yield _line(key, mapped.links[name][0], f"<{cell}>")
        else:
            predicate, column = mapped.literals[name]
            yield _line(key, predicate, _literal(cell, column.storage))


def _literal(cell: Cell, storage: Storage) -> str:
    if isinstance(cell, str):
        return _text(cell[:LONGEST_VALUE], _MOMENTS.get(storage, ""))
    if storage == "boolean":
        return _text("true" if cell else "false", "boolean")
    return _text(repr(cell), "integer" if isinstance(cell, int) else "double")


def _text(value: str, datatype: str = "") -> str:
    return ntriples_literal(value.replace("\0", ""), XSD + datatype if datatype else "", "")


def _line(subject: str, predicate: str, value: str) -> str:
    return f"<{subject}> <{predicate}> {value} .\n"
