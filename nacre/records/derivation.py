"""How an answer was derived, step by step, as the answer record shows it (agents of Chatty-KG, sections 4 and 5)."""

from typing import Literal

from typing_extensions import TypedDict


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


class AnswerDerivation(TypedDict):
    """The steps of one answer. `triples` are those of the question as the answering query has them; variables begin
    with "?". `depends` and `sure` are the output of the follow-up classifier, `multi_turn` whether it ran. `language`
    is the query language, "" if the triples are those of a reading that gave no answer."""

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
    )
