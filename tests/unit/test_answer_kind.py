"""The kind of answer that a question asks for, and facts that are of it."""

from typing import Any

import pytest

from nacre.access.likeness import requested_kind
from nacre.extensions.nearest.facts import kind_fit
from nacre.records.evidence import EvidenceSentence
from nacre.records.schema import Class, Predicate, Schema

SCULPTOR = Class("Sculptor", "sculptor", 2, "sculptor")


def predicate(label: str, **changes: Any) -> Predicate:
    fields: dict[str, Any] = {"has_literals": True, "has_links": False, "domains": {"Puppet": 3}, "ranges": {}}
    return Predicate(label, label, 3, 3, 3, functional=True, **{**fields, **changes})


PREDICATES = (
    predicate("first shown on", datatype="date"),
    predicate("opening hours"),
    predicate("number of strings", datatype="integer", minimum=4.0),
    predicate("dosage"),
    predicate("landlord"),
    predicate("made with", has_literals=False, has_links=True, ranges={"Sculptor": 2}),
    predicate("carved by"),
    predicate("stands on"),
    predicate("home town"),
    predicate("colour"),
)
VALUES = {"dosage": "2 drops"}


def fits(asked: str) -> list[str]:
    """The labels of the predicates that give a kind of answer."""
    schema = Schema((SCULPTOR,), (), PREDICATES, (), {}, 0, 0)
    kind = requested_kind(asked)

    def sentence(iri: str) -> EvidenceSentence:
        return EvidenceSentence("sql", 1, "", triples=(("gustav", iri, VALUES.get(iri, "x")),))

    return [p.label for p in PREDICATES if kind_fit(sentence(p.iri), "gustav", kind, schema) > 0]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("when does it go", ["first shown on", "opening hours"]),
        ("so what time is it on", ["first shown on", "opening hours"]),
        ("how many has it got", ["number of strings", "dosage"]),
        ("how heavy is it", ["number of strings", "dosage"]),
        ("tell me who came up with it", ["landlord", "made with", "carved by"]),
        ("where is it kept", ["stands on", "home town"]),
        ("what is it like", []),
        ("how do I get it", []),
    ],
)
def test_a_question_word_asks_for_a_kind(question: str, expected: list[str]) -> None:
    assert fits(question) == expected


def test_the_things_that_a_thing_belongs_to_are_of_the_kind_of_their_class() -> None:
    carved = predicate("is work of", has_literals=False, has_links=True, domains={"Sculptor": 2})
    schema = Schema((SCULPTOR,), (), (carved,), (), {}, 0, 0)
    sentence = EvidenceSentence("sql", 1, "", triples=(("ilse", carved.iri, "gustav"),))
    assert kind_fit(sentence, "gustav", "person", schema) == 1
    assert kind_fit(sentence, "gustav", "number", schema) == -1
    assert kind_fit(sentence, "gustav", "", schema) == 0


def test_the_labels_of_equal_schemas_are_one_object() -> None:
    # caches are keyed by them: two equal sets would be compared label by label at each look-up
    schema, equal = (Schema((SCULPTOR,), (), PREDICATES, (), {}, 0, 0) for _ in range(2))
    assert schema.labels is equal.labels
