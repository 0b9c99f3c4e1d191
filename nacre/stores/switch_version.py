"""Make a finished version the current one, in one step: folder -> its place; pointer -> NAME/current."""

import json
import os
from dataclasses import asdict
from pathlib import Path

from nacre.stores.versions import CURRENT, Pointer


def switch_version(home: Path, pointer: Pointer) -> None:
    """Switch the readers. The caller is the graph's only writer. Raises OSError."""
    aside = home / f".{CURRENT}"
    aside.write_text(json.dumps(asdict(pointer)) + "\n", encoding="utf-8")
    _flush(aside)
    os.replace(aside, home / CURRENT)
    _flush(home)


def flush_and_rename(folder: Path, place: Path) -> None:
    """Write all files of a folder to disk, then give it its place."""
    for here, _, files in os.walk(folder):
        for file in files:
            _flush(Path(here) / file)
        _flush(Path(here))
    os.rename(folder, place)
    _flush(place.parent)


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
