"""Terms of a plan: Ref or Ordering + Joins -> Attribute, Itself or Order."""

from nacre.records.plan import Aggregate, Attribute, Itself, Order
from nacre.understanding.parsing.lowering.joins import Joins
from nacre.understanding.question.types import Ordering, Ref


def plan_term(ref: Ref, joins: Joins) -> Attribute | Itself:
    """Return a property of a variable, or the variable itself."""
    name = joins.variables[ref.thing].name
    return Attribute(name, ref.predicate, ref.part) if ref.predicate else Itself(name)


def order_term(order: Ordering | None, joins: Joins) -> Order | None:
    """Return an order by a property, an aggregate or a count of things."""
    if order is None:
        return None
    term = plan_term(order.ref, joins)
    if order.function == "count":
        return Order(Aggregate("count", Itself(term.variable)), order.descending)
    if order.function and isinstance(term, Attribute):
        return Order(Aggregate(order.function, term), order.descending)
    return Order(term, order.descending)
