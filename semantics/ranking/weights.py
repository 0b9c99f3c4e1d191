"""The learned numbers of the parser, from one data file: weights.json -> Weights."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("weights.json")


@dataclass(frozen=True)
class Weights:
    """`features` order readings; `before` and `after` are logistic models of "its rows are right", before and after
    running; `threshold` is the probability after running at which `right` of the answers were right out of fold."""

    features: Mapping[str, float]
    before: Mapping[str, float]
    after: Mapping[str, float]
    threshold: float
    threshold_before: float
    right: float


@cache
def weights() -> Weights:
    """The weights of the file, read once; made by `python -m evaluation.learn`."""
    return Weights(**json.loads(FILE.read_text(encoding="utf-8")))
