"""The files of an upload -> the arguments of `nacre` that read them; which databases they are, as they begin."""

import struct
from collections.abc import Sequence
from pathlib import Path

from ingestion.read.sources import TABLE, format_from_name, metadata_names
from nacre.errors import ConfigError
from nacre.extension import services
from nacre.records.schema import LOCAL

LAYERS = (".yaml", ".yml")
DATABASES = (".sqlite", ".sqlite3", ".db", ".duckdb", ".ddb")

# what the files of each kind begin with, after so many bytes
_SQLITE, _DUCKDB, _DUCKDB_OFFSET = b"SQLite format 3\0", b"DUCK", 8

_HEADER_BYTES = 100


def readable_formats() -> frozenset[str]:
    """The endings of documents that can be read."""
    return frozenset().union(*(formats() for formats in services("formats")))


def command_of_files(folder: Path, graph: str, *, add: bool = False) -> list[str]:
    """The arguments of `nacre` that read the files of a folder; raises ConfigError for a database that is none, or
    that comes with or is added to other data, and for layers alone."""
    files = sorted(folder.iterdir())
    layers = [str(path) for path in files if path.suffix.lower() in LAYERS]
    named = [part for path in layers for part in ("--layer", path)]
    databases = [path for path in files if path.suffix.lower() in DATABASES]
    if databases:
        if add or len(databases) + len(layers) < len(files) or len(databases) > 1:
            raise ConfigError("A database becomes a graph of its own. Send one database, alone or with layers.")
        kind = database_kind(databases[0])
        return ["attach", f"{kind}:///{databases[0].resolve()}", "--keep", *named, "--graph", graph]
    if len(layers) == len(files):
        raise ConfigError("A layer says what data is called. Send it with RDF, documents or a database.")
    tables = [str(path) for path in files if format_from_name(path.name) == TABLE]
    aside = {*tables, *layers, *(name for table in tables for name in metadata_names(table))}
    documents = [str(path) for path in files if path.suffix.lower() in readable_formats() and str(path) not in aside]
    graphs = [str(path) for path in files if str(path) in tables or str(path) not in (*documents, *aside)]
    texts = [part for path in documents for part in ("--texts", path)]
    adding = ["--add"] if add else []
    return ["ingest", *graphs, *texts, *named, *adding, "--base", f"{LOCAL}{graph}/", "--graph", graph]


def database_kind(file: Path) -> str:
    """`sqlite` or `duckdb`, as the file begins; raises ConfigError if it is neither, or if its end is missing."""
    with file.open("rb") as opened:
        header = opened.read(_HEADER_BYTES)
    if header[_DUCKDB_OFFSET : _DUCKDB_OFFSET + len(_DUCKDB)] == _DUCKDB:
        return "duckdb"
    if len(header) < _HEADER_BYTES or not header.startswith(_SQLITE):
        raise ConfigError(f"{file.name} is no database of SQLite or DuckDB. Export its tables, or send another file.")
    expected, size = _sqlite_bytes(header), file.stat().st_size
    if size < expected:
        raise ConfigError(f"{file.name} has {size:,} of {expected:,} bytes: its end is missing. Copy it again.")
    return "sqlite"


def _sqlite_bytes(header: Sequence[int] | bytes) -> int:
    """The size that the header of a SQLite file states; 0 if it states none that counts."""
    (page,) = struct.unpack_from(">H", bytes(header), 16)
    changed, pages = struct.unpack_from(">II", bytes(header), 24)
    (valid_for,) = struct.unpack_from(">I", bytes(header), 92)
    # a page of 65,536 bytes is written as 1; the number of pages counts only if it belongs to the last change
    return pages * (65_536 if page == 1 else page) if changed == valid_for else 0
