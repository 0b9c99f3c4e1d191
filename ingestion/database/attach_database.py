"""Attach a graph to a relational database: address -> a published version with its schema and names."""

import json
import logging
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path

from sqlalchemy import make_url

from ingestion.database.fit_schema import fit_schema
from ingestion.database.guess_keys import guess_keys
from ingestion.database.reflect import Selection, reflect_tables
from ingestion.database.relations import MappedTable, map_tables
from ingestion.database.sample import write_sample
from ingestion.database.statistics import with_statistics
from ingestion.layer.stored import LayerFiles, read_layer_files
from ingestion.overview import write_overview
from ingestion.publish import build_folder, exclusive_writer, new_version_id, publish_version, report_write_errors
from ingestion.read.inputs import rdf_files
from ingestion.stages import NO_PROGRESS, TABLES_ONLY, Inputs, OnStage, StageContext, run_stages
from nacre.errors import ConfigError, IngestionError, ToolError
from nacre.records.json_form import from_json, json_text
from nacre.records.schema import Schema
from nacre.stores import versions
from nacre.stores.databases.address import FILES, DatabaseLimits, parse_address, public_address
from nacre.stores.databases.attached import AttachedDatabase
from nacre.stores.databases.attached_tables import AttachedTables
from nacre.stores.kept_databases import file_address, keep_file, located
from nacre.stores.servers import Servers
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
        mapped, problems = _reflected(empty, selection, limits)
    except ToolError as error:
        raise IngestionError(f"{error} Nothing was attached.") from error
    inputs = blake2b(f"{address}\n{selection}\n{layers}".encode(), digest_size=16).hexdigest()
    unavailable = {branch: NOT_LOCAL.format(public_address(address), what) for branch, what in _LACKS.items()}
    manifest = Manifest(new_version_id(datetime.now(UTC), inputs), inputs=inputs, unavailable=unavailable)
    manifest = replace(manifest, database=public_address(address))
    with exclusive_writer(home):
        with report_write_errors(home):
            versions.remove_damaged_pointer(home)
        with build_folder(home, versions.version_folder(home, manifest.version), Servers(databases=limits)) as folder:
            schema, database, found = _build(folder, mapped, empty, limits, layers, on_stage)
            database = replace(database, seconds=round(time.perf_counter() - started, 2))
            with report_write_errors(home):
                if keep:
                    kept = keep_file(file, folder)
                    database = replace(database, url=public_address(address), kept=kept)
                (folder / versions.DATABASE).write_text(json_text(database) + "\n", encoding="utf-8")
            publish_version(home, folder, manifest, unavailable["vector"])
    return AttachedResult(name, manifest.version, schema, database, (*problems, *found))


def known_database(name: str, data: Path) -> AttachedDatabase | None:
    """The database that a graph is attached to, with the present address of its file if that is kept; None if it is
    attached to none."""
    home = data / versions.check_name(name)
    version = versions.current_version(home)
    file = versions.version_folder(home, version) / versions.DATABASE if version is not None else None
    if file is None or not file.is_file():
        return None
    return located(from_json(AttachedDatabase, json.loads(file.read_text(encoding="utf-8"))), file.parent)


def change_database_layers(
    name: str,
    change: Callable[[LayerFiles], LayerFiles],
    *,
    data: Path,
    limits: DatabaseLimits,
) -> AttachedResult:
    """Publish a version of an attached graph with changed layers; its schema is read again. Raises ConfigError if the
    graph is attached to no database."""
    known = known_database(name, data)
    if known is None:
        raise ConfigError(f"Graph {name!r} is attached to no database. Run: nacre attach URL --graph {name}")
    layers = change(known_layers(name, data))
    selection = Selection(known.schemas, known.include, known.exclude)
    kept = bool(known.kept)
    return attach_database(known.url, name, data=data, selection=selection, limits=limits, layers=layers, keep=kept)


def known_layers(name: str, data: Path) -> LayerFiles:
    """The layers of an attached graph."""
    home = data / versions.check_name(name)
    version = versions.current_version(home)
    return read_layer_files(versions.version_folder(home, version)) if version is not None else LayerFiles()


def _reflected(
    database: AttachedDatabase, selection: Selection, limits: DatabaseLimits
) -> tuple[list[MappedTable], Sequence[str]]:
    with closing(AttachedTables(database, NO_SCHEMA, "", limits)) as tables:
        with tables.connections.connected(REFLECT_SECONDS) as connection:
            found, problems = reflect_tables(connection, selection)
        if not found:
            hint = "Name its schemas with --schema, or check --include." if database.dialect != "sqlite" else ""
            reasons = ". ".join([f"{public_address(database.url)} shows no tables", *problems])
            raise IngestionError(f"{reasons}. {hint}".strip())
        return map_tables(guess_keys(tables.connections, found, database.dialect)), problems


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
            run_stages(TABLES_ONLY, Inputs(sources, (), layers), StageContext(folder, on_stage))
    sampled = folder / versions.TABLES
    fitted = fit_schema(sampled, sample.tables)
    sampled.unlink()
    database = replace(empty, tables=fitted.tables)
    by_iri = {each.iri: each.relation for each in fitted.tables}
    rows = {by_iri[m.attached.iri]: sample.rows[m.attached.relation] for m in sample.tables if m.attached.iri in by_iri}
    partial = {by_iri[m.attached.iri] for m in sample.tables if m.attached.relation in sample.partial} & set(rows)
    with closing(AttachedTables(database, fitted.schema, fitted.layout, limits)) as tables:
        on_stage("counts", 0, 0)
        schema = with_statistics(fitted.schema, tables, rows, partial)
    (folder / versions.SCHEMA).write_text(json_text(schema) + "\n", encoding="utf-8")
    (folder / versions.LAYOUT).write_text(fitted.layout, encoding="utf-8")
    with closing(AttachedTables(database, schema, fitted.layout, limits)) as tables:
        on_stage("overview", 0, 0)
        write_overview(folder, schema, tables)
    return (
        schema,
        database,
        [*sample.problems, *(f"{label!r} is left out: no column gives it" for label in fitted.left)],
    )
