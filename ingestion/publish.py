"""Publish a finished version in one step: temporary folder -> NAME/current."""

import errno
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from ingestion.read.sources import FILE_ADDRESS, LOCAL
from nacre.errors import ConfigError, IngestionError, NacreError
from nacre.stores import switch_version as switch
from nacre.stores import versions
from nacre.stores.servers import Servers
from nacre.stores.switch_version import flush_and_rename
from nacre.stores.versions import BUILDING, LOCK, Manifest, Pointer, VectorsManifest

WRITE_ERRORS = frozenset(
    {
        errno.EACCES,
        errno.EPERM,
        errno.EROFS,
        errno.ENOSPC,
        errno.EDQUOT,
        errno.ENOTDIR,
        errno.EEXIST,
        errno.ENOENT,
        errno.EIO,
    }
)
_FULL = re.compile(
    "disk is full|disk I/O error|readonly database|unable to open database|no space left on device", re.IGNORECASE
)


def new_version_id(now: datetime, inputs: str) -> str:
    """A version id; ids sort by time.

    >>> new_version_id(datetime(2030, 1, 2, 3, 4, 5), "9f86d081884c")
    '20300102T030405000000-9f86d081'
    """
    return f"{now:%Y%m%dT%H%M%S%f}-{inputs[:8]}"


@contextmanager
def build_folder(home: Path, place: Path, servers: Servers) -> Iterator[Path]:
    """A temporary folder for building what will be at `place`; the caller is the graph's only writer. If it is not
    published, it is removed at the end.

    The remains of killed builds are removed first. Raises IngestionError if nothing can be written.
    """
    folder = place.with_name(f".{place.name}{BUILDING}")
    with report_write_errors(home):
        place.parent.mkdir(parents=True, exist_ok=True)
        versions.remove_unused_versions(home, servers.remove_parts)
        folder.mkdir()
        (folder / LOCK).touch()
    pinned = versions.pin_folder(folder)
    try:
        yield folder
    finally:
        if pinned is not None:
            os.close(pinned)
        remove_unused(home, servers)


@contextmanager
def exclusive_writer(home: Path) -> Iterator[None]:
    """Hold the lock of the graph's only writer; a folder without a graph is removed at the end."""
    with report_write_errors(home):
        home.mkdir(parents=True, exist_ok=True)
        lock = versions.writer_lock(home)
        lock.__enter__()
    try:
        yield
    finally:
        if versions.current_version(home) is None and not any((home / "versions").glob("*")):
            shutil.rmtree(home, ignore_errors=True)
        lock.__exit__(None, None, None)


def remove_unused(home: Path, servers: Servers) -> None:
    """Remove the remains of killed builds and unused versions; the caller is the graph's only writer."""
    with suppress(OSError):
        versions.remove_unused_versions(home, servers.remove_parts)


def publish_version(home: Path, folder: Path, manifest: Manifest, without: str, layers: str = "") -> None:
    """Flush everything to disk, rename the folder to its version and switch the readers to it.

    It has no vectors yet; those of the previous version stay, so that they can be copied. `without` has the reason if
    no vectors will follow. `layers` are the triples extracted from texts.
    """
    with report_write_errors(home):
        present = versions.read_pointer(home)
        earlier = (present.vectors or present.earlier) if present is not None else None
        versions.write_manifest(folder, manifest)
        flush_and_rename(folder, versions.version_folder(home, manifest.version))
        switch_version(home, Pointer(manifest.version, earlier=earlier, without=without, layers=layers))


def publish_vectors(home: Path, folder: Path, vectors: str, manifest: VectorsManifest) -> None:
    """Publish a set of vectors of the current version."""
    with report_write_errors(home):
        versions.write_manifest(folder, manifest)
        flush_and_rename(folder, versions.vectors_folder(home, vectors))
        present = versions.read_pointer(home)
        layers = present.layers if present is not None else ""
        switch_version(home, Pointer(manifest.version, vectors, layers=layers))


def publish_layers(home: Path, folder: Path, layers: str) -> None:
    """Publish the extracted layers of the current version."""
    with report_write_errors(home):
        present = versions.read_pointer(home)
        if present is None:
            raise IngestionError(f"The graph {home.name!r} is gone. Run: nacre ingest FILE.ttl --graph {home.name}")
        flush_and_rename(folder, versions.layers_folder(home, layers))
        switch_version(home, replace(present, layers=layers))


def switch_version(home: Path, pointer: Pointer) -> None:
    """Switch the readers in one step. Raises IngestionError."""
    with report_write_errors(home):
        switch.switch_version(home, pointer)


def matching_version(home: Path, inputs: str, unavailable: dict[str, str], tables: str = "") -> Manifest | None:
    """The current version, if it is complete and was made from the same input in the same way, for the same place of
    its tables."""
    present = readable_manifest(home)
    if present is None or (present.inputs, present.unavailable, present.tables) != (inputs, unavailable, tables):
        return None
    folder = versions.version_folder(home, present.version)
    needed = [versions.TABLES, versions.LEXICON]
    needed += [] if "lexical" in unavailable else [versions.PASSAGES, versions.LEXICAL]
    return present if all((folder / each).exists() for each in needed) else None


def readable_manifest(home: Path) -> Manifest | None:
    """The manifest of the current version; None if it can't be read."""
    try:
        version = versions.current_version(home)
        return versions.read_manifest(home, version) if version is not None else None
    except (OSError, ConfigError):
        return None


def recorded_base(home: Path) -> str:
    """The base of relative IRIs that a graph has had so far; for a new graph, one with its name."""
    present = readable_manifest(home)
    return f"{LOCAL}{home.name}/" if present is None or present.attached else present.base or FILE_ADDRESS


@contextmanager
def report_write_errors(home: Path) -> Iterator[None]:
    """Turn errors of writing into IngestionError with the place and the reason."""
    try:
        yield
    except NacreError:
        raise
    except Exception as error:  # each engine raises its own kinds of errors
        number = error.errno if isinstance(error, OSError) else None
        full = _FULL.search(str(error))
        if number not in WRITE_ERRORS and not full:
            raise
        reason = (error.strerror if isinstance(error, OSError) else None) or (full[0] if full else str(error))
        raise IngestionError(
            f"Can't write to {home}: {reason.lower()}."
            " Check its permissions and free space, or set NACRE_DATA to another folder."
        ) from error
