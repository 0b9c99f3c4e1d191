"""Examples of functions that understand questions."""

from nacre.language.tokens import tokenize
from nacre.records.evidence import Table
from nacre.records.turn import EarlierTurn, Scope
from nacre.understanding.dialogue.focus import is_nameless
from nacre.understanding.dialogue.follow_up import OtherThings, change_kind, insert_stand_in, strip_other
from nacre.understanding.dialogue.references import adds_words, format_labels, strip_scope, superlative_reference
from nacre.understanding.dialogue.revise_plan import parse_correction
from nacre.understanding.linking.link_mentions import find_expressions
from nacre.understanding.parsing.entity_rules import values_on_scale
from nacre.understanding.question.analyse import analyse_question, is_state
from nacre.understanding.question.records import Cue, token_mask
from nacre.understanding.ranking.probabilities import probability, table_outcome
from nacre.understanding.ranking.rank import add_similarities, belief_shares, level_same_names, weighted_sum


def test_is_nameless() -> None:
    assert is_nameless(Scope(None, ("http://ex.org/row1",), ("row1",)))


def test_change_kind() -> None:
    assert change_kind("Sort them by age", EarlierTurn("q", "q", "a")) == ""


def test_strip_other() -> None:
    assert strip_other("the other one") is None
    assert strip_other("films other than Home") is None
    assert strip_other("Has she another son?") == OtherThings(question="Has she any son?", noun="son")
    assert strip_other("who else plays in it") == OtherThings(question="who plays in it", noun="")


def test_superlative_reference() -> None:
    assert superlative_reference("how long is the older one") == "how long is the oldest of them"
    assert superlative_reference("which is the one older than 30") is None
    assert superlative_reference("which is the largest?") is None


def test_adds_words() -> None:
    assert adds_words("And how old is she?", "How old is Ann?")
    assert not adds_words("So, who came ?", "Who came?")


def test_strip_scope() -> None:
    assert (
        strip_scope("How old are they (Ann (1), Bo)?", Scope(None, ("a", "b"), ("Ann (1)", "Bo")))
        == "How old are they?"
    )


def test_format_labels() -> None:
    assert format_labels(["a", "b", "c", "d", "e"]) == "a, b, c, d and 1 more"


def test_parse_correction() -> None:
    assert parse_correction("no departments") == ("departments", False)
    assert parse_correction("Who works in Lisbon?") is None


def test_values_on_scale() -> None:
    assert values_on_scale("after", "April", ["April", "Oak"]) == ()


def test_trailing_clause_start() -> None:
    assert (
        analyse_question("which is the dearest room and what does it cost").text.strip() == "which is the dearest room"
    )
    assert not analyse_question("which is the dearest room and how many people live in it").wants_measure
    assert analyse_question("firms with more than 8 orders, and how many each").text == "firms with more than 8 orders,"


def test_token_mask() -> None:
    assert bin(token_mask(1, 3)) == "0b110"


def test_table_outcome() -> None:
    assert table_outcome(Table(("yes", "left", "right"), ((0, 3, 5),))).values == (False,)


def test_probability() -> None:
    assert probability(0.0) == 0.5


def test_weighted_sum() -> None:
    assert weighted_sum({"a": 2.0, "new": 1.0}, {"a": 0.5}) == 1.0


def test_add_similarities() -> None:
    assert add_similarities([2.0, 1.0, 0.0], [0, 1], [0.0, 0.5], 4.0) == [2.0, 3.0, 0.0]


def test_insert_stand_in() -> None:
    assert insert_stand_in("Which are older than that?") == "Which are older than 999983?"


def test_find_expressions() -> None:
    question = analyse_question("who is in charge of it")
    assert [(start, end, list(concepts[:1])) for start, end, concepts in find_expressions(question, 0)] == [
        (2, 5, ["head"])
    ]


def test_is_state() -> None:
    states = (
        ("which are on display", 3),
        ("which looms are still out", 4),
        ("are the looms back", 3),
        ("who is in", 2),
    )
    others = (
        ("display them", 0),
        ("were the repairs carried out", 4),
        ("which shed is it in", 4),
        ("which are there", 2),
    )
    places = (("is the loom in the shed", 3), ("what is the size of the shed that it is in", 10))
    assert all(is_state(tokenize(text), at) for text, at in states)
    assert not any(is_state(tokenize(text), at) for text, at in (*others, *places))


def test_belief_shares() -> None:
    assert belief_shares([0.0, 0.0]) == ([0, 1], [0.5, 0.5])


def test_cue_ranking() -> None:
    assert Cue(0, 1, "superlative", "down price|cost").ranking == ("down", ("price", "cost"))


def test_level_same_names() -> None:
    assert level_same_names(["a", "b", "a"], [0.0, 0.2, 0.1]) == [0.1, 0.2, 0.1]
