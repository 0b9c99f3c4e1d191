"""What the stages of the parser pass on: Question, Link, Ref, Target, Condition, Order, Derivation; all immutable."""

from typing import Any, Literal, NamedTuple

from nacre.language.tokens import Token
from nacre.records.plan import Comparison


def token_mask(start: int, end: int) -> int:
    """Return the bit mask of a range of tokens.

    >>> bin(token_mask(1, 3))
    '0b110'
    """
    return ((1 << (end - start)) - 1) << start


Aggregation = Literal["", "count", "min", "max", "avg", "sum"]


class Cue(NamedTuple):
    """A stretch of words that says how things are asked for: its kind ("count", "group", "negation" ...) and value."""

    start: int
    end: int
    kind: str
    value: str = ""

    @property
    def ranking(self) -> tuple[str, tuple[str, ...]]:
        """The direction ("up", "<") and the concepts of a cue that ranks or compares by a measure.

        >>> Cue(0, 1, "superlative", "down price|cost").ranking
        ('down', ('price', 'cost'))
        """
        direction, _, concepts = self.value.partition(" ")
        return direction, tuple(concepts.split("|"))


class Number(NamedTuple):
    """A number or date of the question. `op` is "" where nothing compares it; `first` and `after` bound a date; `until`
    is the upper end of a range ("2 to 4"), which belongs to it; `digits` are those of a whole number as they were
    typed; `many` is 1e6 of "2 million"."""

    start: int
    end: int
    op: Comparison | Literal[""]
    value: float
    unit: str = ""
    concepts: tuple[str, ...] = ()
    reverse: bool = False
    date_start: str = ""
    date_end: str = ""
    until: float | None = None
    digits: str = ""
    multiplier: float = 1.0


class Question(NamedTuple):
    """The question as stage `analyse` leaves it. `quoted` are the token ranges in quotation marks; `also`: the measure
    of its superlative is asked for as well ("and how much is it", no longer part of the text)."""

    text: str
    tokens: tuple[Token, ...]
    cues: tuple[Cue, ...]
    numbers: tuple[Number, ...]
    quoted: tuple[tuple[int, int], ...]
    stopwords: frozenset[int]
    lead: str = ""
    wants_measure: bool = False


class Ref(NamedTuple):
    """Something a plan can speak of: a thing of a node of the schema graph, or a property of it.

    `slot` tells several things of one node apart; `via` is the link that the question names for it; `part` is what of a
    date is meant.
    """

    node: int
    predicate: str = ""
    slot: int = 0
    via: str = ""
    part: Literal["", "year", "month"] = ""

    @property
    def thing(self) -> "Ref":
        """The thing that a property belongs to; a thing itself without the link that leads to it."""
        return Ref(self.node, "", self.slot)


# the operator of a condition that a thing is of the kind of its inner condition
KIND_OPERATOR = "kind"
# comparisons that bound a value
INEQUALITIES = frozenset(("<", ">", "<=", ">="))
# how a word names a property of yes or no that it denies: "unpaid"
NEGATED_MATCH = "opposite"


class Link(NamedTuple):
    """What tokens `start` to `end` may name; `covered` is a bit mask of tokens; `score` 0..1. `ends` are the predicates
    that lead to one of the things `keys`, None where that is not known."""

    start: int
    end: int
    kind: Literal["class", "property", "value", "entity"]
    refs: tuple[Ref, ...]
    score: float
    covered: int
    exact: bool = False
    value: str | float = ""
    keys: tuple[str, ...] = ()
    label: str = ""
    match: str = ""
    ends: frozenset[str] | None = None


class Target(NamedTuple):
    """One column that is asked for."""

    ref: Ref
    function: Aggregation = ""
    distinct: bool = False


class Condition(NamedTuple):
    """A condition on a thing or a property.

    `values` are constants, any of them; or `against` is an aggregate of a property ("above the average"), with the
    conditions `inner` of its own. `op` "exists" asks only that the thing is there, "top" that it is first in the order
    `top`. `function` makes it one on groups. `join` says how it hangs on the one before it.
    """

    ref: Ref
    op: str
    values: tuple[str | float, ...] = ()
    negated: bool = False
    keys: tuple[str, ...] = ()
    label: str = ""
    function: Aggregation = ""
    against: Target | None = None
    join: Literal["and", "or", "both", "nor"] = "and"
    inner: tuple["Condition", ...] = ()
    top: "Ordering | None" = None


class Ordering(NamedTuple):
    """An order by a property or an aggregate; `limit` 0 keeps all."""

    ref: Ref
    descending: bool
    function: Aggregation = ""
    limit: int = 0
    offset: int = 0


class Derivation(NamedTuple):
    """One reading in terms of the schema graph, and how it came about.

    `trace` are the names of the rules that made it, with how often; `covered` is a bit mask of tokens. `hung` says
    which of several things of one kind what is said of them hangs on; "" is the nearest.
    """

    targets: tuple[Target, ...]
    conditions: tuple[Condition, ...]
    group: tuple[Ref, ...]
    order: Ordering | None
    nodes: tuple[Ref, ...]
    combine: Literal["", "union", "intersection", "difference"]
    covered: int
    prior: float
    trace: tuple[str, ...]
    links: tuple[Link, ...]
    hints: frozenset[str] = frozenset()
    attachment: Literal["", "first", "last"] = ""

    def apply_rule(self, rule: str, gain: float = 0.0, **changes: Any) -> "Derivation":
        """Return this derivation with changes, and with the rule that made them in its trace."""
        return self._replace(prior=self.prior + gain, trace=(*self.trace, rule), **changes)
