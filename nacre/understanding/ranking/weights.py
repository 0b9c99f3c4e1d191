"""The learned weights and thresholds of the parser: weights.json -> Weights."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

WEIGHTS_FILE = Path(__file__).with_name("weights.json")


@dataclass(frozen=True)
class Weights:
    """Linear models over named features, and thresholds.

    `features` ranks readings. `before` gives the log-odds that the rows of a reading are right, before it runs.
    `choice` chooses among the readings that ran, and `after` gives the log-odds for the chosen one. Of the answers with
    a probability over `threshold` (after running; `threshold_before` before) the share `right` was right, out of fold.
    If the likeliest reading looks up a property of a named thing and gives nothing, other readings answer only if they
    have at least the share `unstated` of its belief. Rows that leave words out are refused below `refused`.
    `levels` are further thresholds after running: wanted share, threshold, share of questions above it, share of these
    that were right. `offered` is the minimum share of the belief of an offered reading. `likeness` is the weight of the
    similarity of a reading with the question.
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
    unstated: float
    refused: float
    levels: Sequence[Sequence[float]] = ()


@cache
def load_weights() -> Weights:
    """The weights, read once. `python -m nacre.evaluation.learn` writes the file."""
    return Weights(**json.loads(WEIGHTS_FILE.read_text(encoding="utf-8")))
