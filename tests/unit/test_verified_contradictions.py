"""What rules the plan of a verified question out for another question."""

from dataclasses import dataclass, replace
from typing import Any, cast

import pytest

from nacre.extensions.verified.offer import Words, asks_otherwise, requested_kind, rules_are_surer
from nacre.extensions.verified.template import Alignment, LinkedQuestion, template_of
from nacre.records.json_form import to_json
from nacre.records.plan import Aggregate, Ask, Attribute, Body, Itself, Order, Plan, Select, Variable
from nacre.records.schema import Class, Predicate, Schema
from nacre.records.turn import Reading, VerifiedQuestion
from nacre.understanding.linking.schema_graph import SchemaGraph
from nacre.understanding.question.analyse import analyse_question
from nacre.understanding.question.records import Link, Ref, token_mask


def predicate(name: str, **more: Any) -> Predicate:
    return Predicate(name, name, 3, 3, 3, True, False, True, {"Loom": 3}, {}, **more)


SCHEMA = Schema(
    (Class("Loom", "loom", 3, "loom"),),
    (),
    (predicate("town"), predicate("shafts", minimum=2), predicate("bought", datatype="date")),
    (), {}, 9, 3,
)  # fmt: skip
LOOM = (Variable("loom", ("Loom",)),)
LIST = Select((Itself("loom"),), LOOM)
TOWN = Select((Attribute("loom", "town"),), LOOM)
BOUGHT = Select((Attribute("loom", "bought"),), LOOM)
COUNT = Select((Aggregate("count", Itself("loom")),), LOOM)
SUM = Select((Aggregate("sum", Attribute("loom", "shafts")),), LOOM)
WIDEST = Select((Itself("loom"),), LOOM, order=Order(Attribute("loom", "shafts"), descending=True), limit=1)
NONE: frozenset[int] = frozenset()
NO_WORDS = Words(NONE, NONE, NONE, NONE, NONE, NONE, ())


@dataclass
class SmallGraph:
    """What the laws ask of a graph."""

    schema: Schema

    def is_date(self, predicate: str) -> bool:
        return self.schema.predicate_of[predicate].datatype == "date"


GRAPH = cast(SchemaGraph, SmallGraph(SCHEMA))


def alignment(verified: str, body: Body) -> Alignment:
    entry = VerifiedQuestion("", verified, verified, to_json(Plan(body)), None, "", "text", "", "", "")
    template = template_of(entry, SCHEMA)
    assert template is not None
    return Alignment(template, template.plan, frozenset())


def is_out(question: str, verified: str, body: Body, words: Words = NO_WORDS, links: tuple[Link, ...] = ()) -> bool:
    return asks_otherwise(alignment(verified, body), words, LinkedQuestion(analyse_question(question), links, GRAPH))


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("When was the loom bought?", "when"),
        ("Where does the loom stand?", "where"),
        ("Who weaves on it?", "who"),
        ("How many looms are there?", "number"),
        ("Is the loom old?", "truth"),
        ("Looms by town", ""),
    ],
)
def test_the_first_words_say_what_is_asked_for(question: str, kind: str) -> None:
    assert requested_kind(analyse_question(question)) == kind


@pytest.mark.parametrize(
    ("question", "verified", "body"),
    [
        ("When did the loom come to us?", "The home of the loom", TOWN),
        ("Where did the loom go?", "The day that we got the loom", BOUGHT),
        ("How many towns have looms?", "The towns of the looms", TOWN),
        ("Who has the loom?", "The day that we got the loom", BOUGHT),
        ("Is there a loom in town?", "The looms in town", LIST),
        ("Which looms stand in town?", "Is there a loom in town?", Ask(LIST)),
        ("Show the looms", "How many looms are there?", COUNT),
        ("How many looms have shafts?", "The total of the shafts", SUM),
        ("The total of different shafts", "The total of the shafts", SUM),
    ],
)
def test_a_plan_with_another_kind_of_answer_is_out(question: str, verified: str, body: Body) -> None:
    assert is_out(question, verified, body)


@pytest.mark.parametrize(
    ("question", "verified", "body"),
    [
        ("When did the loom come to us?", "The day that we got the loom", BOUGHT),
        ("How many looms do we own?", "Count the looms", COUNT),
        ("Where do we weave?", "The towns of the looms", TOWN),
        # the person who confirmed it found the answer right
        ("When did it come?", "When did the loom come to us?", TOWN),
        ("Shafts in total", "The total of the shafts", SUM),
        ("How many shafts do they have?", "How many shafts have the looms in total?", SUM),
        ("Give me the number of looms", "How many looms are there?", COUNT),
    ],
)
def test_a_plan_with_the_kind_of_answer_stands(question: str, verified: str, body: Body) -> None:
    assert not is_out(question, verified, body)


@pytest.mark.parametrize(
    ("question", "verified", "body"),
    [
        ("The looms that are not in town", "The looms in town", LIST),
        ("The looms in town", "The looms that are not in town", LIST),
        ("The average width of the looms", "The width of the looms", LIST),
        ("The looms of the town", "The loom with the most shafts", WIDEST),
        ("The loom with the fewest shafts", "The loom with the most shafts", WIDEST),
    ],
)
def test_a_plan_that_computes_something_else_is_out(question: str, verified: str, body: Body) -> None:
    assert is_out(question, verified, body)
    assert not is_out(verified, verified, body)


def link(kind: Any, score: float, exact: bool = False) -> Link:
    return Link(3, 4, kind, (Ref(0, "shafts"),), score, token_mask(3, 4), exact)


def test_a_word_for_another_property_or_a_name_without_a_place_rules_out() -> None:
    question, verified = "the looms and reeds", "the looms"
    weak = replace(NO_WORDS, weak=frozenset((3,)))
    assert is_out(question, verified, LIST, weak, (link("property", 0.8),))
    assert not is_out(question, verified, LIST, weak, (link("property", 0.4),))
    # the verified question has the word as well
    assert not is_out(question, verified, LIST, NO_WORDS, (link("property", 0.8),))
    assert is_out(question, verified, LIST, NO_WORDS, (link("entity", 1.0, exact=True),))
    same = replace(NO_WORDS, same=frozenset((3,)))
    assert not is_out(question, verified, LIST, same, (link("entity", 1.0, exact=True),))


def test_another_name_and_another_word_rule_out_together() -> None:
    unlinked = replace(NO_WORDS, unlinked=frozenset((1,)), missing=analyse_question("cast").tokens)
    offered = alignment("who cast the loom of A", LIST)
    linked = LinkedQuestion(analyse_question("who rang the loom of B"), (), GRAPH)
    assert not asks_otherwise(offered, unlinked, linked)
    assert asks_otherwise(replace(offered, changed=1), unlinked, linked)
    assert not asks_otherwise(replace(offered, changed=1), replace(unlinked, missing=()), linked)


def test_the_rules_are_surer_only_of_another_plan() -> None:
    offered = alignment("the looms", LIST)
    other, own = (Reading(Plan(body), 0.5, 1.0, "", 0.8) for body in (TOWN, LIST))
    assert rules_are_surer(offered, 0.7, other)
    assert not rules_are_surer(offered, 0.9, other)
    assert not rules_are_surer(offered, 0.7, own)
    assert not rules_are_surer(offered, 0.1, Reading(Plan(TOWN), 0.5, 1.0, "", 0.4))
    assert not rules_are_surer(offered, 0.1, None)
