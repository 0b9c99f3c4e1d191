"""How often queries of a model are right: size of the model + outcome of running them -> a probability, from counts.
Then limits, size, name and priors of models by the settings, and a cache of their answers in a SQLite file."""

import hashlib
import json
import os
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from langchain_core.caches import BaseCache
from langchain_core.outputs import Generation

from agents.model_calls import Limits, StructuredOutput
from nacre.config.models import is_own_server, own_provider, price_of, prices
from nacre.config.settings import Settings
from nacre.errors import ConfigError

Size = Literal["small", "large", "unknown"]

# the rows of a query compared with those of likely readings, or of a second query
Outcome = Literal["agreed", "alone", "disputed", "doubted", "empty"]

OUTCOMES: tuple[Outcome, ...] = ("agreed", "alone", "disputed", "doubted", "empty")

Counts = Mapping[str, tuple[int, int]]

FILE = Path(__file__).with_name("priors.json")

CALIBRATION_FILE = "calibration.json"

# key in FILE: how many readings of rewordings were right, and how many the rules expected to be
REWORDED = "reworded"

# billions of parameters up to which a model is small (given)
SMALL = 4.0

# how often the queries of a model that nothing is known of must be right, so that it counts as more than small (given)
LEAST_MEASURED = 0.7

# how many of its queries must have been counted for that (given)
LEAST_COUNTED = 10

# number of questions that the prior weighs against the counts of one outcome (given)
WEIGHT = 20.0

# how often two wrong queries give the same rows (given)
COINCIDENCE = 0.2

_PARAMETERS = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)b(?![a-z])", re.IGNORECASE)


@dataclass(frozen=True)
class Priors:
    """Counts of (right, asked) by outcome for a model of a size; `faithful`: share of right rewordings, or None."""

    size: Size
    counts: Counts
    faithful: float | None = None

    @property
    def before(self) -> float:
        """The probability that its query is right, before there is one."""
        right = sum(r for r, _ in self.counts.values())
        asked = sum(n for _, n in self.counts.values())
        return (right + 1) / (asked + 2)

    def after(self, outcome: Outcome, reading: float | None = None) -> float:
        """The probability that its rows are right, given their outcome beside the rows of a reading of this
        probability: counts smoothed by Bayes' rule, without a reading by the counts of all outcomes.

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
        """The probability of a reading's rows after a query gave others: at least one of the two is wrong.

        >>> round(Priors("large", {"alone": (8, 8)}).against(0.6), 2)
        0.13
        """
        return after_dispute(reading, self.before)


def after_agreement(own: float, other: float, coincidence: float = 1.0) -> float:
    """The probability of rows after the same rows were found in another way; `coincidence` is how often two wrong ways
    give the same rows, relative to two right ones.

    >>> round(after_agreement(0.7, 0.6), 2), round(after_agreement(0.7, 0.6, 0.2), 2)
    (0.78, 0.95)
    """
    both, neither = own * other, (1 - own) * (1 - other) * coincidence
    return both / (both + neither)


def after_dispute(own: float, other: float) -> float:
    """The probability of rows after different rows were found: at least one of the two is wrong.

    >>> round(after_dispute(0.8, 0.5), 2), round(after_dispute(0.5, 0.8), 2)
    (0.67, 0.17)
    """
    return own * (1 - other) / (1 - own * other)


def model_size_class(model: str, *, own_server: bool = False, measured: bool = False) -> Size:
    """The size class of a model by its configured name: by its parameters, else by the table of prices. Without either,
    or on an own server, which may call it anything, it counts as small unless it was `measured` as good."""
    parameters = _PARAMETERS.search(model)
    if parameters:
        return "small" if float(parameters[1]) <= SMALL else "large"
    if price_of(model, prices()) is not None and not own_server:
        return "large"
    return "unknown" if measured else "small"


def model_priors(size: Size, measured: Counts | None = None) -> Priors:
    """The priors from measured counts, else those of the size class."""
    shipped = dict(_shipped_counts()[size])
    right, expected = shipped.pop(REWORDED, (0, 0))
    faithful = (right + 1) / (expected + 2) if expected else None
    return Priors(size, measured if measured is not None else shipped, faithful)


def calibrated_counts(data: Path, model: str) -> Counts | None:
    """The counts of `nacre calibrate` for a model in a data folder; None if there are none."""
    try:
        counts = json.loads((data / CALIBRATION_FILE).read_text("utf-8"))
        return {name: (int(right), int(asked)) for name, (right, asked) in counts[model].items()}
    except (OSError, KeyError):
        return None
    except (ValueError, TypeError, AttributeError) as error:
        raise ConfigError(f"Can't read {data / CALIBRATION_FILE}: {error}. Run: nacre calibrate QUESTIONS") from error


def save_counts(data: Path, model: str, counts: Counts) -> None:
    """Save the counts beside those of other models."""
    file = data / CALIBRATION_FILE
    saved = json.loads(file.read_text("utf-8")) if file.exists() else {}
    saved[model] = {name: list(pair) for name, pair in sorted(counts.items())}
    new = file.with_suffix(".new")
    new.write_text(json.dumps(saved, indent=1, sort_keys=True) + "\n", "utf-8")
    new.replace(file)


@cache
def _shipped_counts() -> dict[str, Counts]:
    data = json.loads(FILE.read_text("utf-8"))
    return {size: {name: (right, asked) for name, (right, asked) in data[size].items()} for size in data}


# tokens of schema and of evidence that a model is shown if no setting says (given)
SMALL_SCHEMA, LARGE_SCHEMA = 1500, 2200

SMALL_EVIDENCE, LARGE_EVIDENCE = 350, 2500


def model_limits(settings: Settings) -> Limits:
    """The limits of model calls. A small model is shown less of the schema and of the evidence."""
    is_small = query_model_size(settings) == "small"
    tokens = settings.schema_tokens or (SMALL_SCHEMA if is_small else LARGE_SCHEMA)
    evidence = settings.evidence_tokens or (SMALL_EVIDENCE if is_small else LARGE_EVIDENCE)
    return Limits(
        seconds=settings.model_seconds,
        retries=settings.model_retries,
        evidence_tokens=evidence,
        schema_tokens=tokens,
        busy_retries=settings.busy_retries,
        exchanges=settings.max_rounds,
        cache=ModelReplies(settings.model_cache) if settings.model_cache else None,
        output=StructuredOutput(settings.model_output),
    )


def query_model_size(settings: Settings) -> Size:
    """The size class of the model that writes queries."""
    if settings.model_size is not None:
        return settings.model_size
    counts = calibrated_counts(settings.data, query_model_name(settings)) or {}
    is_counted = sum(asked for _, asked in counts.values()) >= LEAST_COUNTED
    return _named_size(settings, measured=is_counted and Priors("unknown", counts).before >= LEAST_MEASURED)


def is_unmeasured(settings: Settings) -> bool:
    """Whether nothing tells how good the model is: it counts as small until it is measured."""
    if not settings.model or settings.model_size is not None or measured_size(settings) != "unknown":
        return False
    return calibrated_counts(settings.data, query_model_name(settings)) is None


def model_worth(settings: Settings) -> str:
    """How good the model was measured to be: "it answers 12 of 30; the rules lead".
    "" if its name tells and nothing was counted."""
    if not settings.model:
        return ""
    if is_unmeasured(settings):
        return "it was not measured yet; the rules lead"
    counts = calibrated_counts(settings.data, query_model_name(settings))
    if not counts:
        return ""
    right, asked = (sum(pair[place] for pair in counts.values()) for place in (0, 1))
    return f"it answers {right} of {asked}" + ("; the rules lead" if query_model_size(settings) == "small" else "")


def measured_size(settings: Settings) -> Size:
    """The size class of that model while, and after, it is measured."""
    return settings.model_size or _named_size(settings, measured=True)


def _named_size(settings: Settings, *, measured: bool) -> Size:
    return model_size_class(query_model_name(settings), own_server=is_own_server(settings), measured=measured)


def query_model_name(settings: Settings) -> str:
    """The name of the model that writes queries; of a local model the name of its file."""
    name = settings.model_sql or settings.model or ""
    if (own := own_provider(name)) is None:
        return name
    try:
        return own.label(settings, name)
    except ValueError:
        # the missing file is reported when the model is opened
        return name


def query_priors(settings: Settings) -> Priors:
    """How often that model's queries are right, as `nacre calibrate` measured it; else the priors of its size class."""
    return model_priors(query_model_size(settings), calibrated_counts(settings.data, query_model_name(settings)))


