"""One layer over the same graph, attached and ingested: the same answers, with at most one query more than stored
properties take, and citations of what is stored."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from graph.builder import App, compose
from graph.stream import stream_turn
from ingestion.layer.layer_file import LayerFile, LayerFiles, load_layer_files
from ingestion.pipeline import ingest
from nacre.config.settings import Settings
from nacre.extensions.endpoints.attach import (
    AttachedGraph,
    attach_endpoint,
    attached_layers,
    change_attached_layers,
    check_attached_layers,
)
from nacre.extensions.endpoints.endpoint import EndpointSource
from nacre.extensions.model_agents.schema_sparql import schema_sparql
from nacre.plans.sparql_vocabulary import schema_prefixes
from nacre.stores.addresses import EndpointLimits
from tests.support import sparql_server as servers

FOLDER = Path(__file__).parent / "layers"
LAYER = "urn:nacre:layer:"


class Both(NamedTuple):
    """The app over both graphs, what attaching gave, the data folder, and the queries that were sent."""

    app: App
    attached: AttachedGraph
    data: Path
    queries: list[str]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    data = tmp_path_factory.mktemp("attached-layers")
    layers = load_layer_files([FOLDER / "bells.yaml"])
    queries: list[str] = []
    select = EndpointSource.select

    def recorded(self: EndpointSource, query: str, **bounds: Any) -> Any:
        queries.append(query)
        return select(self, query, **bounds)

    with servers.endpoint(FOLDER / "bells.ttl") as url, pytest.MonkeyPatch.context() as patch:
        patch.setattr(EndpointSource, "select", recorded)
        attached = attach_endpoint(url, "away", data=data, layers=layers)
        ingest([str(FOLDER / "bells.ttl")], "here", data=data, layers=layers, no_vectors=True)
        app = compose(Settings(data=data, embedder="none", _env_file=None)).build(InMemorySaver())
        yield Both(app, attached, data, queries)


def answer(app: App, question: str, graph: str) -> Any:
    async def ask() -> Any:
        return [e async for e in stream_turn(app, question, graph=graph, thread=f"{graph} {question}")][-1][1]

    return asyncio.run(ask())


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How heavy is Big Tom?", [350]),
        ("Which bell is the heaviest?", ["Big Tom"]),
        ("Which bells weigh more than 100 kg?", ["Big Tom", "Sally"]),
        ("How many bells weigh more than 100 kg?", [2]),
        ("How many whoppers are there?", [2]),
        ("What is the average weight of the bells?", [173.33333333333]),
        ("What is the start year of Little Ben?", [1700]),
        ("Which bells have a start year before 1750?", ["Big Tom", "Little Ben"]),
        ("Which bell has the earliest start year?", ["Big Tom"]),
        ("Which towns is Rossi active in?", ["Hull", "Selby"]),
        ("What are the products of Ada Brand?", ["Kitty", "Sally"]),
        ("What is the maker's birthplace of Sally?", ["Hull"]),
        ("How many church bells are there?", [2]),
        ("Which church bell is the heaviest?", ["Big Tom"]),
        ("How many church bells were cast by Rossi?", [2]),
        ("Which bells were cast by Rossi?", ["Big Tom", "Little Ben"]),
    ],
)
def test_answers_are_those_of_the_ingested_graph(question: str, expected: list[Any], both: Both) -> None:
    both.queries.clear()
    away = answer(both.app, question, "away")
    assert sorted(map(str, away["values"])) == sorted(map(str, expected))
    # names, rows, and labels of other things
    assert len(both.queries) <= 3
    assert not any(LAYER in query for query in both.queries)
    assert sorted(map(str, answer(both.app, question, "here")["values"])) == sorted(map(str, expected))
    cited = {tuple(triple) for citation in away["citations"] for triple in citation["triples"]}
    assert cited
    assert not any(LAYER in part for triple in cited for part in triple)


def test_derived_properties_take_no_more_queries_than_stored_ones(both: Both) -> None:
    def asked(question: str) -> int:
        both.queries.clear()
        assert answer(both.app, question, "away")["values"]
        return len(both.queries)

    assert asked("What is the weight of Kitty or Sally?") <= asked("What is the date of Sally?") + 1
    assert asked("How many bells weigh more than 60 kg?") <= asked("How many bells have the kind ship?") + 1


def test_a_path_is_cited_with_its_triples(both: Both) -> None:
    found = answer(both.app, "What is the mass of Little Ben?", "away")
    triples = {tuple(triple) for citation in found["citations"] for triple in citation["triples"]}
    assert ("http://ex.org/d/ben", "http://ex.org/v#measure", "http://ex.org/d/m2") in triples
    assert ("http://ex.org/d/m2", "http://ex.org/v#value", "50") in triples


def test_the_schema_has_names_patterns_and_samples(both: Both) -> None:
    schema = both.attached.schema
    assert schema.class_of["http://ex.org/v#Founder"].label == "bell founder"
    assert "founder" in schema.class_of["http://ex.org/v#Founder"].alt_labels
    assert schema.class_of["http://ex.org/v#Measure"].hidden
    church = schema.class_of[f"{LAYER}church_bell"]
    assert (church.count, church.parents) == (2, ("http://ex.org/v#Bell",))
    weight = schema.predicate_of[f"{LAYER}weight"]
    assert (weight.datatype, weight.unit, weight.triples, weight.functional) == ("integer", "kg", 3, True)
    assert weight.domains["http://ex.org/v#Bell"] == 3
    assert schema.predicate_of[f"{LAYER}workplace"].ranges == {"http://ex.org/v#Town": 2}


def test_a_model_reads_paths(both: Both) -> None:
    text = schema_sparql(both.attached.schema, schema_prefixes(both.attached.schema))
    assert "  v:measure/v:value integer in kg" in text
    assert "  ^v:caster/v:site -> v:Town" in text
    assert LAYER not in text
    assert "CLASS v:Measure" not in text


def test_layers_are_stored_changed_and_checked(tmp_path: Path) -> None:
    text = (FOLDER / "bells.yaml").read_text()
    text += (
        "codes:\n  ex:kind: {church: for a church}\nrules:\n  - 'CONSTRUCT { ?b ex:x ?a } WHERE { ?a ex:site ?b }'\n"
    )
    text += "things:\n  ex:none: [nothing]\n"
    given = LayerFiles((LayerFile("bells.yaml", text),))

    def changed_by(change: Callable[[LayerFiles], LayerFiles]) -> AttachedGraph:
        return change_attached_layers("bells", change, data=tmp_path, limits=lambda _: EndpointLimits())

    with servers.endpoint(FOLDER / "bells.ttl") as url:
        attach_endpoint(url, "bells", data=tmp_path)
        changed = changed_by(lambda old: old.replaced(given.files))
        assert [each.name for each in attached_layers("bells", tmp_path).files] == ["bells.yaml"]
        left_out = " ".join(map(str, changed.problems))
        assert "the rule was left out" in left_out
        report = check_attached_layers("bells", given, data=tmp_path, limits=lambda _: EndpointLimits())
        assert {e.key: e.count for e in report.entries if e.count is not None} == {
            "church bell": 2,
            "weight": 3,
            "start year": 3,
            "workplace": 4,
            "product": 4,
            "maker's birthplace": 4,
            "http://ex.org/v#kind": 2,
        }
        removed = changed_by(lambda old: old.without("bells.yaml"))
    assert f"{LAYER}weight" not in removed.schema.predicate_of
    assert not any(c.hidden for c in removed.schema.classes)


PEOPLE = """
@prefix ex: <http://ex.org/v#> . @prefix d: <http://ex.org/d/> .
d:p1 a ex:Person ; ex:nameNode [ ex:text "Mara Lund" ] ; ex:age 40 .
d:p2 a ex:Person ; ex:nameNode [ ex:text "Olaf Berg" ] ; ex:age 35 .
"""
NAMES = """
prefixes: {ex: "http://ex.org/v#"}
properties:
  full name: {of: ex:Person, path: "ex:nameNode/ex:text", kind: name}
