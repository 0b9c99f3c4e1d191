"""Make a finished version the one that readers see, in one step: a folder aside -> NAME/current."""

import errno
import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

from records.errors import ConfigError, IngestionError, NacreError
from stores import versions
from stores.catalog import drop_collection
from stores.versions import BUILDING, CURRENT, LOCK, Manifest

UNWRITABLE = frozenset(
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


def new_version(now: datetime, inputs: str) -> str:
    """An id that sorts by time.

    >>> new_version(datetime(2030, 1, 2, 3, 4, 5), "9f86d081884c")
    '20300102T030405000000-9f86d081'
    """
    return f"{now:%Y%m%dT%H%M%S%f}-{inputs[:8]}"


@contextmanager
def building(home: Path, version: str, url: str | None, key: str | None) -> Iterator[Path]:
    """A folder to build a version in, for the graph's only writer; what was begun and not published goes at the end.

    Before, it removes what killed builds left. Raises IngestionError where nothing can be written.
    """

    def drop(collection: str) -> None:
        drop_collection(url, key, collection)

    folder = home / "versions" / f".{version}{BUILDING}"
    with writable(home):
        folder.parent.mkdir(parents=True, exist_ok=True)
        versions.clean(home, drop)
        folder.mkdir()
        (folder / LOCK).touch()
    pinned = versions.pin(folder)
    try:
        yield folder
    finally:
        if folder.exists():
            shutil.rmtree(folder, ignore_errors=True)
        if pinned is not None:
            os.close(pinned)
        with suppress(OSError):
            versions.clean(home, drop)


def tidy(home: Path, url: str | None, key: str | None) -> None:
    """Remove what killed builds left, where nothing is built; the caller is the graph's only writer."""
    with suppress(OSError):
        versions.clean(home, lambda collection: drop_collection(url, key, collection))


def publish(home: Path, folder: Path, manifest: Manifest) -> None:
    """Write everything through to the disk, name the folder by its version and switch the readers to it."""
    with writable(home):
        versions.write_manifest(folder, manifest)
        for here, _, files in os.walk(folder):
            for file in files:
                _flush(Path(here) / file)
            _flush(Path(here))
        place = versions.version_folder(home, manifest.version)
        os.rename(folder, place)
        _flush(place.parent)
        aside = home / f".{CURRENT}"
        record = {name: asdict(manifest)[name] for name in ("version", "format", "embedder", "collection")}
        aside.write_text(json.dumps(record) + "\n", encoding="utf-8")
        _flush(aside)
        os.replace(aside, home / CURRENT)
        _flush(home)


def unchanged(home: Path, wanted: Manifest) -> Manifest | None:
    """The present version, if it was made of the same input in the same way and is whole."""
    try:
        version = versions.current(home)
        present = versions.manifest(home, version) if version is not None else None
    except (OSError, ConfigError):
        return None
    if present is None:
        return None
    same = (present.inputs, present.embedder, present.unavailable) == (
        wanted.inputs,
        wanted.embedder,
        wanted.unavailable,
    )
    folder = versions.version_folder(home, present.version)
    needed = [versions.TABLES, versions.LEXICON]
    needed += [] if "lexical" in wanted.unavailable else [versions.PASSAGES, versions.LEXICAL]
    needed += [versions.VECTORS] if wanted.embedder is not None and wanted.collection is None else []
    whole = all((folder / each).exists() for each in needed)
    return present if same and whole and (present.collection is None) == (wanted.collection is None) else None


@contextmanager
def writable(home: Path) -> Iterator[None]:
    """Says where writing failed, if it does."""
    try:
        yield
    except NacreError:
        raise
    except Exception as error:  # the stores' engines each raise their own kinds
        number = error.errno if isinstance(error, OSError) else None
        said = _FULL.search(str(error))
        if number not in UNWRITABLE and not said:
            raise
        reason = (error.strerror if isinstance(error, OSError) else None) or (said[0] if said else str(error))
        raise IngestionError(
            f"Can't write to {home}: {reason.lower()}."
            " Check its permissions and free space, or set NACRE_DATA to another folder."
        ) from error


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
