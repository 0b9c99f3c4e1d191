"""Number ranges of the parts of things (the prices of a model's variants): Variable -> DependentPart, NumberRanges."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nacre.language.format_values import format_value
from nacre.language.forms.measure_nouns import count_phrase
from nacre.language.forms.nouns import is_plural, join_names
from nacre.plans.sql.to_sql import to_sql
from nacre.plans.statement import RunStatement
from nacre.records.plan import Aggregate, Attribute, Edge, Filter, Itself, Order, Select, Variable
from nacre.records.schema import ONE_TO_ONE_SHARE, Predicate, Schema
from nacre.stores.sqlite.triples import Triple
from nacre.wording.answers.grid import drop_zero_fraction
from nacre.wording.labels.class_nouns import class_noun
from nacre.wording.labels.label import PredicateLabel
from nacre.wording.labels.predicate_labels import is_describable, predicate_label
from nacre.wording.labels.value_kinds import is_amount, is_temporal

# ranges in a sentence, and the smallest share of the things that must have a number
MAX_RANGES, MIN_FILLED = 5, 0.5


@dataclass(frozen=True)
class DependentPart:
    """The things that depend on others: a select of the parts, with the others and the links between."""

    noun: str
    select: Select
    count: int

    @property
    def variable(self) -> Variable:
        """The variable that stands for the part's things."""
        return self.select.variables[-1]


@dataclass(frozen=True)
class NumberRange:
    """The lowest and highest number of some things under one predicate, their mean, and the triples of both ends."""

    predicate: Predicate
    low: float
    high: float
    mean: float
    triples: tuple[Triple, ...]

    @property
    def eccentricity(self) -> float:
        """The distance of the mean from the middle of the predicate's range, as a share of the range: 0 to 0.5."""
        low, high = self.predicate.minimum or 0.0, self.predicate.maximum or 0.0
        return abs(self.mean - (low + high) / 2) / (high - low) if high > low else 0.0

    def phrase(self, schema: Schema) -> str:
        """The range in words: "5 to 7 EUR", "5 EUR"."""
        counted = is_amount(self.predicate.iri, schema)
        low, high = (drop_zero_fraction(x) for x in (self.low, self.high))
        if low == high:
            return format_value(low, self.predicate.unit, counted=counted)
        return f"{format_value(low, counted=counted)} to {format_value(high, self.predicate.unit, counted=counted)}"

    def average(self, schema: Schema) -> str:
        """The mean in words; "" for years and dates, and for equal numbers."""
        if self.low == self.high or is_temporal(self.predicate.iri, schema):
            return ""
        return format_value(self.mean, self.predicate.unit, rounded=True)


def find_part(things: Variable, schema: Schema, run: RunStatement) -> DependentPart | None:
    """The things that depend on these by a link that each has once, those with the most numbers; None without any."""
    found: list[tuple[int, Variable, Edge]] = []
    for predicate in schema.predicates:
        if predicate.role != "fact" or not predicate.has_links or not predicate.functional:
            continue
        if predicate.pairs_off:
            continue
        part = _dependent_things(predicate, schema)
        if part is None or not set(predicate.ranges) & set(things.classes) or part.classes == things.classes:
            continue
        numbers = len(_number_predicates(part, schema))
        if numbers:
            found.append((numbers, part, Edge(part.name, predicate.iri, things.name)))
    for _, part, edge in sorted(found, key=lambda f: -f[0]):
        select = Select((Itself(part.name),), (things, part), (edge,))
        rows = run(to_sql(replace(select, answers=(Aggregate("count", Itself(part.name)),)), schema))
        count = int(rows[0][0][0] or 0) if rows and rows[0] else 0
        if count:
            return DependentPart(class_noun(part, schema), select, count)
    return None


def linking_class(predicate: Predicate, schema: Schema) -> tuple[tuple[str, ...], str]:
    """The most frequent class that a predicate links from, and its noun; no class if the things have none."""
    kind = max((c for c in predicate.domains if c), key=lambda c: predicate.domains[c], default="")
    classes = (kind,) if kind else ()
    return classes, class_noun(Variable("x", classes), schema)


def is_possession(label: PredicateLabel, own: str) -> bool:
    """Whether a thing, an `own`, has what links to it: a shop type, the "type" of 7 shops, has them.

    >>> is_possession(PredicateLabel("noun", "type", "types"), "shop type")
    True
    >>> is_possession(PredicateLabel("noun", "capital", "capitals"), "city")
    False
    """
    return label.kind == "noun" and f" {own}".endswith(f" {label.one}")