"""


def test_things_are_named_by_a_path(tmp_path: Path) -> None:
    (tmp_path / "people.ttl").write_text(PEOPLE)
    layers = LayerFiles((LayerFile("names.yaml", NAMES),))
    with servers.endpoint(tmp_path / "people.ttl") as url:
        attached = attach_endpoint(url, "people", data=tmp_path, layers=layers)
        assert attached.endpoint.names == (f"{LAYER}full_name",)
        app = compose(Settings(data=tmp_path, embedder="none", _env_file=None)).build(InMemorySaver())
        assert answer(app, "What is the age of Mara Lund?", "people")["values"] == [40]
        assert answer(app, "Which person has the lowest age?", "people")["values"] == ["Olaf Berg"]


CLOSET = """
@prefix ex: <http://ex.org/v#> . @prefix d: <http://ex.org/d/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
d:c1 a ex:Costume ; rdfs:label "Blue cloak" ; ex:state "S" ; ex:room 4 .
d:c2 a ex:Costume ; rdfs:label "Red cape" ; ex:state "L" ; ex:room 5 .
d:c3 a ex:Costume ; rdfs:label "Grey gown" ; ex:state "S" ; ex:room 5 .
d:c4 a ex:Costume ; rdfs:label "Green hood" ; ex:state "X" ; ex:room 7 .
"""
MEANINGS = """
prefixes: {ex: "http://ex.org/v#", d: "http://ex.org/d/"}
things:
  d:c2: [Carmen, 'the "bull" } cape']
codes:
  ex:state: {S: in storage, L: on loan, R: in repair}
  ex:room: {nine: the attic}
"""


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("Which costumes are in storage?", ["Blue cloak", "Grey gown"]),
        ("How many costumes are on loan?", [1]),
        ("What is the state of the Red cape?", ["on loan"]),
        ("What is the state of the Green hood?", ["X"]),
        ("What is the room of Carmen?", [5]),
        ("Which costume has the lowest room?", ["Blue cloak"]),
        ("Which costume is in room 7?", ["Green hood"]),
    ],
)
def test_codes_and_names_of_things_need_no_triples(question: str, values: list[Any], closet: App) -> None:
    found = answer(closet, question, "closet")
    assert sorted(map(str, found["values"])) == sorted(map(str, values))
    assert not any(LAYER in triple[1] for each in found["citations"] for triple in each["triples"])


@pytest.fixture(scope="module")
def closet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    data = tmp_path_factory.mktemp("closet")
    (data / "closet.ttl").write_text(CLOSET)
    layers = LayerFiles((LayerFile("closet.yaml", MEANINGS),))
    with servers.endpoint(data / "closet.ttl") as url:
        attached = attach_endpoint(url, "closet", data=data, layers=layers)
        assert not attached.problems
        patterns = {p.iri.rpartition("#")[2] for p in attached.schema.predicates if p.patterns}
        assert patterns == {"state", f"{LAYER}name"}
        yield compose(Settings(data=data, embedder="none", _env_file=None)).build(InMemorySaver())
