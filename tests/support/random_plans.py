"""Plans that the schema of a graph allows, as hypothesis makes them: Schema -> strategies of Select and Combine."""

from dataclasses import replace
from itertools import pairwise
from typing import Literal

from hypothesis import strategies as st

from nacre.records.plan import Aggregate, Attribute, Combine, Edge, Filter, Itself, Order, PlanTerm, Select, Variable
from nacre.records.schema import Predicate, Schema

# nothing of it may get into the text of a statement
HOSTILE = "x'); DROP TABLE entity; --"
COMPARISONS = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])
NUMBERS = st.one_of(st.integers(-5, 3000), st.floats(-1e6, 1e6, allow_nan=False))
SELDOM = st.sampled_from([False] * 9 + [True])
PARTS: st.SearchStrategy[Literal["year", "month"]] = st.sampled_from(["year", "month"])


@st.composite
def things(draw: st.DrawFn, schema: Schema, depth: int = 1) -> Select:
    """The things of the first of one to three linked variables; `depth` is how far selects within selects go."""
    names = ("a", "b", "c")[: draw(st.integers(1, 3))]
    links = st.sampled_from([p.iri for p in schema.predicates if p.has_links and p.role != "type"])
    ends = [pair if draw(st.booleans()) else pair[::-1] for pair in pairwise(names)]
    edges = tuple(Edge(subject, draw(links), object_) for subject, object_ in ends)
    variables = tuple(draw(_variables(schema, name, edges)) for name in names)
    filters = tuple(draw(st.lists(conditions(schema, variables, depth), max_size=2)))
    return Select((Itself("a"),), variables, edges, filters)


@st.composite
def selects(draw: st.DrawFn, schema: Schema) -> Select:
    """Linked things listed, ordered, counted or grouped."""
    base = draw(things(schema))
    variables, edges, filters = base.variables, base.edges, base.filters
    attributes, figures = attributes_of(schema, variables), _figures(schema, variables)
    shape = draw(st.sampled_from(["listed", "ordered", "counted", "grouped"]))
    if shape == "counted":
        return Select((draw(figures),), variables, edges, filters)
    terms = figures if shape == "grouped" else st.one_of(_some(variables), attributes)
    answers: tuple[PlanTerm, ...] = tuple(draw(st.lists(terms, min_size=1, max_size=2, unique=True)))
    if shape == "listed":
        return Select(answers, variables, edges, filters)
    limit = draw(st.one_of(st.none(), st.integers(1, 5)))
    offset = draw(st.integers(0, 2)) if limit else 0
    by: st.SearchStrategy[Attribute | Aggregate] = attributes if shape == "ordered" else figures
    order = Order(draw(by), draw(st.booleans()))
    if shape == "ordered":
        return Select(answers, variables, edges, filters, (), order, limit, offset)
    dates = [p.iri for p in schema.predicates if p.datatype in ("date", "datetime") and p.has_literals]
    if draw(SELDOM) and dates:
        # so many a year, or a month
        time = draw(st.builds(Attribute, st.sampled_from([v.name for v in variables]), st.sampled_from(dates), PARTS))
        known = Filter(replace(time, part=""), "known")
        return Select((time, *answers), variables, edges, (*filters, known), order=order, limit=limit, by=(time,))
    having = draw(st.lists(st.builds(Filter, figures, COMPARISONS, NUMBERS), max_size=1))
    return Select((Itself("a"), *answers), variables, edges, (*filters, *having), ("a",), order, limit, offset)


def combined(schema: Schema) -> st.SearchStrategy[Combine]:
    """Two lists of things as one."""
    return st.builds(Combine, st.sampled_from(["union", "intersection", "difference"]), things(schema), things(schema))


def conditions(schema: Schema, variables: tuple[Variable, ...], depth: int = 1) -> st.SearchStrategy[Filter]:
    """A condition on one of the variables, by a value, another property or a select."""
    attributes, negated = attributes_of(schema, variables), st.booleans()
    found = [
        attributes.flatmap(lambda a: _by_value(a, schema.predicate_of[a.predicate])),
        st.builds(Filter, attributes, st.sampled_from(["known", "unknown"]), st.none(), negated),
        st.builds(Filter, attributes, COMPARISONS, attributes, negated),
    ]
    if depth:
        found.append(st.builds(Filter, _some(variables), st.just("in"), things(schema, depth - 1), negated))
    return st.one_of(found)


def attributes_of(
    schema: Schema, variables: tuple[Variable, ...], measured: bool = False
) -> st.SearchStrategy[Attribute]:
    """Properties that things of these kinds have; any, where no kind is given."""
    known = [p for p in schema.predicates if p.has_literals and (p.minimum is not None or not measured)]
    pairs = [(v.name, p.iri) for v in variables for p in known]
    fitting = [(v.name, p.iri) for v in variables for p in known if p.domains.keys() & set(v.classes)]
    found = st.sampled_from(fitting or pairs).map(lambda pair: Attribute(*pair))
    ranges = {p.iri for p in known if p.shape != "single"}
    ends = st.sampled_from(["", "low", "high"])
    return st.builds(lambda a, end: replace(a, part=end) if a.predicate in ranges else a, found, ends)


@st.composite
def _variables(draw: st.DrawFn, schema: Schema, name: str, edges: tuple[Edge, ...]) -> Variable:
    """Of a kind that the edges may have at this end, of the members of one table, or of no kind."""
    kinds = {c for e in edges if e.subject == name for c in schema.predicate_of[e.predicate].domains}
    kinds |= {c for e in edges if e.object == name for c in schema.predicate_of[e.predicate].ranges}
    near = [(iri,) for iri in sorted(kinds & schema.class_of.keys() or schema.class_of.keys())]
    groups = [(g.classes, g.without) for g in schema.groups]
    classes, without = draw(st.sampled_from([((), ()), *((classes, ()) for classes in near * 3), *groups]))
    if draw(SELDOM):
        return Variable(name, classes, without, (f"http://example.org/{HOSTILE}",), "nobody")
    return Variable(name, classes, without)


def _some(variables: tuple[Variable, ...]) -> st.SearchStrategy[Itself]:
    return st.sampled_from(variables).map(lambda v: Itself(v.name))


def _figures(schema: Schema, variables: tuple[Variable, ...]) -> st.SearchStrategy[Aggregate]:
    counted = st.one_of(_some(variables), attributes_of(schema, variables))
    functions = st.sampled_from(["min", "max", "avg", "sum", "median"])
    measured = attributes_of(schema, variables, measured=True)
    return st.one_of(st.builds(Aggregate, st.just("count"), counted), st.builds(Aggregate, functions, measured))


def _by_value(attribute: Attribute, predicate: Predicate) -> st.SearchStrategy[Filter]:
    """Compared with what parts its values: one of them, several, a part of one, a number between the extremes."""
    own, negated = st.just(attribute), st.booleans()
    if predicate.datatype == "boolean":
        return st.builds(Filter, own, st.just("="), st.booleans(), negated)
    if predicate.minimum is not None and predicate.maximum is not None:
        return st.builds(Filter, own, COMPARISONS, st.floats(predicate.minimum, predicate.maximum), negated)
    text = st.sampled_from([*(predicate.values or predicate.samples), HOSTILE])
    several = st.lists(text, min_size=1, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Filter, own, COMPARISONS, text, negated),
        st.builds(Filter, own, st.just("in"), several, negated),
        st.builds(Filter, own, st.just("contains"), text.map(lambda t: t[:2]), negated),
    )
