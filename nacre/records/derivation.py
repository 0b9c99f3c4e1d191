"""How an answer came about, step by step, as the record shows it (the agents of Chatty-KG, sections 4 and 5)."""

from typing import Literal

from typing_extensions import TypedDict


class Assertion(TypedDict):
    """What must hold of the triples of a question, and whether it does."""

    says: str
    holds: bool


class MatchCandidate(TypedDict):
    """A thing, class, value or predicate that words may mean: how well its name fits (0..1), and how near in meaning
    it is (-1..1), null where nothing was embedded."""

    iri: str
    label: str
    score: float
    similarity: float | None


class MentionMatch(TypedDict):
    """Words of the question with what they may mean, the best first. `chosen` is what the reading takes them for, ""
    for a description; `valid`: it is one of the candidates."""

    text: str
    kind: Literal["entity", "class", "predicate", "value", "number"]
    chosen: str
    valid: bool
    candidates: list[MatchCandidate]


class SelectedReading(TypedDict):
    """A reading that was asked as a query; `queries` are the numbers of those that asked it. `probability` is the
    chance that its rows are right, before it was run."""

    words: str
    probability: float | None
    queries: list[int]


class PlannedReadings(TypedDict):
    """Of so many readings the likeliest were `kept`, and those `selected` were run."""

    considered: int
    kept: int
    selected: list[SelectedReading]


class QueryCheck(TypedDict):
    """What the check of a query said before it ran: `query` is its number."""

    query: int
    verdict: Literal["passed", "repaired", "refused"]
    why: str


class DerivationLimits(TypedDict):
    """What was set: retries (theta), things looked up (v_limit), readings considered (query_num; 0 where a graph is
    not attached) and run, and things of an answer that later turns know."""

    rounds: int
    things: int
    considered: int
    run: int
    remembered: int


class AnswerDerivation(TypedDict):
    """`triples` are those of the question, unknowns beginning with "?", as the query that answered asks for them;
    `depends` and `sure` are what the classifier of follow-ups says, `multi_turn` whether it was asked; `language` is
    what the query was written in, "" where the triples are those of a reading that gave no answer."""

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
    """The derivation of a turn that did not begin."""
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