MAX_REPLIES = 20_000

BUSY_SECONDS = 1.0

LAYOUT = "CREATE TABLE IF NOT EXISTS reply (key BLOB PRIMARY KEY, text TEXT NOT NULL)"


class ModelReplies(BaseCache):
    """At most `most` answers, the oldest are removed first; prompts are stored as hashes. Methods raise
    sqlite3.Error."""

    def __init__(self, path: Path, most: int = MAX_REPLIES) -> None:
        self._path = path
        self._most = most

    def lookup(self, prompt: str, llm_string: str) -> Sequence[Generation] | None:
        with self._connect() as db:
            found = db.execute("SELECT text FROM reply WHERE key = ?", [_key(prompt, llm_string)]).fetchone()
        return [Generation(text=found[0])] if found else None

    def update(self, prompt: str, llm_string: str, return_val: Sequence[Generation]) -> None:
        with self._connect() as db, db:
            db.execute("INSERT OR REPLACE INTO reply VALUES (?, ?)", [_key(prompt, llm_string), return_val[0].text])
            db.execute("DELETE FROM reply WHERE rowid <= (SELECT max(rowid) FROM reply) - ?", [self._most])

    def clear(self, **kwargs: Any) -> None:
        with self._connect() as db, db:
            db.execute("DELETE FROM reply")

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        # a new connection each time: threads share the cache, and a model call takes a thousand times longer
        with suppress(OSError):
            # if the folder can't be created, SQLite reports it
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # prompts and replies quote the graph: only the owner reads them; SQLite would create the file for all
            os.close(os.open(self._path, os.O_CREAT, 0o600))
            self._path.chmod(0o600)
        with closing(sqlite3.connect(self._path, timeout=BUSY_SECONDS)) as db:
            db.execute(LAYOUT)
            yield db


def _key(prompt: str, llm_string: str) -> bytes:
    return hashlib.sha256(f"{llm_string}\0{prompt}".encode(errors="replace")).digest()
