"""What the branches bring back: queries that ran, their rows, passages, and where each came from."""

from dataclasses import dataclass
from typing import Literal

from nacre.records.plan import Plan

Cell = str | int | float | bool | None
AnswerForm = Literal["names", "number", "date", "yes_no", "table", "text", "prose"]


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
class JoinedTexts:
    """What joins facts of a graph and sentences of texts: `question` is the turn's with a thing's name (`label`) in the
    place of the words that describe it, `chance` the probability that it is the thing they describe. Evidence that is
    the `basis` says that it is; other evidence answers `question`."""

    question: str
    label: str
    chance: float
    basis: bool = False


@dataclass(frozen=True)
class Rows:
    """Rows that one branch found in one round.

    `query` gave them (None for a comparison, which is put together from many facts), `beside` are further queries that
    they were computed from; `reading` is the index of the understanding's reading that they answer, None where a model
    wrote the query, and `words` says what was read. `text` shows the first rows, `keys` are the IRIs behind them all.
    `probability` is the chance that they answer the question, after they were seen; `confirmed` rows were found in
    another way as well; rows from a text have the place of their first sentence. `triples` are looked up when they are
    cited; `basis` then says what a citation rests on. `plan` is that of rows of no reading, where they have one.
    """

    branch: str
    round: int
    table: Table
    text: str = ""
    title: str = ""
    words: str = ""
    reading: int | None = None
    query: Query | None = None
    beside: tuple[Query, ...] = ()
    keys: tuple[str, ...] = ()
    triples: tuple[tuple[str, str, str], ...] = ()
    basis: str = ""
    confirmed: bool = False
    probability: float | None = None
    document: str | None = None
    start: int = 0
    end: int = 0
    plan: Plan | None = None
    joined: JoinedTexts | None = None
    kind: Literal["table"] = "table"


@dataclass(frozen=True)
class EvidenceSentence:
    """A sentence that one branch found in one round: made from `triples`, or standing in `document` from `start` to
    `end`. `title` is what its passage is about, `score` orders sentences within a branch only."""

    branch: str
    round: int
    text: str
    title: str = ""
    score: float = 0.0
    keys: tuple[str, ...] = ()
    triples: tuple[tuple[str, str, str], ...] = ()
    document: str | None = None
    start: int = 0
    end: int = 0
    basis: str = ""
    joined: JoinedTexts | None = None
    kind: Literal["sentence"] = "sentence"


# told apart by `kind` where they are read back
Evidence = Rows | EvidenceSentence


@dataclass(frozen=True)
class BranchResult:
    """What one branch returns for one round: evidence, the queries it tried, and why it failed, if it did.

    `wants` is what kind of answer a model reads the question as, `missing` what it says that the graph lacks, `outcome`
    what running its queries gave beside the rules' rows ("" where it wrote none); its own rows then come first.
    """

    branch: str
    evidence: tuple[Evidence, ...] = ()
    queries: tuple[Query, ...] = ()
    error: QueryError | None = None
    by: str = "rules"
    wants: AnswerForm | None = None
    missing: str = ""
    outcome: str = ""

    @property
    def rows(self) -> tuple[Rows, ...]:
        """The rows among its evidence."""
        return tuple(each for each in self.evidence if isinstance(each, Rows))
