"""Values that are written in several ways: what is one value is joined, and what may be one is named."""

from pathlib import Path

import pytest

from tests.support.ask_graph import Ask, ask_graph

GRAPH = """
@prefix : <http://e.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Crate a rdfs:Class ; rdfs:label "crate" . :shade rdfs:label "shade" . :maker rdfs:label "maker" .
:port rdfs:label "port" . :pots rdfs:label "pots" .
:a a :Crate ; rdfs:label "Crate A1" ; :shade "grey" ; :maker "Nord-Ton" ; :port "Århus" ; :pots 1 .
:b a :Crate ; rdfs:label "Crate A2" ; :shade "Grey " ; :maker "Nord Ton" ; :port "\\u00c5RHUS" ; :pots 2 .
:c a :Crate ; rdfs:label "Crate A3" ; :shade "gray" ; :maker "NORD TON" ; :port "A\\u030arhus" ; :pots 4 .
:d a :Crate ; rdfs:label "Crate A4" ; :shade "green" ; :maker "Lehmwerk" ; :port "Aarhus" ; :pots 8 .
:e a :Crate ; rdfs:label "Crate A5" ; :shade "green" ; :maker "Lehmwerck" ; :port "Odense" ; :pots 16 .
"""


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    return ask_graph(GRAPH, tmp_path_factory.mktemp("crates"))


async def test_case_blanks_punctuation_and_forms_of_letters_are_one_value(ask: Ask) -> None:
    answer = await ask("How many crates have the maker Nord Ton?")
    assert (answer["values"], answer["status"]) == ([3], "answered")
    assert (await ask("How many crates have the port Århus?"))["values"] == [4]
    assert (await ask("What is the total number of pots of the crates whose maker is Nord Ton?"))["values"] == [7]


async def test_variants_are_joined_and_named(ask: Ask) -> None:
    answer = await ask("How many crates have the shade grey?")
    assert (answer["values"], answer["status"]) == ([3], "partial")
    assert "“gray” (1) is counted as “grey” too." in answer["answer"].lower()


async def test_what_may_be_a_misspelling_is_named_and_the_count_is_not_sure(ask: Ask) -> None:
    answer = await ask("How many crates have the maker Lehmwerk?")
    assert (answer["values"], answer["status"]) == ([1], "partial")
    assert "“Lehmwerck” (1) is not counted, but may be “Lehmwerk” in another spelling." in answer["answer"]


async def test_groups_of_one_value_in_several_spellings_are_named(ask: Ask) -> None:
    answer = await ask("How many crates are there for each shade?")
    assert answer["status"] != "answered"
    assert "“gray” and “grey” may be “grey” in another spelling." in answer["answer"].lower()


async def test_values_that_differ_are_sure(ask: Ask) -> None:
    answer = await ask("How many crates have the shade green?")
    assert (answer["values"], answer["status"]) == ([2], "answered")


async def test_spellings_of_an_iri_are_one_thing(tmp_path: Path) -> None:
    sites = ("https://s.org/site/B/", "https://s.org/site/B", "https://s.org/site/\u00c5", "https://s.org/site/A\u030a")
    graph = "".join(
        f'<{iri}> a <http://s.org/Site> ; <http://www.w3.org/2000/01/rdf-schema#label> "{name}" .\n'
        for iri, name in zip(sites, ("Beck", "Beck", "Aas", "Aas"), strict=True)
    )
    answer = await ask_graph(graph, tmp_path)("How many sites are there?")
    assert answer["values"] == [2]


async def test_spellings_among_many_values_are_joined(tmp_path: Path) -> None:
    makers = [f"Kiln {chr(65 + n // 26)}{chr(65 + n % 26)} works" for n in range(80)]
    makers += ["Nord Ton Werk", "N.T.W.", "nord-ton werk", "Harbour Pots", "Harbor Pots", "Lehm Ton", "Lehm Topf", "LT"]
    graph = "".join(
        f"<http://e.org/{n}> a <http://e.org/Crate> ; <http://www.w3.org/2000/01/rdf-schema#label> "
        f'"Crate {n}" ; <http://e.org/maker> "{maker}" .\n'
        for n, maker in enumerate(makers)
    )
    ask = ask_graph(graph, tmp_path)
    answer = await ask("How many crates have the maker Nord Ton Werk?")
    assert (answer["values"], answer["status"]) == ([3], "partial")
    assert "“N.T.W.” (1) is counted as “" in answer["answer"]
    assert (await ask("How many crates have the maker Harbour Pots?"))["values"] == [2]
    # initials of two values are no spelling of one of them
    assert (await ask("How many crates have the maker Lehm Ton?"))["values"] == [1]
