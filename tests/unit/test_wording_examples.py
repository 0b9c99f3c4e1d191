"""Examples of functions that word plans and rows."""

from nacre.records.evidence import Table
from nacre.records.plan import Aggregate, Filter, Itself, Variable
from nacre.wording.clauses import comparison_words, count_condition_phrase
from nacre.wording.comparison import single_property_sentence, summarise_difference
from nacre.wording.facts import is_part_of_name
from nacre.wording.grid import distinct_values, drop_zero_fraction
from nacre.wording.group import is_possession
from nacre.wording.labels import PredicateLabel, event_clause, move_time_last, parse_label
from nacre.wording.link_clauses import (
    LinkEnd,
    backward_link_clause,
    forward_link_clause,
    superlative_phrase,
    thing_name,
)
from nacre.wording.nouns import is_plain_noun
from nacre.wording.overview import read_sentence
from nacre.wording.sentence import caption, definite_phrase, is_unwieldy, sentence_about
from nacre.wording.translations import own_labels, translated_literal, translated_number


def test_comparison_words() -> None:
    assert comparison_words(">") == "above"
    assert comparison_words("=") == ""
    assert comparison_words("<", dated=True) == "before"


def test_single_property_sentence() -> None:
    assert (
        single_property_sentence(Table(("property", "Ann", "Bo"), (("details", "x", "x"),)))
        == "Ann and Bo have the same details: x."
    )
    assert (
        single_property_sentence(Table(("property", "Ann", "Bo"), (("price (net)", "5", "6"),)))
        == "The price (net) of Ann is 5, and that of Bo is 6."
    )
    assert (
        single_property_sentence(Table(("property", "Ann", "Bo"), (("number of cars", "1", "0"),)))
        == "Ann has 1 car, and Bo has 0."
    )
    assert (
        single_property_sentence(Table(("property", "Ann", "Bo"), (("number of cars", "2", "2"),)))
        == "Ann and Bo have 2 cars each."
    )


def test_summarise_difference() -> None:
    assert (
        summarise_difference(Table(("property", "A", "B"), (("food safe", "yes", "yes"), ("has siren", "no", "no"))))
        == "both are food safe; neither has a siren"
    )
    assert (
        summarise_difference(Table(("property", "A", "B"), (("price", "5", "6"), ("fired in", "K", "L"))))
        == "A and B differ in price, among other things"
    )


def test_is_part_of_name() -> None:
    assert is_part_of_name("first name", "Ann", "Ann Rye")
    assert not is_part_of_name("middle name", "Jo", "Ann Rye")


def test_distinct_values() -> None:
    assert distinct_values([3, 3.0, "3", True]) == (3, "3", True)


def test_drop_zero_fraction() -> None:
    assert drop_zero_fraction(3.0) == 3
    assert drop_zero_fraction(3.5) == 3.5


def test_is_possession() -> None:
    assert is_possession(PredicateLabel("noun", "type", "types"), "shop type")
    assert not is_possession(PredicateLabel("noun", "capital", "capitals"), "city")


def test_predicate_label_phrase() -> None:
    assert PredicateLabel("role", "variant", "variants").phrase("Fox").words(many=True) == "are variants of Fox"


def test_predicate_label_flag() -> None:
    assert (
        PredicateLabel("noun", "includes lunch", "includes lunch").flag(False).words(many=True)
        == "do not include lunch"
    )
    assert PredicateLabel("flag", "sold", "sold", was=True).flag().words() == "was sold"
    assert PredicateLabel("noun", "trainer", "trainers").flag(False).words(many=True) == "are not trainers"
    assert PredicateLabel("flag", "climate controlled", "climate controlled").flag().words() == "is climate-controlled"


def test_parse_label() -> None:
    assert parse_label("has price").one == "price"
    assert parse_label("serves cuisine").one == "cuisine"
    assert parse_label("born").kind == "state"
    assert parse_label("first flown").kind == "state"
    assert parse_label("amount paid").kind == "noun"


