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
    def ranking(self) -> tuple[str, tuple[str, ...]]:
        """The direction ("up", "<") and the concepts of a cue that ranks or compares by a measure.

        >>> Cue(0, 1, "superlative", "down price|cost").ranking
        ('down', ('price', 'cost'))
        """
        direction, _, concepts = self.value.partition(" ")
        return direction, tuple(concepts.split("|"))


class Number(NamedTuple):
    """A number or date of the question.

    `op` is "" if nothing compares it; `concepts` are the properties that its adjective measures. `date_start` is the
    first day of a date, `date_end` the day after it. `until` is the upper end of a range ("2 to 4"). `digits` are those
    of a whole number as they were typed; `multiplier` is 1e6 for "2 million".
    """

    start: int
    end: int
    op: Comparison | Literal[""]
    value: float
    unit: str = ""
    concepts: tuple[str, ...] = ()
    date_start: str = ""
    date_end: str = ""
    until: float | None = None
    digits: str = ""
    multiplier: float = 1.0


class Question(NamedTuple):
    """The question as stage `question` returns it.

    `quoted` are the token ranges in quotation marks, `stopwords` the positions of tokens without meaning.
    `wants_measure`: the measure of its superlative is asked for as well ("and how much is it", cut from the text).
    """

    text: str
    tokens: tuple[Token, ...]
    cues: tuple[Cue, ...]
    numbers: tuple[Number, ...]
    quoted: tuple[tuple[int, int], ...]
    stopwords: frozenset[int]
    wants_measure: bool = False


class Ref(NamedTuple):
    """What a plan can refer to: a thing of a node of the schema graph, or a property of it.

    `slot` numbers several things of one node; `via` is the predicate that the question names for a link to it; `part`
    is the part of a date that is meant.
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


KIND_OPERATOR = "kind"  # the operator of a condition that a thing is of the class of its inner condition
RANKING_CUES = frozenset(("superlative", "most"))  # kinds of cues that rank
INEQUALITIES = frozenset(("<", ">", "<=", ">="))  # operators that bound a value
NEGATED_MATCH = "opposite"  # the match of a word with a boolean property that it denies: "unpaid"

# of links that a word says to be missing: "vacant" where things are "occupied by" somebody
DENIED_LINK_MATCH = "denied"


class Link(NamedTuple):
    """What the tokens from `start` to `end` may name. `score` is 0..1, `covered` a bit mask of tokens, `match` how the
    words match the name. `ends` are the predicates that lead to one of the things `keys`, None if unknown."""

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


def covered_mask(links: Iterable[Link]) -> int:
    """Return the bit mask of the tokens that links cover."""
    return reduce(or_, (link.covered for link in links), 0)


class Target(NamedTuple):
    """One column that is asked for."""

    ref: Ref
    function: Aggregation = ""
    distinct: bool = False


class Condition(NamedTuple):
    """A condition on a thing or a property.

    It holds for any of `values`, or against an aggregate of a property ("above the average") under the conditions
    `inner`. `op` "exists" only requires the thing, "top" requires that it is first in the order `top`. With a
    `function` it is a condition on groups. `join` says how it is combined with the condition before it.
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

    `trace` are the names of the rules that made it, repeated if applied again. `covered` is a bit mask of tokens.
    `attachment` says to which of several things of a class later conditions belong; "" is the nearest.
    """

    targets: tuple[Target, ...]
    conditions: tuple[Condition, ...] = ()
    group: tuple[Ref, ...] = ()
    order: Ordering | None = None
    nodes: tuple[Ref, ...] = ()
    combine: Literal["", "union", "intersection"] = ""
    covered: int = 0
    prior: float = 0.0
    trace: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    hints: frozenset[str] = frozenset()
    attachment: Literal["", "last"] = ""

    def apply_rule(self, rule: str, gain: float = 0.0, **changes: Any) -> "Derivation":
        """Return this derivation with changes, and with the rule that made them in its trace."""
        return self._replace(prior=self.prior + gain, trace=(*self.trace, rule), **changes)
