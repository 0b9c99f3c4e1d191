"""What a sentence may say and what it may not, case by case: fixtures/claims.yaml is extended without Python."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nacre.checking.claims import unsupported_claims
from nacre.language.quantities import unit_registry
from nacre.language.tokens import name_tokens
from nacre.records.evidence import Evidence, EvidenceSentence, Rows, Table
from tests.support.read_yaml import read_yaml

CASES = read_yaml(Path(__file__).parents[1] / "fixtures/claims.yaml")
SENTENCES = [
    pytest.param(case, text, kind == "right", id=f"{kind}: {text}")
    for case in CASES
    for kind in ("right", "wrong")
    for text in case[kind]
]


def evidence(case: dict[str, Any]) -> Evidence:
    if "text" in case:
        return EvidenceSentence("lexical", 1, text=case["text"], title=case["title"])
    rows = tuple(tuple(row) for row in case["rows"])
    table = Table(tuple(case["columns"]), rows, units=tuple(case.get("units", ())))
    return Rows("sql", 1, table=table, words=case["asked"])


@pytest.mark.parametrize(("case", "text", "right"), SENTENCES)
def test_a_sentence_is_held_or_not(case: dict[str, Any], text: str, right: bool) -> None:
    names = [list(name_tokens(name)) for name in case.get("known", ())]

    def known(words: Any) -> list[tuple[int, int]]:
        return [(i, i + len(n)) for n in names for i in range(len(words)) if list(words[i : i + len(n)]) == n]

    missing = unsupported_claims(text, [evidence(case)], known)
    assert (missing == []) == right, missing


def test_the_unit_of_what_places_a_thing_is_held() -> None:
    table = Table(("donor",), (("Ann",),), measured=(30000,), measured_name="contribution", measured_unit="EUR")
    best = Rows("sql", 1, table=table, words="the donor with the highest contribution")
    text = "The donor with the highest contribution is Ann, at 30,000 {}."
    assert unsupported_claims(text.format("EUR"), [best]) == []
    assert unsupported_claims(text.format("USD"), [best])


def test_names_and_numbers_of_two_sentences_are_not_joined_anew() -> None:
    told = [
        EvidenceSentence("lexical", 1, text=f"The {dish} cooks for {minutes} min.", title=dish)
        for dish, minutes in (("pilaf", 25), ("dal", 35))
    ]
    assert unsupported_claims("The dal cooks for 35 min, the pilaf for 25 min.", told) == []
    assert unsupported_claims("The dal cooks for 25 min.", told) == ["what belongs to what"]


PRICE = Rows("sql", 1, Table(("average price",), ((60,),), units=("EUR",)), words="the average price of the barges")
OTHER_PRICE = replace(PRICE, table=replace(PRICE.table, rows=((50,),)), words="the average price of the punts")
NONE = Rows("sql", 1, Table(("label",), ()), words="the barges with two masts")


@pytest.mark.parametrize(
    ("sentence", "supported"),
    [
        ("On average the barges cost 10 EUR more than the punts.", True),
        ("On average the barges are 20% more expensive than the punts.", True),
        ("On average the barges cost 9 EUR more than the punts.", False),
        ("On average the barges are 30% more expensive than the punts.", False),
    ],
)
def test_two_cited_numbers_support_their_difference_and_percentage(sentence: str, supported: bool) -> None:
    assert (not unsupported_claims(sentence, [PRICE, OTHER_PRICE])) == supported


@pytest.mark.parametrize("evidence", [[NONE], [NONE, PRICE]])
@pytest.mark.parametrize("sentence", ["No barge has two masts.", "The graph lists no barges with two masts."])
def test_an_empty_result_supports_a_negation(sentence: str, evidence: list[Rows]) -> None:
    assert unsupported_claims(sentence, evidence) == []
    assert unsupported_claims("The barges have two masts.", [NONE])


@pytest.mark.parametrize(
    ("language", "columns", "row", "right", "wrong"),
    [
        (
            "fr",
            ("église", "poids"),
            ("Bargagli", 2046),
            "L'Église de Bargagli pèse 2046.",
            "L'Église de Leivi pèse 2046.",
        ),
        ("fr", ("engineer", "n"), ("Ann", 1), "D'après les données, l'Ingénieur est Ann.", "L'Ingénieur est Bob."),
        (
            "de",
            ("name", "email"),
            ("Ann", "ann@post.de"),
            "Die E-Mail von Ann ist ann@post.de.",
            "Die E-Mail von Bob.",
        ),
        ("de", ("period", "n"), ("Devonian", 4), "Das Devon hat 4 Stufen.", "Das Silur hat 4 Stufen."),
        (
            "en",
            ("car", "s 0 62 mph"),
            ("X2", 5.8),
            "The X2 goes from 0 to 62 mph in 5.8 s.",
            "From 0 to 60 mph: 5.8 s.",
        ),
    ],
)
def test_what_languages_and_headings_write_differently_is_no_other_name(
    language: str, columns: tuple[str, ...], row: tuple[str | float, ...], right: str, wrong: str
) -> None:
    table = Rows("sql", 1, table=Table(columns, (row,)))
    assert unsupported_claims(right, [table], language=language) == []
    assert unsupported_claims(wrong, [table], language=language)


@pytest.mark.parametrize(
    ("language", "right", "wrong"),
    [
        ("de", "Die Fähre wiegt 358,86 Tonnen.", "Die Fähre wiegt 358,68 Tonnen."),
        ("fr", "Le bac pèse 358,86 tonnes.", "Le bac pèse 35,886 tonnes."),
        ("de", "Die Fähre wiegt 358.86 Tonnen.", "Die Fähre wiegt 86 Tonnen."),
    ],
)
def test_other_languages_write_decimals_behind_a_comma(language: str, right: str, wrong: str) -> None:
    weights = Rows("sql", 1, table=Table(("weight in t",), ((358.86,),)), words="the weight of the ferry")
    assert unsupported_claims(right, [weights], language=language) == []
    assert unsupported_claims(wrong, [weights], language=language)
    assert unsupported_claims("The ferry weighs 358,86 t.", [weights])


@pytest.mark.parametrize(
    ("language", "right", "wrong"),
    [
        ("de", "Ann wurde am 19. März 1807 geboren.", "Ann wurde am 19. Mai 1807 geboren."),
        ("fr", "Ann est née le 1er juin 1807.", "Ann est née le 2 juin 1807."),
    ],
)
def test_other_languages_write_dates_in_their_own_words(language: str, right: str, wrong: str) -> None:
    day = "1807-03-19" if language == "de" else "1807-06-01"
    born = Rows("sql", 1, table=Table(("name", "birth date"), (("Ann", day),)), words="the birth date of Ann")
    assert unsupported_claims(right, [born], language=language) == []
    assert unsupported_claims(wrong, [born], language=language)


def test_a_condition_of_the_query_may_be_said_in_another_language() -> None:
    counted = Rows("sql", 1, table=Table(("number",), ((28,),)), words="the number of mills built after 2000")
    right, wrong = "28 Mühlen wurden nach 2000 gebaut.", "28 Mühlen wurden nach 2005 gebaut."
    assert unsupported_claims(right, [counted], language="de") == []
    assert unsupported_claims(wrong, [counted], language="de") == ["2005"]


NUMBERS = [" ".join(f"{n}" for n in range(100 * i, 100 * i + 100)) for i in range(300)]


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        # a list of remarks with many numbers; single values as long as the outline of a country, or an article
        (NUMBERS, ", ".join(NUMBERS[:30])),
        ([" ".join(f"{n}.5 {n + 7} km" for n in range(3000))] * 2, None),
        ([" ".join(f"{1900 + n % 99}-0{1 + n % 9}-11" for n in range(3000))] * 2, None),
        ([" ".join(f"Name{n} Xyz" for n in range(3000))] * 2, None),
        # not as the cell has it: not compared, so that its evidence stands in for it
        ([" ".join(NUMBERS)], " ".join(NUMBERS).replace("1 ", "1  ")),
    ],
)
def test_long_values_are_checked_in_time(cells: list[str], said: str | None) -> None:
    rows = Rows("sql", 1, Table(("buoy", "remark"), tuple((f"B{i}", cell) for i, cell in enumerate(cells))))
    unsupported_claims("The remark of B0 is 1 km in 2001.", [rows])
    start = time.process_time()
    missing = unsupported_claims(f"The remarks of the buoys are {said or cells[0]}.", [rows])
    # comparing each number, date or word with each one of the evidence takes 10 to 100 s
    assert time.process_time() - start < 4.0
    assert bool(missing) == (len(cells) == 1)


def test_the_end_of_a_long_value_is_no_evidence_of_its_own() -> None:
    rows = Rows("sql", 1, Table(("buoy", "remark"), (("B0", "long " * 100 + "41 m"), ("B1", "43 m"))))
    assert unsupported_claims(f"The remark of B0 is {'long ' * 100}41 m.", [rows]) == []
    assert unsupported_claims("The remark of B0 is 41 m.", [rows])


def test_a_function_word_after_a_number_is_no_unit() -> None:
    unit_registry.cache_clear()
    rows = Rows("sql", 1, table=Table(("count",), ((0,),)), words="the number of boats")
    assert unsupported_claims("There are 0 such boats.", [rows]) == []
    # the units take longer to load than a turn takes
    assert unit_registry.cache_info().currsize == 0
