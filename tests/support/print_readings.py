"""Print what is understood of the first questions of every graph, as JSON, one line a question.

    python -m tests.support.print_readings FOLDER

A process of its own for each run: what depends on the order of a set differs between two of them.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from nacre.records.json_form import to_json
from nacre.records.turn import Rewrite
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.stores.sqlite.tables import Tables
from nacre.understanding.understand import understand
from tests.support.read_yaml import read_yaml
from tests.support.small_graphs import FIXTURES, NAMES, opened

OF_EACH = 2


def main(folder: Path) -> None:
    """Print a line for each question."""
    for line in all_readings(folder):
        sys.stdout.write(f"{line}\n")


def all_readings(folder: Path) -> Iterator[str]:
    """What is understood of the first questions of every graph, which is written into the folder."""
    for name in NAMES:
        (folder / name).mkdir(parents=True)
        yield from _readings(name, *opened(name, folder / name))


def _readings(name: str, tables: Tables, lexicon: Lexicon) -> Iterator[str]:
    """What is understood of the first questions of a graph."""
    cases = read_yaml(FIXTURES / f"questions/{name}.yaml")
    for case in cases[:: max(1, len(cases) // OF_EACH)]:
        yield json.dumps([name, to_json(understand(Rewrite(case["ask"]), tables.schema, lexicon))])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
