"""Participles and words for what lacks something, in English, German and French: question -> answer of the rules."""

import pytest

from tests.support.ask_graph import Ask, ask_graph

SHEDS = """Schuppen,Heizung,Pächter,Baujahr,Letzte Wartung
Weidenhof,Torf,Uwe Brand,1990,2023-04-01
Erlenhof,Gas,,1975,2022-03-05
Buchenhof,Torf,,2001,2021-07-09
"""
FLATS = """Cabin,Fuel,Tenant,Year Built,Last Service
Otter,peat,Una Brand,1990,2023-04-01
Heron,gas,,1975,2022-03-05
Swift,peat,,2001,2021-07-09
"""
ATELIERS = """Atelier,Chauffage,Ville
Roseraie,tourbe,Albi
Verger,gaz,Nant
Lavoir,tourbe,Nant
"""


@pytest.fixture(scope="module")
def sheds(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    return ask_graph(SHEDS, tmp_path_factory.mktemp("sheds"), "Schuppen.csv")


@pytest.fixture(scope="module")
def cabins(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    return ask_graph(FLATS, tmp_path_factory.mktemp("cabins"), "cabins.csv")


@pytest.fixture(scope="module")
def ateliers(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    return ask_graph(ATELIERS, tmp_path_factory.mktemp("ateliers"), "ateliers.csv")


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("Welche Schuppen sind mit Torf beheizt?", ["Buchenhof", "Weidenhof"]),
        ("Welche Schuppen werden mit Gas geheizt?", ["Erlenhof"]),
        ("Wann wurde der Erlenhof zuletzt gewartet?", ["2022-03-05"]),
        ("Wann wurde der Erlenhof gebaut?", [1975]),
    ],
)
async def test_a_german_participle_names_the_property_of_its_noun(
    question: str, values: list[object], sheds: Ask
) -> None:
    answer = await sheds(question)
    assert [answer["status"], answer["values"]] == ["answered", values]


async def test_a_french_participle_names_the_property_of_its_noun(ateliers: Ask) -> None:
    assert (await ateliers("Quels ateliers sont chauffés au gaz ?"))["values"] == ["Verger"]


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("Which cabins are vacant?", ["Heron", "Swift"]),
        ("How many cabins are empty?", [2]),
        ("When was Otter built?", [1990]),
    ],
)
async def test_what_has_no_tenant_is_vacant_and_when_takes_the_day_that_is_named(
    question: str, values: list[object], cabins: Ask
) -> None:
    assert (await cabins(question))["values"] == values
