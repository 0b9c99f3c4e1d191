"""One turn of a conversation: what was said before, the standalone question, what was understood of it."""

from dataclasses import dataclass
from typing import Literal

from nacre.records.evidence import Evidence
from nacre.records.plan import Plan

# characters of a question (given)
LONGEST_QUESTION = 4000


@dataclass(frozen=True)
class Reading:
    """One way to understand the question. `covered` is the share of its content words the plan accounts for, 0..1.

    `probability` is the calibrated chance that its rows are right, before anything is run (None: not known); `unused`
    are the content words that it does not account for; `odds` is what is known, before running, of the log-odds after;
    `lost` is what the question bounds, negates or ranks by and the plan does nothing with.
    """

    plan: Plan
    score: float
    covered: float
    words: str
    probability: float | None = None
    unused: tuple[str, ...] = ()
    odds: float = 0.0
    lost: tuple[str, ...] = ()


@dataclass(frozen=True)
class EarlierTurn:
    """One earlier turn as later ones need it: its plan, at most 100 of its result's keys (IRIs) and labels, the
    other readings that it offered, in their order, what its answer cited, cut to a few rows, as of round 0, the
    reading that it asked to be confirmed, and the probability that it was right (None: not known)."""

    question: str
    standalone: str
    answer: str
    plan: Plan | None = None
    keys: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    options: tuple[Reading, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    confirm: Reading | None = None
    confidence: float | None = None


@dataclass(frozen=True)
class Scope:
    """What "it", "them" or "those" stand for: an earlier plan (its members) or the keys themselves.

    `how` says what is to become of the plan ("add" columns, "order" it ...), "" where the question is only about its
    things. `confidence` is the probability that the turn which gave the plan or the things was right. The things
    `besides` are left out of what is given.
    """

    plan: Plan | None = None
    keys: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    how: str = ""
    confidence: float = 1.0
    besides: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rewrite:
    """The question made to stand alone; `depends`: it needed the conversation, `sure`: that is clear.

    `standalone` is in English; `own` is the same in the `language` it was asked in, "" where it was not translated.
    `chosen` is the reading that was offered before and is now asked for by its number; `aside`: the turn asks about the
    conversation itself ("are you sure?").
    """

    standalone: str
    depends: bool = False
    scope: Scope | None = None
    sure: bool = True
    language: str = "en"
    own: str = ""
    chosen: Reading | None = None
    aside: bool = False


@dataclass(frozen=True)
class Mention:
    """A stretch of the question (character offsets) that names something of the graph."""

    text: str
    start: int
    end: int
    kind: Literal["entity", "class", "predicate", "value", "number"]
    target: str
    label: str
    score: float
    predicate: str = ""


ExpectedKind = Literal["entities", "number", "date", "boolean", "text", "prose"]


@dataclass(frozen=True)
class Understanding:
    """What was understood without a model: mentions, the best readings (best first), what kind of answer is expected,
    and `unknown`: content words that name nothing in this graph, each with the nearest name that is known or "".
    `candidates` are all that the words of the mentions may name, `considered` counts the readings that were ranked;
    `cut`: there was no time to look for more. No reading is likelier to be right than `most`, the probability that what
    it leans on of the conversation was right. `unstated` is what is asked for and no reading gives ("where", "how
    old"), with the nearest that the graph states, which is another kind of thing."""

    standalone: str
    mentions: tuple[Mention, ...] = ()
    readings: tuple[Reading, ...] = ()
    expected: ExpectedKind = "text"
    unknown: tuple[tuple[str, str], ...] = ()
    candidates: tuple[Mention, ...] = ()
    considered: int = 0
    cut: bool = False
    most: float = 1.0
    unstated: tuple[str, str] | None = None
