"""The answer record of `ask --json`, `eval`, LangServe and the HTTP API, and its derivation (Chatty-KG, 4 and 5)."""

from typing import Any, Literal, NamedTuple, NotRequired

from typing_extensions import TypedDict

Status = Literal["answered", "partial", "not_in_graph", "not_understood", "failed", "clarify"]

Value = str | int | float | bool

# how an answer is shown by the page: as the question says ("shares": as a pie), or "" as its rows allow
Display = Literal["", "table", "chart", "shares", "map"]


class Option(TypedDict):
    n: int
    words: str


class ErrorRecord(TypedDict):
    kind: str
    message: str


class QueryRecord(TypedDict):
    """One query that was tried. `portable` is the query of the branch `sparql` for any endpoint with the data as it was
    read; other queries have none."""

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
    portable: NotRequired[str]


class Place(TypedDict):
    document: str
    start: int
    end: int


class Citation(TypedDict):
    """One [n]. `rows` are the first 50 of its table, `contributing` counts the things behind an aggregate, `queries`
    are all queries that the rows were computed from, `basis` describes the source in words."""

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
    """The use of models; `price` is in US dollars, null if a price or a count of tokens is unknown."""

    llm_calls: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    price: float | None


class TableRecord(TypedDict):
    """An answer of several columns: headings with units, and rows."""

    columns: list[str]
    rows: list[list[Value | None]]


class VerifiedRecord(TypedDict):
    """The verified question that an answer rests on: who confirmed it, and when (ISO time). It is the `same` question,
    or one of the `same shape`: its plan answers with the names of the question that was asked."""

    by: str
    at: str
    id: str
    question: str
    how: Literal["same", "same shape"]


class Assertion(TypedDict):
    """A condition on the triples of a question, and whether it holds."""

    says: str
    holds: bool


class MatchCandidate(TypedDict):
    """A thing, class, value or predicate that words may mean. `score` is the match of its name (0..1), `similarity` the
    cosine of the embeddings (-1..1), null without embeddings."""

    iri: str
    label: str
    score: float
    similarity: float | None


class MentionMatch(TypedDict):
    """Words of the question with their candidates, best first. `chosen` is what the reading links them to ("" for a
    description); `valid`: it is one of the candidates."""

    text: str
    kind: Literal["entity", "class", "predicate", "value", "number"]
    chosen: str
    valid: bool
    candidates: list[MatchCandidate]


class SelectedReading(TypedDict):
    """A reading that was run; `queries` are the numbers of its queries. `probability` is the chance that its rows are
    right, estimated before it ran."""

    words: str
    probability: float | None
    queries: list[int]


class PlannedReadings(TypedDict):
    """How many readings were considered and `kept` as the likeliest, and which were run (`selected`)."""

    considered: int
    kept: int
    selected: list[SelectedReading]


class QueryCheck(TypedDict):
    """The verdict of a query's check before it ran; `query` is its number."""

    query: int
    verdict: Literal["passed", "repaired", "refused"]
    why: str


class DerivationLimits(TypedDict):
    """The limits in force: retries (theta), things looked up (v_limit), readings considered (query_num; 0 if the graph
    is not attached) and run, and things of an answer that later turns remember."""

    rounds: int
    things: int
    considered: int
    run: int
    remembered: int


class ProofCheck(TypedDict):
    """One check of the reading whose rows answer (`understanding/ranking/proof`), and the point it fails at, or ""."""

    check: str
    passed: bool
    point: str


class AnswerDerivation(TypedDict):
    """The steps of one answer. `triples` are those of the question as the answering query has them; variables begin
    with "?". `depends` and `sure` are the output of the follow-up classifier, `multi_turn` whether it ran. `language`
    is the query language, "" if the triples are those of a reading that gave no answer. `proof` has the checks of the
    reading whose rows answer, none for other answers."""

    multi_turn: bool
    depends: bool
    sure: bool
    triples: list[list[str]]
    language: str
    assertions: list[Assertion]
    matches: list[MentionMatch]
    planned: PlannedReadings
    checked: list[QueryCheck]
    rounds: int
    bounds: DerivationLimits
    proof: list[ProofCheck]


class Answer(TypedDict):
    """One answer. Fields may be added, but never changed or removed. `confidence` is the probability that `values` are
    right, null if it was not estimated. `standalone_own` is the standalone question in the `language` of the user.
    `conversation` is the use of models in this and all earlier turns. `derivation` has the steps to the answer. `plan`
    is the JSON data of the plan whose rows answer, null if none did. `verified` is set if a person confirmed what
    answers this question, or a question of the same shape. `unclear` has words of the standalone question that nothing
    accounts for and that could be taught (`nacre layer teach`); none if the status is `answered`. `display` is how the
    question wants to see the answer. `things` has the IRI of the thing of each row that answers, at most 1,000; none if
    the rows are of no single things. `others` are readings that were run and give something else, as questions that may
    be asked instead; none if `options` offers them."""

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
    plan: dict[str, Any] | None
    verified: VerifiedRecord | None
    unclear: list[str]
    others: list[str]
    display: Display
    things: list[str]


def empty_derivation() -> AnswerDerivation:
    """The derivation of a turn that did not start."""
    return AnswerDerivation(
        multi_turn=False,
        depends=False,
        sure=True,
        triples=[],
        language="",
        assertions=[],
        matches=[],
        planned=PlannedReadings(considered=0, kept=0, selected=[]),
        checked=[],
        rounds=0,
        bounds=DerivationLimits(rounds=0, things=0, considered=0, run=0, remembered=0),
        proof=[],
    )


class QuestionLine(NamedTuple):
    """One line of a file of questions. `id` keeps its JSON type; what the line lacks is None."""

    id: Any
    question: str
    conversation: str | None = None
    turn: float | None = None
    graph: str | None = None


def failed_record(question: QuestionLine, thread: str, reason: str) -> Answer:
    """The record of a question that could not be asked."""
    return Answer(
        id=question.id,
        graph=question.graph or "",
        version="",
        thread=thread,
        turn=int(question.turn or 1),
        question=question.question,
        standalone=question.question,
        answer="",
        values=[],
        table=None,
        unit=None,
        display="",
        things=[],
        status="failed",
        confidence=None,
        reason=reason,
        options=[],
        caveats=[],
        strategy="",
        rounds=0,
        enabled=[],
        visited=[],
        unavailable={},
        by={},
        queries=[],
        citations=[],
        unsupported=0,
        seconds=0.0,
        first_token_seconds=None,
        llm_calls=0,
        input_tokens=0,
        cached_tokens=0,
        output_tokens=0,
        price=0.0,
        language="en",
        standalone_own=question.question,
        conversation=Cost(llm_calls=0, input_tokens=0, cached_tokens=0, output_tokens=0, price=0.0),
        derivation=empty_derivation(),
        plan=None,
        verified=None,
        unclear=[],
        others=[],
    )
