"""The names, numbers and dates of a plan, and the plan with others in their place."""

from nacre.extensions.verified.template import (
    PlanConstants,
    Substitution,
    asked_elements,
    plan_constants,
    substitute,
)
from nacre.plans.selects import plan_elements
from nacre.records.plan import Aggregate, Attribute, Combine, Edge, Filter, Itself, Order, Select, Variable

KILN = Variable("kiln", ("Kiln",))
POTTER = Variable("potter", ("Potter",), keys=("p1",), label="Ada")
FIRED = Filter(Attribute("kiln", "fired"), ">", 1200.0)
GLAZE = Filter(Attribute("kiln", "glaze"), "=", ("celadon", "tenmoku"))
MANY = Filter(Aggregate("count", Itself("kiln")), ">=", 3)
SELECT = Select(
    (Attribute("kiln", "name"),),
    (KILN, POTTER),
    (Edge("potter", "owns", "kiln"),),
    (FIRED, GLAZE, MANY),
    order=Order(Attribute("kiln", "size"), descending=True),
    limit=3,
)


def test_constants_are_things_texts_numbers_and_limits() -> None:
    texts = (("glaze", "celadon"), ("glaze", "tenmoku"))
    assert plan_constants(SELECT) == PlanConstants((POTTER,), texts, (1200.0, "celadon", "tenmoku", 3), (3,))


def test_elements_are_classes_and_predicates() -> None:
    assert plan_elements(SELECT) == {"Kiln", "Potter", "owns", "fired", "glaze", "name", "size"}
    assert asked_elements(SELECT, ()) == {"Kiln", "fired", "glaze", "name", "size"}
    assert asked_elements(SELECT, {"name"}) == {"Kiln", "fired", "glaze", "size"}


def test_other_constants_take_their_places_in_all_parts_of_a_plan() -> None:
    others = Substitution(
        things={("p1",): (("p2",), "Ben")},
        texts={("glaze", "celadon"): "shino"},
        numbers={1200.0: 900.0},
        limits={3: 5},
    )
    both = substitute(Combine("union", SELECT, SELECT), others)
    assert both.left == both.right
    assert both.left.variables == (KILN, Variable("potter", ("Potter",), keys=("p2",), label="Ben"))
    assert [each.right for each in both.left.filters] == [900.0, ("shino", "tenmoku"), 3]
    assert (both.left.limit, both.left.edges, both.left.order) == (5, SELECT.edges, SELECT.order)


def test_a_text_is_replaced_only_where_its_predicate_says_so() -> None:
    changed = substitute(SELECT, Substitution(texts={("name", "celadon"): "shino"}))
    assert changed == SELECT
