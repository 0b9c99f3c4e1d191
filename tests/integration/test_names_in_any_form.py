"""Names in any script, case and Unicode form; thesauri alone; two languages of labels; links through their nodes."""

import asyncio
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from graph.builder import compose
from graph.stream import stream_turn
from ingestion.pipeline import ingest
from nacre.config.settings import Settings

PREFIXES = """@prefix : <http://t.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
"""
GRAPHS = {
    "teahouses": """
:a a :Teahouse ; rdfs:label "龙井茶馆" ; :seats 40 ; :town :hz .
:b a :Teahouse ; rdfs:label "Quán Trà Sen Đà Nẵng" ; :seats 25 ; :town :dn .
:c a :Teahouse ; rdfs:label "Чайная Ёлка" ; :seats 61 ; :town :kz .
:d a :Teahouse ; rdfs:label "مقهى النخيل" ; :seats 33 ; :town :cr .
:hz a :Town ; rdfs:label "杭州" . :dn a :Town ; rdfs:label "Đà Nẵng" .
:kz a :Town ; rdfs:label "Казань" . :cr a :Town ; rdfs:label "القاهرة" .
""",
    "mills": """
:o1 a :Mill ; rdfs:label "Red Mill"@en, "Rote Mühle"@de ; :output 100 ; :owner :p .
:o2 a :Mill ; rdfs:label "Old Mill"@en, "Alte Mühle"@de ; :output 50 ; :owner :p .
:o3 a :Mill ; rdfs:label "New Mill"@en, "Neue Mühle"@de, "Nouveau moulin"@fr ; :output 25 ; :owner :q .
:p a :Person ; rdfs:label "Ida Berg"@en, "Ida vom Berg"@de . :q a :Person ; rdfs:label "Tom Vik"@en .
:Mill rdfs:label "mill"@en, "Mühle"@de . :output rdfs:label "output"@en, "Leistung"@de .
""",
    "glossary": """
:s a skos:ConceptScheme ; skos:prefLabel "Sailing terms"@en .
:rope a skos:Concept ; skos:inScheme :s ; skos:prefLabel "rope"@en ; skos:definition "A thick cord."@en .
:halyard a skos:Concept ; skos:inScheme :s ; skos:prefLabel "halyard"@en ; skos:altLabel "hoisting line"@en ;
  skos:definition "A rope used to raise a sail."@en ; skos:broader :rope .
:sheet a skos:Concept ; skos:inScheme :s ; skos:prefLabel "sheet"@en ; skos:broader :rope .
:keel a skos:Concept ; skos:inScheme :s ; skos:prefLabel "keel"@en ; skos:definition "The lowest beam of a hull."@en .
""",
    "school": """
:e1 a :Enrolment ; :student :ann ; :course :alg ; :grade 5 . :e2 a :Enrolment ; :student :bo ; :course :alg ; :grade 3 .
:e3 a :Enrolment ; :student :ann ; :course :geo ; :grade 4 .
:ann a :Student ; rdfs:label "Ann Low" ; :age 21 . :bo a :Student ; rdfs:label "Bo Hart" ; :age 22 .
:cy a :Student ; rdfs:label "Cy Dunn" ; :age 23 .
:alg a :Course ; rdfs:label "Algebra" ; :teacher :mia . :geo a :Course ; rdfs:label "Geometry" ; :teacher :mia .
:mia a :Teacher ; rdfs:label "Mia Roth" .
""",
}
Ask = Callable[[str, str], dict[str, Any]]


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    data = tmp_path_factory.mktemp("forms")
    for name, triples in GRAPHS.items():
        (data / f"{name}.ttl").write_text(PREFIXES + triples, encoding="utf-8")
        ingest([str(data / f"{name}.ttl")], name, data=data / "stores", no_vectors=True)
    decomposed = unicodedata.normalize("NFD", PREFIXES + GRAPHS["teahouses"])
    (data / "decomposed.ttl").write_text(decomposed, encoding="utf-8")
    ingest([str(data / "decomposed.ttl")], "decomposed", data=data / "stores", no_vectors=True)
    app = compose(Settings(data=data / "stores", embedder="none", _env_file=None)).build(InMemorySaver())

    async def answer(question: str, graph: str) -> dict[str, Any]:
        record: dict[str, Any] = [event async for event in stream_turn(app, question, graph=graph)][-1][1]
        return record

    return lambda question, graph: asyncio.run(answer(question, graph))


@pytest.mark.parametrize("graph", ["teahouses", "decomposed"])
@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize(
    ("name", "seats"),
    [
        ("龙井茶馆", 40),
        ("Quán Trà Sen Đà Nẵng", 25),
        ("quán trà sen đà nẵng", 25),
        ("Quan Tra Sen Da Nang", 25),
        ("QUÁN TRÀ SEN ĐÀ NẴNG", 25),
        ("Чайная Ёлка", 61),
        ("ЧАЙНАЯ ЁЛКА", 61),
        ("чайная елка", 61),
        ("مقهى النخيل", 33),
        ("مَقْهَى النَّخِيل", 33),
    ],
)
def test_a_name_is_found_in_any_case_and_form(name: str, seats: int, form: str, graph: str, ask: Ask) -> None:
    question = unicodedata.normalize(form, f"How many seats does {name} have?")  # type: ignore[arg-type]
    assert ask(question, graph)["values"] == [seats]


@pytest.mark.parametrize("town", ["杭州", "казань", "Da Nang", "القاهرة"])
def test_a_name_is_a_condition_in_any_script(town: str, ask: Ask) -> None:
    record = ask(f"Which teahouses are in {town}?", "teahouses")
    assert record["status"] == "answered"
    assert len(record["values"]) == 1


@pytest.mark.parametrize(
    ("graph", "question", "values"),
    [
        ("mills", "What is the total output of the mills?", [175]),
        ("mills", "How many mills are there?", [3]),
        ("mills", "What is the total output of the mills of Ida Berg?", [150]),
        ("mills", "How many mills does Ida Berg own?", [2]),
        ("mills", "Wie viele Mühlen gibt es?", [3]),
        ("school", "Which students are enrolled in Algebra?", ["Ann Low", "Bo Hart"]),
        ("school", "What grade did Ann Low get in Algebra?", [5]),
        ("school", "How many students are enrolled in Geometry?", [1]),
        ("school", "Which courses does Ann Low take?", ["Algebra", "Geometry"]),
        ("glossary", "What does keel mean?", ["The lowest beam of a hull."]),
        ("glossary", "What does halyard mean?", ["A rope used to raise a sail."]),
    ],
)
def test_labels_double_nothing_and_links_lead_through_their_nodes(
    graph: str, question: str, values: list[Any], ask: Ask
) -> None:
    record = ask(question, graph)
    assert sorted(record["values"], key=str) == values
    assert record["status"] in ("answered", "clarify")


@pytest.mark.parametrize("name", ["halyard", "hoisting line"])
def test_a_glossary_alone_says_what_a_term_is(name: str, ask: Ask) -> None:
    record = ask(f"What is a {name}?", "glossary")
    assert record["status"] == "answered"
    assert "A rope used to raise a sail." in record["answer"]
