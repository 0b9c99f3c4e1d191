"""How graphs lie on disk: NACRE_DATA/NAME/versions/<id>/ and the file NAME/current that names the one to read."""

import fcntl
import json
import logging
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from records.errors import ConfigError

log = logging.getLogger(__name__)

FORMAT = 3
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
TABLES, LEXICON, PASSAGES, LEXICAL, VECTORS = "graph.sqlite", "lexicon.sqlite", "passages.sqlite", "lexical", "vectors"
MANIFEST, LOCK, CURRENT, BUILDING = "manifest.json", "lock", "current", ".building"


@dataclass(frozen=True)
class Manifest:
    """What a version is made of. `inputs` is the hash of all that went in; `collection` names the vectors on a Qdrant
    server (None: in the folder); `unavailable` says why a branch was left out on purpose."""

    version: str
    format: int = FORMAT
    inputs: str = ""
    embedder: str | None = None
    collection: str | None = None
    passages: int = 0
    unavailable: dict[str, str] = field(default_factory=dict)


def check_name(name: str) -> str:
    """The name, if a graph may have it.

    >>> check_name("my-graph")
    'my-graph'
    """
    if not NAME.fullmatch(name):
        raise ConfigError(
            f"{name!r} can't name a graph: use up to 64 lower-case letters, digits and hyphens, such as my-graph."
        )
    return name


def version_folder(home: Path, version: str) -> Path:
    """Where the stores of a version lie."""
    return home / "versions" / version


def current(home: Path) -> str | None:
    """The version that readers of the graph in `home` should open; None where there is no graph."""
    try:
        return str(json.loads((home / CURRENT).read_text(encoding="utf-8"))["version"])
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, KeyError, TypeError):
        raise ConfigError(f"{home / CURRENT} is damaged. Run: nacre ingest FILE.ttl --graph {home.name}") from None


def manifest(home: Path, version: str) -> Manifest:
    """The manifest of one version; FileNotFoundError if it is gone."""
    data: dict[str, Any] = json.loads((version_folder(home, version) / MANIFEST).read_text(encoding="utf-8"))
    if data.get("format") != FORMAT:
        raise ConfigError(
            f"Graph {home.name!r} was written in format {data.get('format')}, this version of nacre reads {FORMAT}."
            f" Run: nacre ingest FILE.ttl --graph {home.name}"
        )
    return Manifest(**{key: value for key, value in data.items() if key in {f.name for f in fields(Manifest)}})


def write_manifest(folder: Path, content: Manifest) -> None:
    """Write the manifest into a version's folder."""
    (folder / MANIFEST).write_text(json.dumps(asdict(content), indent=1, sort_keys=True) + "\n", encoding="utf-8")


def pin(folder: Path) -> int | None:
    """Keep a version from removal while the returned file descriptor is open, at most as long as this process lives.

    None where the version is gone or being removed. Writes nothing: the folder may be read-only.
    """
    try:
        handle = os.open(folder / LOCK, os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        # the folder may have gone between opening the file and locking it
        if os.stat(folder / LOCK).st_ino == os.fstat(handle).st_ino:
            return handle
    except (BlockingIOError, FileNotFoundError, NotADirectoryError):
        pass
    os.close(handle)
    return None


@contextmanager
def writing(home: Path) -> Iterator[None]:
    """Alone among writers of this graph; raises ConfigError at once if there is another one."""
    with (home / ".lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(lock.fileno()).st_nlink == 0:  # the writer before has just removed the graph
                raise BlockingIOError
        except BlockingIOError:
            raise ConfigError(
                f"Graph {home.name!r} is being written by another nacre command. Wait until it ends and try again."
            ) from None
        yield


def clean(home: Path, dropped: Callable[[str], None] = lambda collection: None) -> list[str]:
    """Remove what killed builds left and the versions that nobody holds; the caller is the graph's only writer.

    `dropped` is called with the remote collection of each version that goes. Returns the names of what went.
    """
    keep, gone = current(home), []
    for folder in sorted((home / "versions").glob("*")):
        if folder.name == keep or not folder.is_dir():
            continue
        with _alone(folder) as alone:
            if not alone:
                continue
            try:
                collection = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["collection"]
            except (OSError, ValueError, KeyError, TypeError):
                collection = None
            if collection is not None:
                try:
                    dropped(collection)
                except ConfigError as error:
                    log.warning("%s stays until its vectors can be removed: %s", folder, error)
                    continue
            # first out of the way: a half-removed version must not look like a whole one
            aside = folder.with_name(f".gone-{folder.name.strip('.')}{BUILDING}")
            if folder != aside:
                os.rename(folder, aside)
            shutil.rmtree(aside, ignore_errors=True)
            gone.append(folder.name)
    return gone


@contextmanager
def _alone(folder: Path) -> Iterator[bool]:
    try:
        handle = os.open(folder / LOCK, os.O_RDONLY)
    except FileNotFoundError:
        yield True
        return
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(handle)
