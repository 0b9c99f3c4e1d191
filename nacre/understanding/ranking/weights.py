"""The learned numbers of the parser, from one data file: weights.json -> Weights."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

WEIGHTS_FILE = Path(__file__).with_name("weights.json")


@dataclass(frozen=True)
class Weights:
    """Linear models over named features, and thresholds.

    `features` orders readings; `before` is the log-odds that the rows of a reading are right, before it runs; `choice`
    orders the readings that were run; `after` is the log-odds for the one that was chosen. At `threshold` (after
    running; `threshold_before` before) the share `right` of the answers was right out of fold. `levels` holds other
    such thresholds after running: share wanted, threshold, share of questions above it, share of these that were right.
    `offered` is the least share of the belief with which another reading is offered; `likeness` weighs how like a
    question the first readings are in words.
    """

    features: Mapping[str, float]
    before: Mapping[str, float]
    choice: Mapping[str, float]
    after: Mapping[str, float]
    threshold: float
    threshold_before: float
    right: float
    offered: float
    likeness: float
    levels: Sequence[Sequence[float]] = ()


@cache
def load_weights() -> Weights:
    """The weights of the file, read once; made by `python -m nacre.evaluation.learning.parser_weights`."""
    return Weights(**json.loads(WEIGHTS_FILE.read_text(encoding="utf-8")))
