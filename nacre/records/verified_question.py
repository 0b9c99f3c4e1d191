"""A question that a person confirmed, with the plan or query that answers it; how questions and values are compared."""

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from typing_extensions import TypedDict

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
