"""One turn of a conversation: earlier turns, the standalone question, and its understanding."""

from dataclasses import dataclass
from typing import Literal

from nacre.records.answer import Display
from nacre.records.evidence import Doubt, Evidence
from nacre.records.plan import Plan
from nacre.records.verified_question import VerifiedQuestion

# characters of a question (given)
LONGEST_QUESTION = 4000


@dataclass(frozen=True)
class VerifiedMatch:
    """The verified `question` that a question is, up to slips of typing, or whose plan or query it takes with its own
    names (`is_like`). `text` is the query (by `tool`) that answers it, "" if a plan does."""

    id: str
    by: str
    at: str
    question: str = ""
    tool: str = ""
    text: str = ""
    is_like: bool = False


@dataclass(frozen=True)
class Reading:
    """One interpretation of the question. `covered` is the share of its content words that the plan uses, 0..1.

    `probability` is the calibrated chance that its rows are right, before it runs (None: not known). `unused` are the
    content words that the plan does not use. `odds` is the part of the final log-odds that is known before it runs.
    `lost` are bounds, negations and orders of the question that the plan ignores. `said` is
    `odds` by the weights for what is said (None: not known). `own` readings look up a property of
    one named thing, without links that no word of the question names. `likeness` says how like the question that
    property is (None: not compared). A `near` reading was chosen by likeness alone: no rule derives it from the words.
    `verified` is the verified question of the same shape whose plan it is, with the names of this question. `doubts`
    are the checks of the proof that it fails (`ranking/proof`).
    """

    plan: Plan
    score: float
    covered: float
    words: str
    probability: float | None = None
    unused: tuple[str, ...] = ()
    odds: float = 0.0
    lost: tuple[str, ...] = ()
    said: float | None = None
    own: bool = False
    likeness: float | None = None
    near: bool = False
    verified: VerifiedMatch | None = None
    doubts: tuple[Doubt, ...] = ()


@dataclass(frozen=True)
class EarlierTurn:
    """What later turns need of an earlier one: its plan, at most 100 keys (IRIs) and labels of its result, the
    alternative readings it offered (`options`, in order), the evidence it cited (cut to a few rows, as of round 0), the
    reading it asked to confirm, less likely ones that may be chosen by their words (`others`), and the probability that
    it was right (None: not known)."""

    question: str
    standalone: str
    answer: str
    plan: Plan | None = None
    keys: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    options: tuple[Reading, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    confirm: Reading | None = None
    others: tuple[Reading, ...] = ()
    confidence: float | None = None


@dataclass(frozen=True)
class Scope:
    """The referent of "it", "them" or "those": the members of an earlier plan, or the keys themselves.

    `how` is the revision of the plan ("add" columns, "order" it ...), "" if the question only refers to its things.
    `confidence` is the probability that the turn with the plan or the things was right. The things in `besides` are
    excluded from the result.
    """

    plan: Plan | None = None
    keys: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    how: str = ""
    confidence: float = 1.0
    besides: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rewrite:
    """The question without references to the conversation. `depends`: it had such references, `sure`: that is certain.

    `standalone` is in English; `own` is the same in the user's `language`, "" if it was not translated. `gloss` is the
    language if `standalone` has its words in English and leaves their order and the names as they are. `chosen` is the
    offered reading that the user picked by its number. `aside`: the turn asks about the conversation itself ("are you
    sure?"). `orientation` is what a turn wants that asks nothing of the data: "contents" (what is in the graph),
    "self" (who answers), "thanks" and others of `nacre/language/en/orientation.yaml`. `display` is the form of the
    answer that the turn asks for, such as a chart; the words for it are not in `standalone`.
    """

    standalone: str
    depends: bool = False
    scope: Scope | None = None
    sure: bool = True
    language: str = "en"
    own: str = ""
    gloss: str = ""
    chosen: Reading | None = None
    aside: bool = False
    orientation: str = ""
    display: Display = ""


@dataclass(frozen=True)
class Mention:
    """A span of the question (character offsets) that names something in the graph."""

    text: str
    start: int
    end: int
    kind: Literal["entity", "class", "predicate", "value", "number"]
    target: str
    label: str
    score: float
    predicate: str = ""


@dataclass(frozen=True)
class NamedThing:
    """A thing that the question names, and the reading that asks for everything about it."""

    mention: Mention
    everything: Reading


ExpectedKind = Literal["entities", "number", "date", "boolean", "text", "prose"]


@dataclass(frozen=True)
class Understanding:
    """What the rules understood: mentions, the readings (best first), and the expected kind of answer.

    `unknown` are content words that name nothing in the graph, each with the nearest known name or "". `candidates` are
    all targets of the mentions' words. `considered` counts the readings that were ranked; `cut`: the search ran out of
    time. `most` is the probability that the earlier turns it depends on were right, an upper limit for its readings.
    `unstated` is what the question asks for and no reading returns ("where", "how old"), with the nearest property that
    the graph has, which is of another kind. `orientation` is that of the rewrite. `named` are the things that the
    question names, whether or not a reading uses them, `absent` those unknown words that are names or no words of
    English, and are in no name of the graph. `verified` is the verified question that it is, whose plan, if it has one,
    is the first reading; `examples` are the verified questions that are most like it."""

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
    orientation: str = ""
    named: tuple[NamedThing, ...] = ()
    absent: tuple[str, ...] = ()
    verified: VerifiedMatch | None = None
    examples: tuple[VerifiedQuestion, ...] = ()
