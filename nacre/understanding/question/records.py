"""What the stages of the parser hand on: Cue, Number, Question, Link, Ref, Target, Condition, Ordering, Derivation."""

from collections.abc import Iterable
from functools import reduce
from operator import or_
from typing import Any, Literal, NamedTuple

from nacre.language.tokens import Token
from nacre.records.plan import Comparison, Function


def token_mask(start: int, end: int) -> int:
    """Return the bit mask of a range of tokens."""
    return ((1 << (end - start)) - 1) << start


Aggregation = Function | Literal[""]


class Cue(NamedTuple):
    """A range of tokens that says how things are asked for: its kind ("count", "group", "negation") and its value."""

    start: int
    end: int
    kind: str
    value: str = ""

    @property
    def covered(self) -> int:
        """The bit mask of its tokens."""
        return token_mask(self.start, self.end)

    @property
    def ranking(self) -> tuple[str, tuple[str, ...]]:
        """The direction ("up", "<") and the concepts of a cue that ranks or compares by a measure."""
        direction, _, concepts = self.value.partition(" ")
        return direction, tuple(concepts.split("|"))


class Number(NamedTuple):
    """A number or date of the question."""

    start: int
    end: int
    op: Comparison | Literal[""]  # "" if nothing compares it
    value: float
    unit: str = ""
    concepts: tuple[str, ...] = ()  # the properties that its adjective measures
    date_start: str = ""  # the first day of a date
    date_end: str = ""  # the day after it
    until: float | None = None  # the upper end of a range ("2 to 4")
    digits: str = ""  # those of a whole number as they were typed
    multiplier: float = 1.0  # 1e6 for "2 million"


class Question(NamedTuple):
    """The question as stage `question` returns it."""

    text: str
    tokens: tuple[Token, ...]
    cues: tuple[Cue, ...]
    numbers: tuple[Number, ...]
    quoted: tuple[tuple[int, int], ...]  # the token ranges in quotation marks
    stopwords: frozenset[int]  # the positions of tokens without meaning
    wants_measure: bool = False  # "and how much is it", which is cut from the text


class Ref(NamedTuple):
    """What a plan can refer to: a thing of a node of the schema graph, or a property of it."""

    node: int
    predicate: str = ""
    slot: int = 0  # numbers several things of one node
    via: str = ""  # the predicate that the question names for a link to it
    part: Literal["", "year", "quarter", "month", "yearday"] = ""  # the part of a date

    @property
    def thing(self) -> "Ref":
        """The thing that a property belongs to; a thing itself without the link that leads to it."""
        return Ref(self.node, "", self.slot)


KIND_OPERATOR = "kind"  # the operator of a condition that a thing is of the class of its inner condition
RANKING_CUES = frozenset(("superlative", "most"))  # kinds of cues that rank
INEQUALITIES = frozenset(("<", ">", "<=", ">="))  # operators that bound a value
NEGATED_MATCH = "opposite"  # the match of a word with a boolean property that it denies: "unpaid"

# of links that a word says to be missing: "vacant" where things are "occupied by" somebody
DENIED_LINK_MATCH = "denied"


class Link(NamedTuple):
    """What the tokens from `start` to `end` may name."""

    start: int
    end: int
    kind: Literal["class", "property", "value", "entity"]
    refs: tuple[Ref, ...]
    score: float  # 0..1
    covered: int  # a bit mask of tokens
    exact: bool = False
    value: str | float = ""
    keys: tuple[str, ...] = ()
    label: str = ""
    match: str = ""  # how the words match the name
    ends: frozenset[str] | None = None  # the predicates that lead to one of `keys`, None if unknown


def covered_mask(spans: Iterable[Link | Cue]) -> int:
    """Return the bit mask of the tokens that links and cues cover."""
    return reduce(or_, (each.covered for each in spans), 0)


class Target(NamedTuple):
    """One column that is asked for."""

    ref: Ref
    function: Aggregation = ""
    distinct: bool = False


class Condition(NamedTuple):
    """A condition on a thing or a property; with a `function`, on groups."""

    ref: Ref
    op: str  # "exists" only requires the thing, "top" that it is first in an order
    values: tuple[str | float, ...] = ()  # any of these
    negated: bool = False
    keys: tuple[str, ...] = ()
    label: str = ""
    function: Aggregation = ""
    against: Target | None = None  # an aggregate of a property ("above the average")
    join: Literal["and", "or", "both", "nor"] = "and"  # how it is combined with the condition before it
    inner: tuple["Condition", ...] = ()  # the conditions of `against`
    top: "Ordering | None" = None  # the order of "top"


class Ordering(NamedTuple):
    """An order by a property or an aggregate; `limit` 0 keeps all."""

    ref: Ref
    descending: bool
    function: Aggregation = ""
    limit: int = 0
    offset: int = 0


class Derivation(NamedTuple):
    """One reading in terms of the schema graph, and how it came about."""

    targets: tuple[Target, ...]  # at least one
    conditions: tuple[Condition, ...] = ()
    group: tuple[Ref, ...] = ()
    order: Ordering | None = None
    nodes: tuple[Ref, ...] = ()
    combine: Literal["", "union", "intersection"] = ""
    covered: int = 0  # a bit mask of tokens
    prior: float = 0.0
    trace: tuple[str, ...] = ()  # the rules that made it, repeated if applied again
    links: tuple[Link, ...] = ()
    hints: frozenset[str] = frozenset()
    attachment: Literal["", "last"] = ""  # which of several things of a class later conditions belong to

    def apply_rule(self, rule: str, gain: float = 0.0, **changes: Any) -> "Derivation":
        """Return this derivation with changes, and with the rule that made them in its trace."""
        return self._replace(prior=self.prior + gain, trace=(*self.trace, rule), **changes)
