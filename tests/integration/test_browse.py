"""What the pages of things and classes show: the same of a graph that was ingested and of one that is attached."""

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ingestion.pipeline import ingest
from nacre.access.likeness import engine_of
from nacre.access.open_graph import look_up_labels
from nacre.access.things import class_view, local_thing, overview_words, schema_overview
from nacre.extensions.endpoints.attach import attach_endpoint
from nacre.extensions.suggestions.example_questions import find_follow_up_questions, follow_up_drafts
from nacre.records.browse import PredicateFacts, Thing
from nacre.stores.catalog import Graph, Library
from nacre.stores.sqlite.triples import TYPE
from nacre.wording.overview import overview_sentences
from tests.support import sparql_server as servers

GRAPH = Path(__file__).parents[1] / "fixtures/graphs/reading_room.ttl"
ROOM = "http://example.org/reading-room/"


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    data = tmp_path_factory.mktemp("here")
    ingest([str(GRAPH)], "here", data=data, no_vectors=True)
    library = Library(data, None)
    with library.open("here") as graph:
        yield graph
    library.close()


@pytest.fixture(scope="module")
def away(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    data = tmp_path_factory.mktemp("away")
    with servers.endpoint(GRAPH) as url:
        attach_endpoint(url, "away", data=data)
        library = Library(data, None)
        with library.open("away") as graph:
            yield graph
        library.close()


@pytest.fixture(params=["here", "away"])
def graph(request: pytest.FixtureRequest) -> Graph:
    found: Graph = request.getfixturevalue(request.param)
    return found


def said(facts: tuple[PredicateFacts, ...]) -> set[tuple[str, str]]:
    return {(each.label, end.text) for each in facts for end in each.ends}


def test_a_thing_has_its_facts_both_ways(graph: Graph) -> None:
    found = local_thing(graph, f"{ROOM}tomas")
    assert isinstance(found, Thing)
    assert found.label == "Tomas Brill"
    assert [end.text for end in found.classes] == ["author"]
    assert {("year of birth", "1964"), ("label", "Tomas Brill")} <= said(found.facts)
    assert said(found.linking) == {("writer", "Granite"), ("writer", "The Last Orchard")}
    [book] = [end for each in found.linking for end in each.ends if end.text == "Granite"]
    written = local_thing(graph, book.iri)
    assert written is not None
    assert ("writer", "Tomas Brill") in said(written.facts)
    assert TYPE not in {each.predicate for each in written.facts}


def test_what_is_unknown_is_none_and_no_query(graph: Graph) -> None:
    assert local_thing(graph, "urn:none") is None
    assert local_thing(graph, "urn:x> } INSERT DATA { <urn:a> <urn:b> <urn:c") is None
    assert class_view(graph, "urn:none") is None


def test_a_class_has_members_and_what_they_have(graph: Graph) -> None:
    found = class_view(graph, f"{ROOM}Book")
    assert found is not None
    assert (found.label, found.many, found.count, len(found.members)) == ("book", "books", 6, 6)
    writer = next(each for each in found.properties if each.label == "writer")
    assert (writer.members, [end.text for end in writer.leads_to]) == (6, ["author"])


def test_members_are_found_by_name_and_in_pages(here: Graph) -> None:
    found = class_view(here, f"{ROOM}Book", "the ")
    assert found is not None
    assert [end.text for end in found.members] == ["The Last Orchard", "The Salt Road"]
    rest = class_view(here, f"{ROOM}Book", "", 4)
    percent = class_view(here, f"{ROOM}Book", "%")
    assert rest is not None
    assert percent is not None
    assert (len(rest.members), len(percent.members)) == (2, 0)


def test_iris_are_named(graph: Graph) -> None:
    wanted = [f"{ROOM}{name}" for name in ("salt", "Book", "pages", "none")]
    assert look_up_labels(graph, wanted) == dict(zip(wanted[:3], ["The Salt Road", "book", "pages"], strict=True))


def test_the_picture_has_classes_by_size_and_their_links(graph: Graph) -> None:
    seen = schema_overview(graph)
    assert [(each.label, each.count) for each in seen.classes] == [("book", 6), ("author", 3)]
    assert [(each.predicates, each.triples) for each in seen.links] == [(("writer",), 6)]


def test_questions_that_go_on_are_others_and_are_answered(here: Graph) -> None:
    found = find_follow_up_questions(here, [f"{ROOM}granite"], "How many pages does Granite have?")
    assert len(found) == 3
    assert any("Granite" in question for question in found)
    assert not any("pages of Granite" in question for question in found)
    assert find_follow_up_questions(here, ["urn:none"], "") == []
    assert find_follow_up_questions(here, [f"{ROOM}granite"], "", seconds=0) == []


def test_questions_that_go_on_repeat_no_answer_and_are_about_what_the_thing_has(tmp_path: Path) -> None:
    lines = [
        "@prefix : <urn:y:> . @prefix r: <http://www.w3.org/2000/01/rdf-schema#> .",
        ':lamp a :Lamp ; r:label "Old Lamp" ; :keeper :ann ; :maker :bo ; :weight 12 ; :colour "amber" .',
        ':buoy a :Lamp ; r:label "Bell Buoy" ; :keeper :bo ; :maker :ann ; :weight 20 ; :colour "slate" .',
        ':ann a :Person ; r:label "Ann Reed" ; :height 171 . :bo a :Person ; r:label "Bo Lund" ; :height 180 .',
        ':cy a :Person ; r:label "Cy Moss" ; :height 165 ; :keeper :ann . :bo :keeper :cy .',
    ]
    (tmp_path / "lamps.ttl").write_text("\n".join(lines))
    ingest([str(tmp_path / "lamps.ttl")], "lamps", data=tmp_path / "data", no_vectors=True)
    library = Library(tmp_path / "data", None)
    with library.open("lamps") as lamps:
        asked = "Which lamp does Ann Reed keep?"
        plain = find_follow_up_questions(lamps, ["urn:y:lamp"], "", wanted=8)
        assert "What is the colour of Old Lamp?" in plain
        later = find_follow_up_questions(lamps, ["urn:y:lamp"], asked, "Old Lamp, which is amber.", wanted=8)
        assert later
        assert not any("keeper" in question or "colour of Old Lamp" in question for question in later)
        # others of her class have a keeper
        drafts = [draft.question for iri in ("urn:y:ann", "urn:y:cy") for draft in follow_up_drafts(lamps, [iri], "")]
        assert "What is the keeper of Cy Moss?" in drafts
        assert "What is the keeper of Ann Reed?" not in drafts
    library.close()


HEADED = """
@prefix : <http://example.org/h/> . @prefix r: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix o: <http://www.w3.org/2002/07/owl#> . @prefix d: <http://purl.org/dc/terms/> .
<http://example.org/h> a o:Ontology ; d:title "Wells" ; d:creator "Ann\\nDrill", "Bo Shaft" ; d:modified "2020-02-03" ;
  d:license <https://example.org/free> .
:Empty a o:Class ; r:label "empty kind" .
:a a :Well ; r:label "Adit" ; :depth 12 . :b a :Well ; r:label "Bore" ; :depth 30 .
:c a :Well ; r:label "Cut" ; :depth 8 .
"""


def test_the_words_of_a_graph_say_by_whom_and_since_when(tmp_path: Path) -> None:
    (tmp_path / "wells.ttl").write_text(HEADED)
    ingest([str(tmp_path / "wells.ttl")], "wells", data=tmp_path / "data", no_vectors=True)
    with closing(Library(tmp_path / "data", None)) as library, library.open("wells") as graph:
        english, german = " ".join(overview_words(graph)), " ".join(overview_words(graph, "de"))
        answer = overview_sentences("contents", engine_of(graph), 1)
        whole = schema_overview(graph, 400)
    assert "It holds 3 wells" in english or "it holds 3 wells" in english
    own = (
        "By its own description, the graph is called “Wells”, was made by Ann Drill and Bo Shaft, dates from "
        "3 February 2020, and may be used under the licence https://example.org/free."
    )
    assert own in english
    assert re.search(r"It was read in on \d+ \w+ \d{4}\.$", english)
    assert "You can ask" not in english
    assert "erstellt von Ann Drill und Bo Shaft, Stand 3. " in german
    assert [(s.text, len(s.triples)) for s in answer if "own description" in s.text] == [(own, 5)]
    assert {each.label: each.is_plumbing for each in whole.classes}["well"] is False


def test_a_graph_with_two_descriptions_is_told_without_them(tmp_path: Path) -> None:
    (tmp_path / "two.ttl").write_text(HEADED + '<urn:other> a o:Ontology ; d:creator "Somebody" .')
    ingest([str(tmp_path / "two.ttl")], "two", data=tmp_path / "data", no_vectors=True)
    with closing(Library(tmp_path / "data", None)) as library, library.open("two") as graph:
        assert "own description" not in " ".join(overview_words(graph))
