"""A word that names nothing is taught: what it may mean, who may teach it, and that questions then use it."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ingestion.layer.apply import MAX_NAMES, Meaning, Named
from ingestion.pipeline import ingest
from nacre.config.embedder import local_embedder
from nacre.config.settings import Settings
from nacre.errors import ConfigError, IngestionError
from nacre.extensions.layer_patterns.teaching import (
    WordMeaning,
    find_meanings,
    is_readable,
    named_meaning,
    require_teachable,
    teach_word,
    word_meanings,
)
from nacre.serving.cli.main import main
from nacre.serving.errors import Forbidden
from nacre.serving.http.dependencies import GraphLookUp
from nacre.serving.http.layer import NamesChange, change_names, graph_names
from nacre.serving.keys import Caller
from nacre.serving.turn_service import open_turn_service
from nacre.stores.catalog import Library
from nacre.understanding.linking.link_mentions import link_mentions, linker_of
from nacre.understanding.question.analyse import analyse_question

pytestmark = pytest.mark.skipif(local_embedder("auto") is None, reason="needs the bundled embedder")
HERE = "http://example.org/lets/"
GRAPH = f"""
@prefix : <{HERE}> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:House rdfs:label "house" . :Caretaker rdfs:label "caretaker" . :Pump rdfs:label "pump" .
:managedBy rdfs:label "managed by" . :rent rdfs:label "monthly rent" . :bedrooms rdfs:label "bedrooms" .
:letSince rdfs:label "let since" . :power rdfs:label "power" . :width rdfs:label "width" .
:ida a :Caretaker ; rdfs:label "Ida Voss" . :jan a :Caretaker ; rdfs:label "Jan Prell" .
:rose a :House ; rdfs:label "Rose house" ; :managedBy :ida ; :rent "840 EUR" ; :bedrooms 3 ; :heating "gas" ;
  :letSince "2019-04-01"^^xsd:date ; :code "H-1" .
:mill a :House ; rdfs:label "Mill house" ; :managedBy :jan ; :rent "1120 EUR" ; :bedrooms 4 ; :heating "oil" ;
  :letSince "2021-09-15"^^xsd:date ; :code "H-2" .
