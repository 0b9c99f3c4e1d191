"""A question is analysed into cues, numbers and quotations."""

import pytest

from nacre.understanding.question.analyse import MAX_TOKENS, analyse_question


@pytest.mark.parametrize(
    ("text", "cue"),
    [
        ("How many boats are there?", ("count", "")),
        ("the oldest boat", ("superlative", "up")),
        ("boats that cost more than the average", ("compare", ">")),
        ("the number of boats for each harbour", ("group", "")),
        ("boats sorted by age", ("order", "")),
        ("boats without sails", ("negation", "")),
        ("harbours with no boats", ("negation", "")),
        ("names that start with A", ("contains", "starts")),
        ("how tall is the mast", ("degree", "height")),
        ("harbours that have both", ("both", "")),
        ("boats with 9 kW of power or more", ("bound", ">=")),
        ("since when is the pier open", ("open", "when")),
        ("how much would a sail cost", ("degree", "price")),
    ],
)
def test_cues(text: str, cue: tuple[str, str]) -> None:
    kind, value = cue
    assert any(c.kind == kind and c.value.startswith(value) for c in analyse_question(text).cues)


@pytest.mark.parametrize("text", ["piers no more than a kilometre away", "boats with at least two sails"])
def test_what_compares_a_number_says_nothing_else(text: str) -> None:
    assert not [c for c in analyse_question(text).cues if c.kind in ("negation", "most")]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("boats older than 30", [(">", 30.0)]),
        ("boats with at least two sails", [(">=", 2.0)]),
        ("boats with more than twenty-five thousand bolts", [(">", 25000.0)]),
        ("boats worth over $100 million", [(">", 100e6)]),
        ("boats under half a million", [("<", 500e3)]),
        ("boats with fewer than a thousand bolts", [("<", 1000.0)]),
        ("boats built in 1990", [("=", 1990.0)]),
        ("piers no more than a kilometre away", [("<=", 1.0)]),
        ("boats seen after 2019-05-05 10:20:30", [(">", 2019.0)]),
    ],
)
def test_numbers(text: str, numbers: list[tuple[str, float]]) -> None:
    assert [(n.op, n.value) for n in analyse_question(text).numbers] == numbers


def test_quotations() -> None:
    question = analyse_question('boats called "Blue Heron"')
    (start, end) = question.quoted[0]
    assert [t.norm for t in question.tokens[start:end]] == ["blue", "heron"]


def test_long_questions_are_cut() -> None:
    assert len(analyse_question("the engine of " * 500).tokens) == MAX_TOKENS


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("boats between 3 and 5", 3, 5),
        ("boats with 3 to 5 sails", 3, 5),
        ("boats with 3-5 sails", 3, 5),
        ("boats with three to five sails", 3, 5),
        ("boats built from 1990 to 1995", 1990, 1995),
        ("boats built between the years 1990 and 1995", 1990, 1995),
        ("boats between 5 and 15 km away", 5, 15),
        ("boats worth between 2 and 100 million", 2e6, 100e6),
        ("boats with 10 to 50 thousand bolts", 10e3, 50e3),
        ("boats seen from March 2015 to May 2016", 2015, 2016),
    ],
)
def test_ranges(text: str, low: float, high: float) -> None:
    assert [(n.op, n.value, n.until) for n in analyse_question(text).numbers] == [(">=", low, high)]


@pytest.mark.parametrize("text", ["from 0 to 60", "a score of 3-1", "call 555-1234", "from 10 to 5", "3 or 5 sails"])
def test_what_is_no_range(text: str) -> None:
    assert not [n for n in analyse_question(text).numbers if n.until is not None]


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("who has 515.123.8080", ["515.123.8080"]),
        ("whose phone is 020-7946-0018?", ["020-7946-0018"]),
        ("version 1.2.3.", ["1.2.3"]),
        ("between 2010-01-01 and 12.5.2020, 13/5/2020", []),
        ("rooms 1-2 at 3.50 on 2020-01-02 10:30:00", []),
    ],
)
def test_codes_of_digits_mean_themselves(text: str, codes: list[str]) -> None:
    question = analyse_question(text)
    said = [question.text[question.tokens[a].start : question.tokens[b - 1].end] for a, b in question.quoted]
    assert said == codes


def test_digits_are_kept_as_typed() -> None:
    assert [n.digits for n in analyse_question("who has 0207946001 and 4.5").numbers] == ["0207946001", ""]


@pytest.mark.parametrize("text", ["before 12.5.2020", "before 2020/05/12", "before 5/12/2020", "before 12/5/2020"])
def test_dates_in_digits_are_dates(text: str) -> None:
    first = {"before 5/12/2020": "2020-12-05"}.get(text, "2020-05-12")
    assert [(n.op, n.date_start) for n in analyse_question(text).numbers] == [("<", first)]
