"""The pairs of fixtures/understanding as parameters of a test; what does not hold yet says why under `open`."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.read_yaml import read_yaml

FOLDER = Path(__file__).parents[1] / "fixtures" / "understanding"


def pairs(name: str) -> list[Any]:
    """One parameter a pair of a file; a mark that is no longer true fails."""
    found = []
    for case in read_yaml(FOLDER / f"{name}.yaml"):
        reason = case.get("open")
        marks = [pytest.mark.xfail(reason=reason, strict=True, raises=AssertionError)] if reason else []
        found.append(pytest.param(case, marks=marks, id=": ".join(case[k] for k in ("graph", "ask") if k in case)))
    return found
