"""What a question asks, in graph terms: classes and predicates by IRI, never tables or columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

VERSION = 1

Comparison = Literal["=", "!=", "<", "<=", ">", ">=", "contains", "starts", "ends"]
Function = Literal["count", "min", "max", "avg", "sum"]
Constant = str | int | float | bool


@dataclass(frozen=True)
class Variable:
    """A thing asked about, in all of `classes` and in none of `without`.

    `keys`, if given, are the only IRIs it may be, with whatever leads to one of them by the predicates `below` in any
    number of steps ("part of"; from the whole to its part where "^" stands before the IRI); `label` says them in words.
    """

    name: str
    classes: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    label: str = ""
    below: tuple[str, ...] = ()


@dataclass(frozen=True)
class Edge:
    """`subject` --predicate--> `object`, both names of variables."""

    subject: str
    predicate: str
    object: str


@dataclass(frozen=True)
class Attribute:
    """The literal values of `predicate` of the variable.

    `part` picks an end of a range, or of a date its year ("2024", a number) or its month ("2024-03"); "" is the middle
    of a range, or the value itself.
    """

    variable: str
    predicate: str
    part: Literal["", "low", "high", "year", "month"] = ""
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
    """What a term is about: of an aggregate, what it is taken over."""
    return term.of if isinstance(term, Aggregate) else term


@dataclass(frozen=True)
class Filter:
    """A condition.

    `right` is a constant in the predicate's unit, several (any of them), a term, or a select with one column.
    """

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
    """One query. `group` names variables, `by` values that things are grouped by; filters over aggregates apply to the
    groups.

    `limit` counts places in the order, `offset` skips some ("the second largest"); with `ties` all that equal the last
    are kept. `paired`: the things are asked for together with the property that follows them.
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


@dataclass(frozen=True)
class Combine:
    """Rows of two selects as one set."""

    op: Literal["union", "intersection", "difference"]
    left: Select
    right: Select
    kind: Literal["combine"] = "combine"


ARITHMETIC = frozenset("-+/*%")
# the time between two days: whole years, days (both ends counted where no hour is stated), whole years up to the
# later one or, where that is not stated, until today
ELAPSED = frozenset(("years", "days", "hours", "minutes", "age"))


@dataclass(frozen=True)
class Compute:
    """Arithmetic or comparison between two single numbers ("%": the left one as a percentage of the right one), or the
    time from the right one of two dates to the left one ("age": until today, where the left one is not stated); a
    comparison answers yes or no."""

    op: Literal["-", "+", "/", "*", "%", "<", "<=", ">", ">=", "=", "!=", "years", "days", "hours", "minutes", "age"]
    left: Select
    right: Select
    kind: Literal["compute"] = "compute"


@dataclass(frozen=True)
class Ask:
    """Does the select have a row?"""

    select: Select
    kind: Literal["ask"] = "ask"


@dataclass(frozen=True)
class Profile:
    """What characterises the things of `members` (its only answer is `Itself`), against `against` or all others.

    `topic` narrows to facts about something ("interior"); "" for everything.
    """

    members: Select
    against: Select | None = None
    topic: str = ""
    kind: Literal["profile"] = "profile"


@dataclass(frozen=True)
class Overview:
    """What the graph as a whole holds."""

    kind: Literal["overview"] = "overview"


Body = Select | Combine | Compute | Ask | Profile | Overview


@dataclass(frozen=True)
class Plan:
    body: Body
    version: int = VERSION