:yard a :Pump ; rdfs:label "yard pump" ; :power "4 kW" ; :width "600 mm" ; :code "P-1" .
:cellar a :Pump ; rdfs:label "cellar pump" ; :power "2.5 kW" ; :width "400 mm" ; :code "P-2" .
"""
ANN, WU = Caller("ann"), Caller("wu", may=("write",))
# words of questions, what they most likely mean, and what the question gives with that
MEANT = {
    ("wattage", "What is the wattage of the cellar pump?"): ("power", "The power of cellar pump is 2.5 kW."),
    ("cost", "What does the Mill house cost?"): ("monthly rent", "The monthly rent of Mill house is 1,120 EUR."),
    ("gov", "Who is the gov of the Rose house?"): ("managed by", "Ida Voss manages Rose house."),
    ("gaffers", "List all gaffers"): ("caretaker", "There are 2 caretakers: Ida Voss and Jan Prell."),
    ("dosses", "How many dosses has the Mill house?"): ("bedrooms", "The number of bedrooms of Mill house is 4."),
}
# words that can't be taught, and why
REFUSED = {
    "rent": "already: the property “monthly rent”",
    "caretakers": "already: the class “caretaker”",
    "Mill house": "already: the thing “Mill house”",
    "gas": "already: a value of “gas”",
    "manages": "already: the property “managed by”",
    "most": "questions are made of",
    "how many": "questions are made of",
    "?": "Teach 1 to 4 words",
    "a kip of a kind so": "Teach 1 to 4 words",
    "dearest": "questions are made of",
    "x" * 101: "at most 100 characters",
}


@pytest.fixture
def houses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Library]:
    monkeypatch.setenv("NACRE_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "houses.ttl").write_text(GRAPH, encoding="utf-8")
    ingest([str(tmp_path / "houses.ttl")], "houses", data=tmp_path / "data", no_vectors=True)
    library = Library(tmp_path / "data", local_embedder("auto"))
    yield library
    library.close()


def test_the_likeliest_meanings_come_with_what_the_question_would_give(houses: Library) -> None:
    with houses.open("houses") as graph:
        for (word, question), best in MEANT.items():
            first, *others = find_meanings(word, question, graph)
            assert (first.name, first.answer) == best
            assert len(others) <= 2
            answers = [each.answer for each in (first, *others) if each.answer]
            assert len(answers) == len(set(answers))
        samples = {each.name: each.answer or each.of for each in find_meanings("zorb", "", graph)}
        assert all(samples.values())


# the place of a word in its question, and what it likely means: a class, an amount, a person or role, a date, a value
PLACED = {
    ("kip", "Which kip has a rent of 840 EUR?"): "house",
    ("poke", "How much poke has the yard pump?"): "power",
    ("signed for", "When was the Mill house signed for?"): "let since",
    ("methane", "Which houses are methane?"): "gas",
}


def test_the_place_of_a_word_in_its_question_says_what_it_may_mean(houses: Library) -> None:
    with houses.open("houses") as graph:
        for (word, question), best in PLACED.items():
            assert find_meanings(word, question, graph)[0].name == best, question
        assert {each.kind for each in find_meanings("kips", "How many kips have we got?", graph)} == {"class"}


def test_what_another_word_of_the_question_means_is_not_proposed(houses: Library) -> None:
    with houses.open("houses") as graph:
        for word, question, other in (
            ("zorb", "Which houses are zorb?", "house"),
            ("gov", "Who is the gov of the caretakers?", "caretaker"),
        ):
            assert other not in [each.name for each in find_meanings(word, question, graph)]


def test_a_meaning_that_is_an_answer_of_others_too_keeps_its_place(houses: Library) -> None:
    with houses.open("houses") as graph:
        found = find_meanings("gov", "Who is the gov of the Rose house?", graph)
    answers = [each.answer for each in found]
    assert (found[0].name, len(set(answers))) == ("managed by", len(answers))


def test_a_word_that_only_looks_like_a_name_means_nothing_yet(houses: Library) -> None:
    with houses.open("houses") as graph:
        for word in ("powerful", "lodge", "garden"):
            require_teachable(word, graph)


def test_meanings_are_given_by_their_names(houses: Library) -> None:
    with houses.open("houses") as graph:
        for name, of in {
            "gas": Named("value", f"{HERE}heating", "gas"),
            "the value oil of heating": Named("value", f"{HERE}heating", "oil"),
            "Ida Voss": Named("thing", f"{HERE}ida"),
            "yard pump": Named("thing", f"{HERE}yard"),
        }.items():
            meaning = named_meaning(name, graph)
            assert Named(meaning.kind, meaning.iri, meaning.value) == of


def test_a_class_and_a_property_of_one_name_are_told_apart_in_words(tmp_path: Path) -> None:
    boats = """@prefix : <http://example.org/boats/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        :Boat rdfs:label "boat" . :Trip rdfs:label "trip" . :boat rdfs:label "boat" .
        :asp a :Boat ; rdfs:label "Asp" . :elm a :Boat ; rdfs:label "Elm" .
        :t1 a :Trip ; rdfs:label "Trip 1" ; :boat :asp . :t2 a :Trip ; rdfs:label "Trip 2" ; :boat :elm ."""
    (tmp_path / "boats.ttl").write_text(boats, encoding="utf-8")
    ingest([str(tmp_path / "boats.ttl")], "boats", data=tmp_path / "data", no_vectors=True)
    with closing(Library(tmp_path / "data", None)) as library, library.open("boats") as graph:
        with pytest.raises(ConfigError, match=r"the class boat, the property boat of trip\. Give one"):
            named_meaning("boat", graph)
        kinds = [
            named_meaning("boat", graph, word="tubs"),
            named_meaning("boat", graph, word="tub", question="Which tub sank?"),
            named_meaning("class boat", graph),
            named_meaning("the property boat of trip", graph),
        ]
    assert [each.kind for each in kinds] == ["class", "class", "class", "property"]


def test_a_question_in_german_is_tried_and_answered_in_german(houses: Library) -> None:
    with houses.open("houses") as graph:
        found = find_meanings("Kaltmiete", "Wie hoch ist die Kaltmiete von Mill house?", graph)
        assert "Der Eintrag „bedrooms“ von Mill house lautet 4." in [each.answer for each in found]


def test_a_word_that_means_something_is_told_what(houses: Library) -> None:
    with houses.open("houses") as graph:
        for word, why in REFUSED.items():
            with pytest.raises(ConfigError, match=why.replace("?", r"\?")):
                require_teachable(word, graph)
        for name, why in {"nothing": "Nothing is called", "": "Nothing is called"}.items():
            with pytest.raises(ConfigError, match=why):
                named_meaning(name, graph)
        meanings = named_meaning("Monthly Rent", graph), named_meaning(f"{HERE}House", graph)
        assert [(each.kind, each.iri) for each in meanings] == [("property", f"{HERE}rent"), ("class", f"{HERE}House")]
        assert named_meaning("heating", graph, "gas") == Meaning(
            "value", f"{HERE}heating", "gas", value="gas", of="heating"
        )
        assert named_meaning(f"{HERE}ida", graph) == Meaning("thing", f"{HERE}ida", "Ida Voss")
        with pytest.raises(ConfigError, match="Nothing is called"):
            named_meaning("heating", graph, "peat")


def test_all_names_can_be_searched_with_what_the_question_would_give(houses: Library) -> None:
    def found(word: str, question: str, search: str) -> list[tuple[str, str, str]]:
        with houses.open("houses") as graph:
            return [(each.kind, each.name, each.answer) for each in find_meanings(word, question, graph, search)]

    assert found("methane", "Which house runs on methane?", "ga") == [
        ("value", "gas", "The house whose heating is gas is Rose house.")
    ]
    assert found("granny", "What does granny manage?", "ida") == [
        ("thing", "Ida Voss", "The house managed by Ida Voss is Rose house.")
    ]
    assert [each[:2] for each in found("zorb", "", "p")][:2] == [("class", "pump"), ("property", "power")]
    assert found("zorb", "", "nothing like that") == []


def test_only_words_that_can_be_taught_are_offered(houses: Library) -> None:
    async def unclear(*questions: str) -> list[list[str]]:
        async with open_turn_service(Settings(data=houses.data), lasting=True, warm=False) as service:
            return [(await service.answer(each, "houses"))["unclear"] for each in questions]

    offered = asyncio.run(
        unclear(
            "Which pumps are the dearest?", "Which pump has been here longest?", "Which pump was in the kip longest?"
        )
    )
    assert offered == [[], [], ["kip"]]


def test_the_command_proposes_teaches_and_asks_again(houses: Library, capfd: pytest.CaptureFixture[str]) -> None:
    def run(*arguments: str) -> str:
        assert main(["layer", "teach", *arguments, "--graph", "houses"]) == 0
        return capfd.readouterr().out

    assert main(["ask", "What is the kip of the Mill house?", "--graph", "houses"]) == 0
    assert "layer teach kip --question 'What is the kip of the Mill house?' --graph houses" in capfd.readouterr().out
    proposed = run("kip", "--question", "How many kips has the Mill house?")
    assert "“kip” names nothing in 'houses'" in proposed
    place = next(line[2] for line in proposed.splitlines() if "“bedrooms”" in line)
    taught = run("kip", "--as", place, "--question", "How many kips has the Mill house?")
    assert "The number of bedrooms of Mill house is 4 [1]." in taught
    # a further word is added to those that are there
    run("digs", "--as", "bedrooms")
    assert main(["layer", "show", "--graph", "houses"]) == 0
    assert f"{HERE}bedrooms: {{also: [kip, digs]}}" in capfd.readouterr().out
    assert main(["layer", "teach", "kip", "--as", "monthly rent", "--graph", "houses"]) == 2
    assert "already: the property “bedrooms”" in capfd.readouterr().err


SHOWS = """
@prefix : <http://example.org/shows/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:budget rdfs:label "budget" . :takings rdfs:label "takings" . :of rdfs:label "show" .
:a a :Show ; rdfs:label "Ada" ; :budget 900 . :b a :Show ; rdfs:label "Bo" ; :budget 500 .
:c a :Show ; rdfs:label "Cy" ; :budget 100 .
:s1 a :Evening ; rdfs:label "E1" ; :of :b ; :takings 70 . :s2 a :Evening ; rdfs:label "E2" ; :of :a ; :takings 40 .
:s3 a :Evening ; rdfs:label "E3" ; :of :c ; :takings 10 .
"""


def test_a_taught_word_means_no_other_property_that_it_is_like(houses: Library) -> None:
    folder = houses.data.parent
    (folder / "shows.ttl").write_text(SHOWS, encoding="utf-8")
    (folder / "shows.yaml").write_text("properties:\n  takings: {also: [money]}\n", encoding="utf-8")
    assert main(["ingest", str(folder / "shows.ttl"), "--graph", "shows", "--layer", str(folder / "shows.yaml")]) == 0
    with houses.open("shows") as graph:
        links = link_mentions(analyse_question("Which show made the most money?"), linker_of(graph.lexicon).index)
    assert {x.refs[0].predicate for x in links if x.kind == "property" and x.start == 5} == {
        "http://example.org/shows/takings"
    }


def test_a_word_stands_for_words_that_the_graph_understands(houses: Library, capfd: pytest.CaptureFixture[str]) -> None:
    def taught(word: str, text: str) -> bool:
        return main(["layer", "teach", word, "--as", text, "--graph", "houses"]) == 0

    def answer(question: str) -> str:
        assert main(["ask", question, "--graph", "houses"]) == 0
        return capfd.readouterr().out.splitlines()[0]

    assert taught("dosh", "monthly rent")
    for word, text in {"dosh": "total monthly rent", "roomy": "with more than 3 bedrooms"}.items():
        assert taught(word, text)
    capfd.readouterr()
    assert "1,960 EUR" in answer("What is the dosh of the houses?")
    assert "Mill house" in (roomy := answer("Which houses are roomy?"))
    assert "Rose house" not in roomy
    for word, text, why in (
        ("zorb", "total sofa", "Nothing is called"),  # the text is not understood
        ("zorb", "how many", "Nothing is called"),  # it names nothing
        ("monthly rent", "total monthly rent", "already: the property"),
        ("Ida Voss", "the monthly rent", "already: the thing"),
        ("most", "total monthly rent", "questions are made of"),
    ):
        assert not taught(word, text)
        assert why in capfd.readouterr().err
    with houses.open("houses") as graph:
        assert is_readable("Häuser mit bedrooms über 3", graph, "Welche Villen haben wir?")
        assert is_readable("caretaker von Rose house", graph, "Wer ist der Hüter?")
        found = find_meanings("spread", "What is the spread of the houses?", graph, "total monthly rent")
        assert [(each.kind, each.name, "1,960 EUR" in each.answer) for each in found] == [
            ("rewording", "total monthly rent", True)
        ]

    def take_back(look_up: GraphLookUp) -> None:
        before = graph_names(look_up)
        assert {each.name: each.given for each in before.terms if each.kind == "rewording"} == {
            "total monthly rent": ("dosh",),
            "with more than 3 bedrooms": ("roomy",),
        }
        change_names(look_up, NamesChange(iri="total monthly rent", also=[]))
        wait(look_up, before.version)
        assert [each.name for each in graph_names(look_up).terms if each.kind == "rewording"] == [
            "with more than 3 bedrooms"
        ]

    in_service(houses, WU, take_back)


def in_service(library: Library, caller: Caller, do: Callable[[GraphLookUp], object]) -> None:
    async def run() -> None:
        async with open_turn_service(Settings(data=library.data), lasting=True, warm=False) as service:
            do(GraphLookUp(service.library, caller, "houses"))

    asyncio.run(run())


def test_over_http_those_who_may_write_teach_and_others_see(houses: Library) -> None:
    body = WordMeaning(word="dosses", meaning="bedrooms")

    def by_reader(look_up: GraphLookUp) -> None:
        found = word_meanings(look_up, "dosses", "How many dosses has the Mill house?")
        assert (found.meanings[0].name, found.problem, found.may_write) == ("bedrooms", "", False)
        assert "already: the property" in word_meanings(look_up, "rent").problem
        with pytest.raises(Forbidden, match="may not change names"):
            teach_word(look_up, body)

    def by_writer(look_up: GraphLookUp) -> None:
        for other, why in ({"word": "rent"}, "already"), ({"meaning": "sofa"}, "Nothing is called"):
            with pytest.raises(ConfigError, match=why):
                teach_word(look_up, body.model_copy(update=other))
        before = graph_names(look_up).version
        assert teach_word(look_up, body).may_write
        wait(look_up, before)
        term = next(term for term in graph_names(look_up).terms if term.iri == f"{HERE}bedrooms")
        assert (term.given, "dosses" in term.also) == (("dosses",), True)

    in_service(houses, ANN, by_reader)
    in_service(houses, WU, by_writer)


def test_a_value_and_a_thing_are_taught_and_taken_back(houses: Library) -> None:
    def answers(*questions: str) -> list[str]:
        async def run() -> list[str]:
            async with open_turn_service(Settings(data=houses.data), lasting=True, warm=False) as service:
                return [(await service.answer(each, "houses"))["answer"] for each in questions]

        return asyncio.run(run())

    def by_writer(look_up: GraphLookUp) -> None:
        for body in (
            WordMeaning(word="MethaneGas", meaning="heating", value="gas"),
            WordMeaning(word="granny", meaning=f"{HERE}ida"),
        ):
            before = graph_names(look_up).version
            # the second waits for the first
            teach_word(look_up, body)
        wait(look_up, before)
        named = {(each.kind, each.name): each.given for each in graph_names(look_up).terms if each.given}
        assert named == {("value", "gas"): ("MethaneGas",), ("thing", "Ida Voss"): ("granny",)}

    def taken_back(look_up: GraphLookUp) -> None:
        before = graph_names(look_up).version
        change_names(look_up, NamesChange(iri=f"{HERE}heating", value="gas", also=[]))
        wait(look_up, before)
        assert [each.name for each in graph_names(look_up).terms if each.given] == ["Ida Voss"]

    in_service(houses, WU, by_writer)
    of_value, of_thing = answers("Which houses have MethaneGas heating?", "What does granny manage?")
    assert "Rose house" in of_value
    assert "Mill house" not in of_value
    assert "Rose house" in of_thing
    in_service(houses, WU, taken_back)
    assert "whose heating is gas" not in answers("Which house has the heating MethaneGas?")[0]


def test_a_class_or_property_has_a_number_of_names(houses: Library) -> None:
    def by_writer(look_up: GraphLookUp) -> None:
        before = graph_names(look_up).version
        change_names(look_up, NamesChange(iri=f"{HERE}rent", also=[f"zorb{n}a" for n in range(MAX_NAMES)]))
        wait(look_up, before)
        with pytest.raises(IngestionError, match="30 other names"):
            teach_word(look_up, WordMeaning(word="dosh", meaning=f"{HERE}rent"))

    in_service(houses, WU, by_writer)


def wait(look_up: GraphLookUp, before: str) -> None:
    end = time.monotonic() + 90
    while (names := graph_names(look_up)).busy and time.monotonic() < end:
        time.sleep(0.2)
    assert (names.problem, names.version != before) == ("", True)
