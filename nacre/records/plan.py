"""What a question asks, in graph terms: classes and predicates by IRI, never tables or columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

VERSION = 1

Comparison = Literal["=", "!=", "<", "<=", ">", ">=", "contains", "starts", "ends"]

Function = Literal["count", "min", "max", "avg", "sum", "median"]


@dataclass(frozen=True)
class AggregateFunction:
    """How an aggregate is computed; its name in a plan is also that of its cues and of its words (`language/en`).

    `sql` is a function of the values, or of those in the `middle` of their order alone. `sparql` has the values without
    gaps at 0 and the values at 1; "" if SPARQL cannot express it. `weights` is the aggregate whose weights hold.
    """

    kind: Literal["count", "extreme", "total", "mean"]
    weights: str
    sql: str
    sparql: str
    middle: bool = False


# in the order of the learned features
AGGREGATES: Mapping[str, AggregateFunction] = {
    "count": AggregateFunction("count", "count", "count", "COUNT(DISTINCT {1})"),
    "avg": AggregateFunction("mean", "avg", "avg", "SUM({0}) / COUNT({1})"),
    "sum": AggregateFunction("total", "sum", "sum", "SUM({0})"),
    "max": AggregateFunction("extreme", "max", "max", "MAX({0})"),
    "min": AggregateFunction("extreme", "min", "min", "MIN({0})"),
    "median": AggregateFunction("mean", "avg", "avg", "", middle=True),
}

MEANS = frozenset(name for name, each in AGGREGATES.items() if each.kind == "mean")
EXTREMES = frozenset(name for name, each in AGGREGATES.items() if each.kind == "extreme")

# aggregates that only numbers have
OF_NUMBERS = MEANS | {name for name, each in AGGREGATES.items() if each.kind == "total"}

Constant = str | int | float | bool


@dataclass(frozen=True)
class Variable:
    """A thing that the plan asks about, in all of `classes`, in none of `without` and, if given, in one of `any_of`.

    `keys`, if given, are the only IRIs it may be, together with all things that lead to one of them by the predicates
    `below` in any number of steps ("part of"; from the whole to its part if the IRI begins with "^"). `label` names the
    keys in words, `noun` a thing of `any_of`.
    """

    name: str
    classes: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    label: str = ""
    below: tuple[str, ...] = ()
    any_of: tuple[str, ...] = ()
    noun: str = ""


@dataclass(frozen=True)
class Edge:
    """`subject` --predicate--> `object`, both names of variables."""

    subject: str
    predicate: str
    object: str


# where a part of an ISO date begins, and its length; a quarter is that of a month
DATE_PARTS = {"year": (1, 4), "quarter": (1, 7), "month": (1, 7), "yearday": (6, 5)}
PERIODS = ("year", "month", "quarter")  # the parts of dates that things are grouped by


@dataclass(frozen=True)
class Attribute:
    """The literal values of `predicate` of the variable. `part` selects an end of a range, the year (2024, a number),
    the quarter ("2024-Q1"), the month ("2024-03") or the day of any year ("03-31") of a date; "" is the middle of a
    range or the value."""

    variable: str
    predicate: str
    part: Literal["", "low", "high", "year", "quarter", "month", "yearday"] = ""
    kind: Literal["attribute"] = "attribute"


@dataclass(frozen=True)
class Itself:
    """The variable itself, shown by its label."""

    variable: str
    kind: Literal["itself"] = "itself"


@dataclass(frozen=True)
class Aggregate:
    """`function` over the distinct things (`Itself`) or over one value a thing (`Attribute`)."""

    function: Function
    of: Attribute | Itself
    kind: Literal["aggregate"] = "aggregate"


PlanTerm = Attribute | Itself | Aggregate


def aggregated_value(term: PlanTerm) -> Attribute | Itself:
    """The term itself, or what an aggregate is computed over."""
    return term.of if isinstance(term, Aggregate) else term


@dataclass(frozen=True)
class Filter:
    """A condition. `right` is a constant in the predicate's unit, several (any of them), a term, or a select with one
    column."""

    left: Attribute | Itself | Aggregate
    op: Comparison | Literal["in", "known", "unknown"]
    right: Constant | tuple[Constant, ...] | Attribute | Select | None = None
    negated: bool = False


@dataclass(frozen=True)
class Order:
    by: Attribute | Aggregate | Itself
    descending: bool


@dataclass(frozen=True)
class Select:
    """One query. `group` are the variables and `by` the values to group by; filters over aggregates apply to groups.

    `limit` counts places in the order and `offset` skips some ("the second largest"); with `ties` all rows equal to the
    last are kept. `paired`: each thing is requested together with the property that follows it. `zeros`: things to
    group by that nothing is counted for have a row with 0.
    """

    answers: tuple[PlanTerm, ...]
    variables: tuple[Variable, ...]
    edges: tuple[Edge, ...] = ()
    filters: tuple[Filter, ...] = ()
    group: tuple[str, ...] = ()
    order: Order | None = None
    limit: int | None = None
    offset: int = 0
    ties: bool = True
    paired: bool = False
    kind: Literal["select"] = "select"
    by: tuple[Attribute, ...] = ()
    zeros: bool = False


@dataclass(frozen=True)
class Combine:
    """The union, intersection or difference of the rows of two selects."""

    op: Literal["union", "intersection", "difference"]
    left: Select
    right: Select
    kind: Literal["combine"] = "combine"


ARITHMETIC = frozenset("-+/*%")

# time between two dates; days include both ends unless hours are stated, "age" counts whole years until the later date,
# or until today if that is not stated
ELAPSED = frozenset(("years", "days", "hours", "minutes", "age"))


@dataclass(frozen=True)
class Compute:
    """Arithmetic or comparison of two single numbers ("%": the left as a percentage of the right), or the time from the
    right date to the left ("age": until today if the left is not stated). A comparison answers yes or no."""

    op: Literal["-", "+", "/", "*", "%", "<", "<=", ">", ">=", "=", "!=", "years", "days", "hours", "minutes", "age"]
    left: Select
    right: Select
    kind: Literal["compute"] = "compute"


@dataclass(frozen=True)
class Ask:
    """Whether the select returns a row."""

    select: Select
    kind: Literal["ask"] = "ask"


@dataclass(frozen=True)
class Profile:
    """What characterises the things of `members` (its only answer is `Itself`), compared with `against` or all others.
    `topic` restricts it to facts about a topic ("interior"); "" means everything."""

    members: Select
    against: Select | None = None
    topic: str = ""
    kind: Literal["profile"] = "profile"


@dataclass(frozen=True)
class Overview:
    """An overview of the whole graph, of what `wanted` asks for: an intent such as "contents" or "interesting"."""

    kind: Literal["overview"] = "overview"
    wanted: str = "contents"


Body = Select | Combine | Compute | Ask | Profile | Overview


@dataclass(frozen=True)
class Plan:
    body: Body
    version: int = VERSION