def test_move_time_last() -> None:
    assert move_time_last("date of birth") == "date of birth"
    assert move_time_last("date left") == "date left"


def test_forward_link_clause() -> None:
    club = PredicateLabel("noun", "club", "clubs")
    assert (
        forward_link_clause(club, LinkEnd("a club whose budget is 5", "club"), "player").one
        == "whose club's budget is 5"
    )
    variant = PredicateLabel("role", "variant", "variants")
    assert forward_link_clause(variant, LinkEnd("Fox", "car", is_named=True), "car variant").front == "Fox"


def test_backward_link_clause() -> None:
    assert (
        backward_link_clause(PredicateLabel("noun", "capital", "capitals"), "Spain", "city").one
        == "that is the capital of Spain"
    )


def test_thing_name() -> None:
    assert thing_name(Variable("x", keys=("http://e.org/room12",), label="12"), "room") == "room 12"
    assert (
        thing_name(Variable("x", keys=("http://e.org/fox",), label="Fox (car variant)"), "car variant")
        == "the car variant Fox"
    )
    assert thing_name(Variable("x", keys=("http://e.org/room12",), label="12 (room)"), "room") == "room 12"
    assert thing_name(Variable("x", keys=("http://e.org/fox",), label="(1 of before)"), "ship") == "that ship"


def test_superlative_phrase() -> None:
    assert superlative_phrase("city", ["that is old"]) == ""


def test_is_plain_noun() -> None:
    assert [is_plain_noun(noun) for noun in ("club member", "trained in", "visits restaurant", "crew manages")] == [
        True,
        False,
        False,
        False,
    ]


def test_read_sentence() -> None:
    assert read_sentence("20260503T101500000000-0a1b2c3d") == "It was read in on 3 May 2026."


def test_is_unwieldy() -> None:
    assert not is_unwieldy("the names of the mills whose town is Rome and whose height is 3")
    assert is_unwieldy("the names of the mills with a miller whose age is 30")
    assert is_unwieldy("the town with the mill with the most sails")


def test_caption() -> None:
    assert caption("mills and their towns") == "Here are the mills and their towns"
    assert caption("3 of those mills") == "3 of those mills"
    assert caption("There are 3 such mills") == "There are 3 such mills"
    assert caption("the towns and the number of mills in each") == "Here are the towns and the number of mills in each"
    assert caption("the height and width of the mill") == "Here are the height and width of the mill"


def test_definite_phrase() -> None:
    assert definite_phrase("mills and their towns") == "the mills and their towns"
    assert definite_phrase("those 3 mills") == "those 3 mills"
    assert definite_phrase("Fox variants") == "Fox variants"


def test_sentence_about() -> None:
    assert sentence_about("iPhone has 2 colours", "iPhone") == "iPhone has 2 colours."
    assert sentence_about("the colour of iPhone is red", "iPhone") == "The colour of iPhone is red."


def test_translated_number() -> None:
    assert translated_number(12345.5, "de", "m") == "12.345,5 m"


def test_translated_literal() -> None:
    assert translated_literal("2009-05-03", "de") == "3. Mai 2009"
    assert translated_literal("14.0", "fr", "m") == "14 m"
    assert translated_literal("0", "de", is_boolean=True) == "nein"


def test_count_condition_phrase() -> None:
    assert (
        count_condition_phrase(Filter(Aggregate("count", Itself("y")), ">=", 3), "concerts", "3")
        == "with at least 3 concerts"
    )


def test_event_clause() -> None:
    assert event_clause("date became customer") == "became a customer"
    assert event_clause("date left staff") == "left staff"
    assert event_clause("date of birth") == ""


def test_labels_in_the_language_of_the_reader_come_first() -> None:
    assert own_labels("kiln", ("Ofen", "oven"), "de") == ("Ofen", ("kiln", "oven"))
    assert own_labels("kiln", ("Ofen",), "en") == ("kiln", ("Ofen",))
    assert own_labels("kiln", ("oven",), "de") == ("kiln", ("oven",))
