"""Print what is understood of the first questions of every graph, as JSON, one line a question.

    python -m tests.support.print_readings FOLDER

A process of its own for each run: what depends on the order of a set differs between two of them.
"""

import json
import sys
from pathlib import Path

import yaml

from nacre.records.json_form import to_json
from nacre.records.turn import Rewrite
from nacre.understanding.understand import understand
from tests.support.small_graphs import FIXTURES, NAMES, opened

OF_EACH = 5


def main(folder: Path) -> None:
    """Open every graph in the folder, and ask."""
    for name in NAMES:
        (folder / name).mkdir()
        tables, lexicon = opened(name, folder / name)
        cases = yaml.safe_load((FIXTURES / f"questions/{name}.yaml").read_text(encoding="utf-8"))
        for case in cases[:: max(1, len(cases) // OF_EACH)]:
            found = understand(Rewrite(case["ask"]), tables.schema, lexicon)
            sys.stdout.write(json.dumps([name, to_json(found)]) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
