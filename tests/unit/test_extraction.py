"""Statements out of sentences, by patterns: a sentence and what it is about -> subject | relation | object."""

import pytest

from nacre.extensions.pyramid.clauses import extract_statements, object_kind

CASES = [
    ("Ada Berg graduated from the University of Basel in 1999.", [
        "Ada Berg | graduated from | University of Basel", "Ada Berg | graduated in | 1999"]),
    ("She teaches Logic, Set Theory and Statistics II.", [
        "Kay | teaches | Logic", "Kay | teaches | Set Theory", "Kay | teaches | Statistics II"]),
    ("Lena Ott, a chemist from Oslo, works on polymers.", [
        "Lena Ott | is a | chemist", "Lena Ott | chemist from | Oslo", "Lena Ott | works on | polymers"]),
    ("Ada Berg, who studied in Rome, joined Acme Ltd.", [
        "Ada Berg | studied in | Rome", "Ada Berg | joined | Acme Ltd"]),
    ("The head of the Department of Chemistry is Ada Berg.", ["Department of Chemistry | head | Ada Berg"]),
    ("Ada's office is B 12.", ["Ada | office | B 12"]),
    ("Office: B 12", ["Kay | office | B 12"]),
    ("The ferry has a range of 500 km.", ["Kay | range | 500 km"]),
    ("Ada Berg is 2 m tall.", ["Ada Berg | tall | 2 m"]),
    ("He holds a degree from Calder College.", ["Kay | holds | degree", "Kay | holds degree from | Calder College"]),
    ("In 2010, Tom Falk moved to Bergen.", ["Tom Falk | moved in | 2010", "Tom Falk | moved to | Bergen"]),
    ("The deck of the Sea Star carries up to 40 cars.", ["Sea Star | deck carries | 40 cars"]),
    # what is denied is not so
    ("Ada Berg does not work in Rome.", []),
    ("The tax is not included in the price.", []),
    ("Nice weather today!", []),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "expected"), CASES, ids=[case[0][:40] for case in CASES])
def test_what_a_sentence_states(sentence: str, expected: list[str]) -> None:
    found = [
        f"{each.subject} | {each.relation} | {each.object}" for each in extract_statements(sentence, "Kay", {"ferry"})
    ]
    assert found == expected


def test_without_a_topic_a_pronoun_states_nothing() -> None:
    assert extract_statements("She teaches Logic.") == []


def test_a_noun_that_is_not_the_topic_belongs_to_it() -> None:
    [found] = extract_statements("The battery is made in Graz.", "Sea Star")
    assert (found.subject, found.relation, found.pattern) == ("Sea Star", "battery made in", "verb+definite")


@pytest.mark.parametrize(
    ("said", "kind"),
    [("5 km", "number"), ("40 cars", "number"), ("2011-05-03", "date"), ("May 2011", "date"), ("Oslo", "thing")],
)
def test_kinds_of_objects(said: str, kind: str) -> None:
    assert object_kind(said) == kind


def test_a_sentence_without_end_is_not_read() -> None:
    assert extract_statements("Ada knows " + "Bo and " * 5000, "Kay") == []
