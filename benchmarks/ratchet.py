"""Figures that may only go down: measured figures and a file -> what rose, what fell, and the file written again.

The file has for each figure `most` and the `reason` of its last rise.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple


class Compared(NamedTuple):
    """The figures that rose or are new, and those that fell or are gone, each as a line of text."""

    risen: dict[str, str]
    fallen: dict[str, str]


def read_figures(file: Path) -> dict[str, float]:
    """The figures in a file; none if there is no file."""
    entries = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return {name: entry["most"] for name, entry in entries.items()}


def compare(measured: Mapping[str, float], file: Path, tolerances: Mapping[str, float] | None = None) -> Compared:
    """Measured figures against those in the file; a tolerance is the share that a figure may differ in both ways."""
    known, compared = read_figures(file), Compared({}, {})
    for name, figure in measured.items():
        tolerance = (tolerances or {}).get(name, 0.0)
        if name not in known or figure > known[name] * (1 + tolerance):
            compared.risen[name] = f"{name}: {known.get(name, 0):,} -> {figure:,}"
        elif figure < known[name] * (1 - tolerance):
            compared.fallen[name] = f"{name}: {known[name]:,} -> {figure:,}"
    compared.fallen.update({name: f"{name}: {known[name]:,} -> gone" for name in known.keys() - measured.keys()})
    return compared


def settle(compared: Compared, measured: Mapping[str, float], file: Path, command: str, because: str | None) -> int:
    """Print what rose and fell and return the exit code. With a reason, or "" for none, write the file: a rise needs a
    reason."""
    for word, changed in (("ABOVE", compared.risen), ("below", compared.fallen)):
        for line in changed.values():
            print(f"{word} the figure in {file.name}: {line}")
    if because is None:
        if compared.risen or compared.fallen:
            reason = ' --because "REASON"' if compared.risen else ""
            print(f"To write the new figures, run: {command} --write{reason}")
        return 1 if compared.risen else 0
    if compared.risen and not because.strip():
        print(f'A figure rose, so nothing was written. Say why: {command} --write --because "REASON"')
        return 1
    entries = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    written = {}
    for name, figure in measured.items():
        entry = entries.get(name, {"most": figure, "reason": ""})
        if name in compared.risen or name in compared.fallen:
            entry = {"most": figure, "reason": because if name in compared.risen else entry["reason"]}
        written[name] = entry
    lines = [f"  {json.dumps(name)}: {json.dumps(entry, ensure_ascii=False)}" for name, entry in written.items()]
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{file.name} was written.")
    return 0
