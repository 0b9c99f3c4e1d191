"""Are the files of an index as they were written? What maps files into memory dies of one that was cut short."""

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
# to read so much takes a tenth of a second or so; of larger indexes the sizes alone are looked at
CHEAP_BYTES = 64_000_000


class DamagedIndex(ValueError):
    """An index whose files are not as they were written."""


def seal_folder(folder: Path) -> None:
    """Note the size and the hash of each file of an index that is finished."""
    files = [file for file in folder.iterdir() if file.suffix != ".lock"]
    (folder / SEAL).write_text(json.dumps({file.name: [file.stat().st_size, _hash(file)] for file in sorted(files)}))


def verify_seal(folder: Path) -> dict[str, int]:
    """The sizes of the files of an index, each found to be as it was written; nothing where none were noted.

    Raises Damaged for a file that is missing, cut short, or (where that is cheap to see) of another content.
    """
    try:
        noted: dict[str, tuple[int, str]] = {name: (size, seen) for name, (size, seen) in _noted(folder).items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise DamagedIndex(f"damaged: {SEAL} can't be read") from error
    sizes = {name: size for name, (size, _) in noted.items()}
    check_sizes(folder, sizes)
    if sum(sizes.values()) <= CHEAP_BYTES:
        for name, (_, hashed) in noted.items():
            if _hash_now(folder / name) != hashed:
                raise DamagedIndex(f"damaged: {name} is not as it was written")
    return sizes


def file_sizes(folder: Path, names: Iterable[str]) -> dict[str, int]:
    """The sizes that files of a folder have now, for `check_sizes`; what is not there is left out."""
    return {name: (folder / name).stat().st_size for name in names if (folder / name).is_file()}


def _noted(folder: Path) -> Any:
    return json.loads((folder / SEAL).read_text())


def check_sizes(folder: Path, sizes: Mapping[str, int], gone: bool = False) -> None:
    """Raises Damaged for a file of another size, or missing unless what is `gone` may still be read by who has it open.

    Asked several times a turn, of some twenty files: no Path is made.
    """
    home = os.fspath(folder)
    for name, size in sizes.items():
        try:
            there = os.stat(os.path.join(home, name)).st_size
        except OSError as error:
            if gone and isinstance(error, FileNotFoundError):
                continue
            raise DamagedIndex(f"damaged: {name} can't be read ({error.strerror})") from error
        if there != size:
            raise DamagedIndex(f"damaged: {name} has {there} bytes, not {size}")


@contextmanager
def engine_panics(what: str) -> Iterator[None]:
    """What a panic of an engine in Rust becomes, which is no `Exception` and would end more than the branch."""
    try:
        yield
    except BaseException as error:
        # the class is made by the binding at run time, and nothing exports it
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
    """The hash of a file that was last changed then: whoever asks again and again does not read it again."""
    return _hash(file)


def _hash(file: Path) -> str:
    with file.open("rb") as content:
        hashed = blake2b(digest_size=16)
        while piece := content.read(1 << 20):
            hashed.update(piece)
    return hashed.hexdigest()
