"""Check that the files of an index are unchanged: a process that maps a truncated file into memory crashes."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from nacre.errors import ToolError

SEAL = "files.json"
# reading this much takes about 0.1 s; of larger indexes only the sizes are checked
MAX_HASHED_BYTES = 64_000_000


class DamagedIndex(ValueError):
    """The files of an index have changed since they were written."""


def seal_folder(folder: Path) -> None:
    """Record the size and the hash of each file of a finished index."""
    files = [file for file in folder.iterdir() if file.suffix != ".lock"]
    (folder / SEAL).write_text(json.dumps({file.name: [file.stat().st_size, _hash(file)] for file in sorted(files)}))


def verify_seal(folder: Path) -> dict[str, int]:
    """Check the files of an index against the recorded sizes and hashes; returns the sizes, or {} without a record.

    Raises DamagedIndex for a file that is missing, of another size or (in small indexes) of other content.
    """
    try:
        recorded: dict[str, tuple[int, str]] = {name: (size, seen) for name, (size, seen) in _recorded(folder).items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise DamagedIndex(f"damaged: {SEAL} can't be read") from error
    sizes = {name: size for name, (size, _) in recorded.items()}
    check_sizes(folder, sizes)
    if sum(sizes.values()) <= MAX_HASHED_BYTES:
        for name, (_, hashed) in recorded.items():
            if _hash_now(folder / name) != hashed:
                raise DamagedIndex(f"damaged: {name} is not as it was written")
    return sizes


def file_sizes(folder: Path, names: Iterable[str]) -> dict[str, int]:
    """The current sizes of files in a folder, for `check_sizes`; missing files are left out."""
    return {name: (folder / name).stat().st_size for name in names if (folder / name).is_file()}


def _recorded(folder: Path) -> Any:
    return json.loads((folder / SEAL).read_text())


def check_sizes(folder: Path, sizes: Mapping[str, int], gone: bool = False) -> None:
    """Raise DamagedIndex for a file of another size, or a missing one unless `gone` (open files stay readable).

    It runs several times a turn on some twenty files, so it creates no Path objects.
    """
    home = os.fspath(folder)
    for name, size in sizes.items():
        try:
            size_now = os.stat(os.path.join(home, name)).st_size
        except OSError as error:
            if gone and isinstance(error, FileNotFoundError):
                continue
            raise DamagedIndex(f"damaged: {name} can't be read ({error.strerror})") from error
        if size_now != size:
            raise DamagedIndex(f"damaged: {name} has {size_now} bytes, not {size}")


@contextmanager
def engine_panics(what: str) -> Iterator[None]:
    """Turn a panic of a Rust engine into a ToolError: it is no `Exception` and would end more than the branch."""
    try:
        yield
    except BaseException as error:
        # the binding creates the class at run time and does not export it
        if type(error).__name__ != "PanicException":
            raise
        raise ToolError("unavailable", f"{what} is damaged") from error


def _hash_now(file: Path) -> str:
    try:
        status = file.stat()
    except OSError as error:
        raise DamagedIndex(f"damaged: {file.name} can't be read ({error.strerror})") from error
    return _hash_of(file, status.st_size, status.st_mtime_ns)


@lru_cache(1024)
def _hash_of(file: Path, size: int, changed: int) -> str:
    """The hash of a file, cached by its size and time of modification."""
    return _hash(file)


def _hash(file: Path) -> str:
    with file.open("rb") as content:
        hashed = blake2b(digest_size=16)
        while piece := content.read(1 << 20):
            hashed.update(piece)
    return hashed.hexdigest()
