"""What the branches bring back: queries that ran, their rows, passages, and where each came from."""

from dataclasses import dataclass, field
from typing import Literal

Cell = str | int | float | bool | None
Wants = Literal["names", "number", "date", "yes_no", "table", "text", "prose"]


@dataclass(frozen=True)
class QueryError:
    kind: str
    message: str


@dataclass(frozen=True)
class Query:
    """One query that was tried. `tool` is its branch, `words` its meaning in English, `by` the mind that wrote it."""

    tool: str
    round: int
    text: str
    words: str = ""
    params: tuple[Cell, ...] = ()
    rows: int = 0
    truncated: bool = False
    error: QueryError | None = None
    seconds: float = 0.0
    by: Literal["rules", "model"] = "rules"


@dataclass(frozen=True)
class Table:
    """Rows that answer. `keys` are the IRIs each row came from (same length as `rows`).

    `units` has one entry a column ("" where none); `contributing` counts the things behind an aggregate; `measured` has
    for each row what places it, where the highest or lowest was asked for and the rows do not show it."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    keys: tuple[tuple[str, ...], ...] = ()
    units: tuple[str, ...] = ()
    contributing: int | None = None
    truncated: bool = False
    measured: tuple[Cell, ...] = ()
    measured_name: str = ""
    measured_unit: str = ""


@dataclass(frozen=True)
class Evidence:
    """One thing found by one branch in one round.

    `kind` "table": rows of `query` (its index in the turn's queries is found by identity of text and round), with the
    plan's reading in `words`; "sentence": `text` with its triple, or its place in a document. `score` orders evidence
    within a branch only; `reading` is the index of the understanding's reading it answers, if any. `beside` are further
    queries that the rows were computed from. `triples` of rows are looked up when they are cited; `basis` then says
    what a citation rests on. `probability` is the chance that rows answer the question, after they were seen;
    `confirmed` rows were found in another way as well.
    """

    branch: str
    round: int
    kind: Literal["table", "sentence"]
    text: str = ""
    title: str = ""
    score: float = 0.0
    reading: int | None = None
    query: Query | None = None
    beside: tuple[Query, ...] = ()
    table: Table | None = None
    words: str = ""
    keys: tuple[str, ...] = ()
    triples: tuple[tuple[str, str, str], ...] = ()
    document: str | None = None
    start: int = 0
    end: int = 0
    basis: str = ""
    confirmed: bool = False
    probability: float | None = None


@dataclass(frozen=True)
class Found:
    """What one branch returns for one round: evidence, the queries it tried, and why it failed, if it did.

    `wants` is what kind of answer a model reads the question as, `missing` what it says that the graph lacks, `outcome`
    what running its queries gave beside the rules' rows ("" where it wrote none); its own rows then come first.
    """

    branch: str
    evidence: tuple[Evidence, ...] = ()
    queries: tuple[Query, ...] = ()
    error: QueryError | None = None
    by: str = "rules"
    wants: Wants | None = None
    missing: str = ""
    outcome: str = ""


@dataclass(frozen=True)
class Ledger:
    """What a fuser says, before the gate: sentences with the evidence each rests on."""

    sentences: tuple[tuple[str, tuple[int, ...]], ...] = field(default=())
