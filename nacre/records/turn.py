"""One turn of a conversation: earlier turns, standalone question, understanding; confirmed questions and values."""

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from typing_extensions import TypedDict

from nacre.records.answer import Display
from nacre.records.evidence import Doubt, Evidence
from nacre.records.plan import Plan

VerifiedState = Literal["in use", "failed", "empty", "changed kind", "contradicted", "replaced"]

ValuesKind = Literal["none", "boolean", "number", "date", "text", "table"]

# marks that end sentences or quote words; others ("C++", "-5", "5 %") are part of what is asked
_MARKS = ".,;:?!\"'“”‘’„«»()[]{}…¿¡"

_ISO_DATE = re.compile(r"-?\d{4}(-\d{2}(-\d{2}(T[\d:.]+(Z|[+-]\d{2}:\d{2})?)?)?)?")

# digits of a number that are compared: sums of floats differ in the last ones
_DIGITS = 10

# of a question that is like a verified one; entries of a page (given)
MAX_PROBABILITY, MAX_PAGE = 0.98, 200


class VerifiedQuery(TypedDict):
    """A query that a person wrote or edited."""

    tool: Literal["sql", "sparql"]
    text: str


def values_hash(values: Iterable[object]) -> str:
    """The hash of an answer's values in any order, each once: 20 hexadecimal digits.

    >>> values_hash(["b", "a"]) == values_hash(["a", "b", "b"]), values_hash([1]) == values_hash([True])
    (True, False)
    >>> values_hash([1]) == values_hash([1.0])
    True
    """
    text = "\n".join(sorted({_canonical(value) for value in values}))
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:20]


@dataclass(frozen=True)
class VerifiedQuestion:
    """A question of a graph that a person confirmed.

    `id` is that of the graph and the normalised standalone question: two people who confirm the same question have the
    same id, and each an entry of their own. Either `plan` (JSON data of a `Plan`) or `query` answers it. `values_hash`
    and `kind` are of the values that it gave in `version` of the graph. `by` is the owner, `at` an ISO time in UTC.
    Only entries "in use" answer; the `note` says why others do not, or what changed. Everyone who may read the graph
    uses `approved` ones, others only their owner.
    """

    id: str
    question: str
    standalone: str
    plan: dict[str, Any] | None
    query: VerifiedQuery | None
    values_hash: str
    kind: ValuesKind
    by: str
    at: str
    version: str
    approved: bool = False
    state: VerifiedState = "in use"
    note: str = ""


@dataclass(frozen=True)
class GraphCalibration:
    """What verified questions say of the probabilities of a graph. `shift` is added to the log-odds of readings, 0 for
    none. Of `questions` approved ones in `version`, the rules answered `asked`, `right` of them as confirmed. `undone`:
    a person took it back, and it is not made again by itself."""

    shift: float
    questions: int
    asked: int
    right: int
    version: str
    at: str
    undone: bool = False

    @property
    def words(self) -> str:
        """A sentence for people."""
        if self.undone:
            return "The calibration by verified questions was undone."
        asked = f"Of {self.asked} verified questions that the rules answer alone, {self.right} are right as confirmed"
        more = "higher" if self.shift > 0 else "lower"
        return (
            f"{asked}: probabilities are {more} than learned."
            if self.shift
            else f"{asked}: probabilities stay as learned."
        )


def question_id(graph: str, standalone: str) -> str:
    """The id of a question of a graph, the same for other case, punctuation and spaces: 20 hexadecimal digits.

    >>> question_id("maps", "Who lives there?") == question_id("maps", "who  lives there")
    True
    """
    return hashlib.sha256(f"{graph}\0{normalised_question(standalone)}".encode(errors="replace")).hexdigest()[:20]


def normalised_question(text: str) -> str:
    """The words of a question in lower case, without punctuation around them.

    >>> normalised_question("Which tools use “C++”, and since 2.5?")
    'which tools use c++ and since 2.5'
    """
    return " ".join(question_words(text))


def question_words(text: str) -> list[str]:
    """The words of `normalised_question`, in order.

    >>> question_words("How many are below -5?")
    ['how', 'many', 'are', 'below', '-5']
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return [word for each in folded.split() if (word := each.strip(_MARKS))]


def values_kind(values: Sequence[object]) -> ValuesKind:
    """The kind of an answer's values; "table" if there are several kinds.

    >>> values_kind([]), values_kind([True]), values_kind([2, 3.5]), values_kind(["2024-05-01"]), values_kind(["A", 4])
    ('none', 'boolean', 'number', 'date', 'table')
    """
    kinds = {_kind(value) for value in values}
    if not kinds:
        return "none"
    return kinds.pop() if len(kinds) == 1 else "table"


def _kind(value: object) -> ValuesKind:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return "date" if isinstance(value, str) and _ISO_DATE.fullmatch(value) else "text"


def _canonical(value: object) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"number {value:.{_DIGITS}g}"
    return json.dumps(value, ensure_ascii=False, default=str)


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
    """What later turns need of an earlier one: its plan, at most 100 keys (IRIs) and labels (`cut`: it had more), the
    alternative readings it offered (`options`, in order), the evidence it cited (cut to a few rows, as of round 0), the
    reading it asked to confirm, less likely ones that may be chosen by their words (`others`), the probability that it
    was right (None: not known), and the form in which it was shown."""

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
    cut: bool = False
    display: Display = ""


@dataclass(frozen=True)
class Scope:
    """The referent of "it", "them" or "those": the members of an earlier plan, or the keys themselves.

    `how` is the revision of the plan ("add" columns, "order" it ...), "" if the question only refers to its things.
    `confidence` is the probability that the turn with the plan or the things was right. The things in `besides` are
    excluded from the result. `cut`: the plan gives more things than the keys.
    """

    plan: Plan | None = None
    keys: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    how: str = ""
    confidence: float = 1.0
    besides: tuple[str, ...] = ()
    cut: bool = False


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

    @property
    def is_unread(self) -> bool:
        """Whether the question is in a language that the rules do not read, and nobody translated it."""
        return bool(self.own) and not self.gloss and self.own == self.standalone


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
