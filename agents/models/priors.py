"""How often queries of a model are right: size of the model + what running them gave -> a probability, from counts."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from nacre.errors import ConfigError

Size = Literal["small", "large", "unknown"]
# what running a query gave beside the rows of the rules' likely readings, or of a second query
Outcome = Literal["agreed", "alone", "disputed", "doubted", "empty"]
OUTCOMES: tuple[Outcome, ...] = ("agreed", "alone", "disputed", "doubted", "empty")
Counts = Mapping[str, tuple[int, int]]

FILE = Path(__file__).with_name("priors.json")
CALIBRATION_FILE = "calibration.json"
# where FILE has, beside the outcomes, how many readings of rewordings were right, and how many the rules expected to be
REWORDED = "reworded"
# billions of parameters up to which a model is a small one (given)
SMALL = 4.0
# how many questions the share of the whole size counts for, beside those of one outcome (given)
WEIGHT = 20.0
# how often two that are wrong give the same rows (given)
COINCIDENCE = 0.2
_PARAMETERS = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)b(?![a-z])", re.IGNORECASE)


@dataclass(frozen=True)
class Priors:
    """(right, asked) by outcome; `size` is what the model counts as where its name or a setting tells; `faithful` how
    often it says a question rightly in other words, None where it is not asked to."""

    size: Size
    counts: Counts
    faithful: float | None = None

    @property
    def before(self) -> float:
        """The chance that its query is right, before there is one."""
        right = sum(r for r, _ in self.counts.values())
        asked = sum(n for _, n in self.counts.values())
        return (right + 1) / (asked + 2)

    def after(self, outcome: Outcome, reading: float | None = None) -> float:
        """The chance that its rows are right, after they were seen beside those of a reading with this chance.

        Counts of one outcome lean on what Bayes says of it, and without a reading on those of all outcomes.

        >>> large = Priors("large", {"alone": (8, 8)})
        >>> round(large.after("agreed", 0.6), 2), round(large.after("disputed", 0.6), 2)
        (0.99, 0.78)
        """
        right, asked = self.counts.get(outcome, (0, 0))
        expected = self.before
        if reading is not None and outcome == "agreed":
            expected = after_agreement(self.before, reading, COINCIDENCE)
        elif reading is not None and outcome == "disputed":
            expected = after_dispute(self.before, reading)
        return (right + WEIGHT * expected) / (asked + WEIGHT)

    def against(self, reading: float) -> float:
        """The chance of a reading's rows once a query gave others: one of the two is wrong at least.

        >>> round(Priors("large", {"alone": (8, 8)}).against(0.6), 2)
        0.13
        """
        return after_dispute(reading, self.before)


def after_agreement(own: float, other: float, coincidence: float = 1.0) -> float:
    """The chance of rows once the same were found in another way; `coincidence` is how often two that are wrong give
    the same, beside how often two that are right do.

    >>> round(after_agreement(0.7, 0.6), 2), round(after_agreement(0.7, 0.6, 0.2), 2)
    (0.78, 0.95)
    """
    both, neither = own * other, (1 - own) * (1 - other) * coincidence
    return both / (both + neither)


def after_dispute(own: float, other: float) -> float:
    """The chance of rows once others were found that differ from them: one of the two is wrong at least.

    >>> round(after_dispute(0.8, 0.5), 2), round(after_dispute(0.5, 0.8), 2)
    (0.67, 0.17)
    """
    return own * (1 - other) / (1 - own * other)


def model_size_class(model: str, *, own_server: bool = False) -> Size:
    """The size class of a model by its name, as it was set.

    >>> model_size_class("ollama:qwen2.5-coder:1.5b"), model_size_class("ollama:llama3.3:70b"), model_size_class("openai:gpt-x")
    ('small', 'large', 'large')
    >>> model_size_class("openai:any-name", own_server=True)
    'unknown'
    """
    found = _PARAMETERS.search(model)
    if found:
        return "small" if float(found[1]) <= SMALL else "large"
    return "unknown" if own_server else "large"


def model_priors(size: Size, measured: Counts | None = None) -> Priors:
    """Those of one's own questions, where they were measured, else those of the size class."""
    shipped = dict(_shipped()[size])
    right, expected = shipped.pop(REWORDED, (0, 0))
    faithful = (right + 1) / (expected + 2) if expected else None
    return Priors(size, measured if measured is not None else shipped, faithful)


def calibrated_counts(data: Path, model: str) -> Counts | None:
    """What `nacre calibrate` counted for a model in a data folder; None where it did not."""
    try:
        kept = json.loads((data / CALIBRATION_FILE).read_text("utf-8"))
        return {name: (int(right), int(asked)) for name, (right, asked) in kept[model].items()}
    except (OSError, KeyError):
        return None
    except (ValueError, TypeError, AttributeError) as error:
        raise ConfigError(f"Can't read {data / CALIBRATION_FILE}: {error}. Run: nacre calibrate QUESTIONS") from error


def save_counts(data: Path, model: str, counts: Counts) -> None:
    """Keep what was counted, beside what was counted for other models."""
    file = data / CALIBRATION_FILE
    kept = json.loads(file.read_text("utf-8")) if file.exists() else {}
    kept[model] = {name: list(pair) for name, pair in sorted(counts.items())}
    new = file.with_suffix(".new")
    new.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", "utf-8")
    new.replace(file)


@cache
def _shipped() -> dict[str, Counts]:
    data = json.loads(FILE.read_text("utf-8"))
    return {size: {name: (right, asked) for name, (right, asked) in data[size].items()} for size in data}
