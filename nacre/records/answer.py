"""The answer record: what `ask --json`, `eval`, LangServe and the HTTP API give, one shape for all."""

from typing import Literal

from typing_extensions import TypedDict

from nacre.records.derivation import AnswerDerivation

Status = Literal["answered", "partial", "not_in_graph", "not_understood", "failed", "clarify"]
Value = str | int | float | bool


class Option(TypedDict):
    n: int
    words: str


class ErrorRecord(TypedDict):
    kind: str
    message: str


class QueryRecord(TypedDict):
    i: int
    tool: str
    round: int
    text: str
    params: list[Value | None]
    words: str
    rows: int
    truncated: bool
    error: ErrorRecord | None
    seconds: float
    by: str


class Place(TypedDict):
    document: str
    start: int
    end: int


class Citation(TypedDict):
    """One [n]. `rows` are the first 50 of its table, `contributing` counts the things behind an aggregate, `queries`
    are all that the rows were computed from, `basis` says in words what the citation rests on."""

    n: int
    tool: str
    source: str
    text: str
    query: int | None
    keys: list[str]
    triples: list[list[str]]
    place: Place | None
    columns: list[str]
    units: list[str]
    rows: list[list[Value | None]]
    contributing: int | None
    queries: list[int]
    basis: str


class Cost(TypedDict):
    """What models took; `price` is in US dollars, null where a price or a count of tokens is unknown."""

    llm_calls: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    price: float | None


class TableRecord(TypedDict):
    """An answer of several columns: their headings with units, and its rows."""

    columns: list[str]
    rows: list[list[Value | None]]


class Answer(TypedDict):
    """Later work adds fields and never changes one. `confidence` is the probability that `values` are right, null where
    nothing was weighed. `standalone_own` is the standalone question in the `language` that
    it was asked in; `conversation` is what the models of this and all earlier turns took, `derivation` how the answer
    came about, step by step."""

    id: str
    graph: str
    version: str
    thread: str | None
    turn: int
    question: str
    standalone: str
    answer: str
    values: list[Value]
    table: TableRecord | None
    unit: str | None
    status: Status
    confidence: float | None
    reason: str | None
    options: list[Option]
    caveats: list[str]
    strategy: str
    rounds: int
    enabled: list[str]
    visited: list[str]
    unavailable: dict[str, str]
    by: dict[str, str]
    queries: list[QueryRecord]
    citations: list[Citation]
    unsupported: int
    seconds: float
    first_token_seconds: float | None
    llm_calls: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    price: float | None
    language: str
    standalone_own: str
    conversation: Cost
    derivation: AnswerDerivation