def number_ranges(
    select: Select, variable: Variable, count: int, schema: Schema, run: RunStatement, most: int = MAX_RANGES
) -> list[NumberRange]:
    """The number ranges of some things and of things paired with them, the furthest from the middle first."""
    own = _ranges_of(select, variable, count, schema, run)
    halves: list[NumberRange] = []
    for predicate in schema.predicates:
        half = _paired_things(predicate, variable, schema)
        if half is not None:
            edge = Edge(variable.name, predicate.iri, half.name)
            joined = replace(select, variables=(*select.variables, half), edges=(*select.edges, edge))
            halves += _ranges_of(joined, half, count, schema, run)
    halves = halves[: max(most // 2, most - len(own))]
    return [*own[: most - len(halves)], *halves]


def _ranges_of(select: Select, variable: Variable, count: int, schema: Schema, run: RunStatement) -> list[NumberRange]:
    ranges = (number_range(p, select, variable.name, count, schema, run) for p in _number_predicates(variable, schema))
    return sorted((s for s in ranges if s is not None), key=lambda s: -s.eccentricity)


def number_range(
    predicate: Predicate, select: Select, of: str, count: int, schema: Schema, run: RunStatement
) -> NumberRange | None:
    """The range and the mean of a predicate over all things of a select; None if few of them have it."""
    value = Attribute(of, predicate.iri)
    answers = (Aggregate("avg", value), Aggregate("count", Itself(of)))
    known = replace(select, answers=answers, filters=(*select.filters, Filter(value, "known")))
    rows = run(to_sql(known, schema))
    if not rows or not rows[0] or rows[0][0][0] is None or int(rows[0][0][1] or 0) < MIN_FILLED * count:
        return None
    ends = []
    for descending in (False, True):
        end = replace(value, part="high" if descending else "low") if predicate.shape == "range" else value
        first = replace(known, answers=(Itself(of), end), order=Order(end, descending), limit=1)
        statement = to_sql(first, schema)
        found = run(statement)
        if not found or not found[0]:
            return None
        numbers = [
            (row[i], row[0])
            for row in found[0]
            for i, o in enumerate(statement.outputs)
            if o.role not in ("key", "label") and isinstance(row[i], int | float)
        ]
        if not numbers:
            return None
        ends.append(numbers[0])
    triples = tuple((str(key), predicate.iri, str(number)) for number, key in ends)
    (low, _), (high, _) = ends
    return NumberRange(predicate, float(low), float(high), float(rows[0][0][0]), triples)  # type: ignore[arg-type]


def _number_predicates(variable: Variable, schema: Schema) -> list[Predicate]:
    """The predicates with numbers that descriptions say."""
    possible = _possible_predicates(variable, schema)
    return [
        p
        for p in schema.predicates
        if p.iri in possible
        and p.minimum is not None
        and p.datatype not in ("date", "datetime", "year")
        and is_describable(p, schema)
        and not is_temporal(p.iri, schema)
        and is_amount(p.iri, schema)
        and not (p.datatype == "integer" and (p.minimum, p.maximum) in ((0, 1), (0, 0), (1, 1)))
        and predicate_label(p.iri, schema).kind == "noun"
    ]


def _possible_predicates(variable: Variable, schema: Schema) -> frozenset[str]:
    """The predicates that things of a variable may have values of."""
    groups = [
        g
        for g in schema.groups
        if set(variable.classes) <= set(g.classes) and not set(variable.without) & set(g.classes)
    ]
    columns = frozenset(c.predicate for g in groups for c in schema.relation_of[g.relation].columns)
    inherited = frozenset(p.iri for p in schema.predicates if set(p.domains) & set(variable.classes))
    return columns if variable.without else columns | inherited


def _dependent_things(predicate: Predicate, schema: Schema) -> Variable | None:
    """The things that have a predicate: their only group, else the smallest class that has all of them."""
    groups = [
        g for g in schema.groups if any(c.predicate == predicate.iri for c in schema.relation_of[g.relation].columns)
    ]
    if len(groups) == 1 and groups[0].classes:
        return Variable("part", groups[0].classes, groups[0].without)
    whole = max(predicate.domains.values(), default=0)
    fitting = [c for c, n in predicate.domains.items() if n == whole and c in schema.class_of]
    kind = min(fitting, key=lambda c: (schema.class_of[c].count, c), default="")
    return Variable("part", (kind,)) if kind else None


def _paired_things(predicate: Predicate, variable: Variable, schema: Schema) -> Variable | None:
    """The things paired with most of the things of a variable by a predicate; None without any."""
    if predicate.role != "fact" or not predicate.has_links or not predicate.functional:
        return None
    if predicate.iri not in _possible_predicates(variable, schema) or not predicate.pairs_off:
        return None
    members = sum(
        g.count
        for g in schema.groups
        if set(variable.classes) <= set(g.classes) and not set(variable.without) & set(g.classes)
    )
    kind = max((c for c in predicate.ranges if c), key=lambda c: (predicate.ranges[c], c), default="")
    if predicate.subjects < ONE_TO_ONE_SHARE * members or kind not in schema.class_of or kind in variable.classes:
        return None
    return Variable("half", (kind,))


def range_clauses(
    ranges: Sequence[NumberRange], schema: Schema, *, average: bool = False, of: str = "", noun: str = ""
) -> str:
    """The ranges as clauses: "the price ranges from 5 to 7 EUR, the width from 1 to 2 m and the length is 3 m".

    With `average`, "(6 EUR on average)" follows each range. `of` is the owner: "the price of X is 5 EUR". Names do not
    repeat the `noun` of the things: a payment has an "amount", and no "payment amount".
    """
    clauses = list[str]()
    ranged = False
    for each in ranges:
        predicate = each.predicate
        whole = predicate.datatype == "integer" and not predicate.unit
        name = predicate_label(predicate.iri, schema)
        words = name.one if of else name.full
        label = count_phrase(words.removeprefix(f"{noun.rpartition(' ')[2]} ") if noun else words, counts=whole)
        mean = each.average(schema) if average else ""
        shown = f" ({mean} on average)" if mean else ""
        be = "are" if is_plural(label) else "is"
        if each.low != each.high:
            be = "from" if ranged else "range from" if is_plural(label) else "ranges from"
        ranged = each.low != each.high
        whose = f" of {of}" if of and not clauses else ""
        clauses.append(f"the {label}{whose} {be} {each.phrase(schema)}{shown}")
    return join_names(clauses)
