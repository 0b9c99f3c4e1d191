"""Data as people have it: doubled columns, named graphs, two spellings, lists, claims, places -> right answers."""

import io
from contextlib import closing
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

from ingestion.index.triples import export_triples
from ingestion.layer.layer_file import LayerFiles
from ingestion.meaning.derive import derive_facts
from ingestion.pipeline import ingest
from ingestion.read.parse import parse_files
from ingestion.report import read_omissions
from ingestion.vocabulary import LABEL, TYPE
from nacre.extensions.vocabularies.owl import MAX_NAMED_GRAPHS, NAMED_GRAPH
from nacre.stores.sqlite.tables import Tables
from tests.support.ask_graph import ask_graph
from tools.provenance import MAX_STEPS

SHELLS = "id,Name,Weight,Phone,Phone\nA1,Limpet,900 g,1-2,3-4\nA2,Whelk,1100 g,5-6,\nA3,Cone,2000 g,,\n"
SITTERS = """number,name,born,grade,losses,joined,team,class
1930,Ida Loam,1901,A+,0,Fri Aug 3 2018,red,4th
1931,Ole Kiln,1930,A,2,Sat Sep 1 2018,red,5th
1932,Uwe Glaze,1930,A,0,Sun Sep 2 2018,blue,5th
1933,Ann Clay,1944,B,5,Mon Sep 3 2018,blue,5th
"""
GUESTS = """first name,last name,age,town
Ada,Lind,31,Ystad
Bo,Berg,44,Lund
Ada,Moe,27,Lund
"""
EXPORTS = """@prefix : <http://e.org/> . @prefix r: <http://www.w3.org/2000/01/rdf-schema#> .
<http://e.org/export/2025> { :a a :Mill ; r:label "Old Mill" ; :wheels 2 . :b a :Mill ; r:label "Fen Mill" ;
  :wheels 4 . }
<http://e.org/export/2026> { :a a :Mill ; r:label "Old Mill" ; :wheels 2 . :b a :Mill ; r:label "Fen Mill" ; :wheels 4 .
  :c a :Mill ; r:label "New Mill" ; :wheels 9 . }
"""
POTTERS = """@prefix : <http://e.org/> . @prefix r: <http://www.w3.org/2000/01/rdf-schema#> .
:Potter r:label "Potter"@en . :a a :Potter ; r:label "Ida Loam" ; :born 1901 . :b a :Potter ; r:label "Ole Kiln" ;
  :born 1930 . :c a :Potter ; r:label "محمد الأمين"@ar , "Mohammed Clay"@en ; :born 1948 .
"""
DATASETS = """@prefix : <http://e.org/> . @prefix h: <http://schema.org/> . @prefix s: <https://schema.org/> .
:a a s:Dataset ; s:name "Tides" ; s:license "free" . :b a h:Dataset ; h:name "Moors" ; h:license "closed" .
"""
MAKERS = """@prefix : <http://e.org/> . @prefix r: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix skos: <http://www.w3.org/2004/02/skos/core#> .
:a a :Maker ; r:label "Acme" ; :city "Oslo" . :b a :Maker ; r:label "Brill" ; :city "Bergen" ; :founded 1950 .
:a2 a :Maker ; r:label "Acme Ltd" ; owl:sameAs :a ; :founded 1901 . :s a skos:ConceptScheme ; r:label "Soils" .
:c1 a skos:Concept ; skos:prefLabel "peat"@en ; skos:broader :c2 ; skos:inScheme :s .
:c2 a skos:Concept ; skos:prefLabel "bog"@en ; skos:broader :c1 ; skos:inScheme :s .
:c3 a skos:Concept ; skos:prefLabel "fen"@en ; owl:deprecated true ; skos:inScheme :s ; skos:exactMatch :c4 .
:c4 a skos:Concept ; skos:prefLabel "marsh"@en ; skos:inScheme :s .
"""
LISTS = """@prefix : <http://e.org/> . @prefix r: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> . :child owl:inverseOf :parent .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
:walk a :Walk ; r:label "Long Walk" ; :stops ( :x :y :z ) . :x a :Stop ; r:label "Mill" . :y a :Stop ; r:label "Fen" .
:z a :Stop ; r:label "Abbey" ; :parent :y . :short a :Walk ; r:label "Short Walk" ;
  :stops [ a rdf:Seq ; rdf:_1 :z ; rdf:_2 :y ; rdf:_10 :x ] .
"""
CLAIMS = """@prefix : <http://e.org/> . @prefix r: <http://www.w3.org/2000/01/rdf-schema#> .
:acme a :Firm ; r:label "Acme" . :brill a :Firm ; r:label "Brill" . :bo a :Person ; r:label "Bo Berg" .
:cy a :Person ; r:label "Cy Dahl" . :reg a :Register ; r:label "Trade Register" .
:acme :ceo :bo {| :since 2019 ; :source :reg |} . << :brill :ceo :cy ~ :c1 >> :source :reg .
"""
PLACES = """@prefix : <http://e.org/> . @prefix r: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix w: <http://www.w3.org/2003/01/geo/wgs84_pos#> . @prefix g: <http://www.opengis.net/ont/geosparql#> .
:o a :Town ; r:label "Oslo" ; w:lat 59.91 ; w:long 10.75 . :b a :Town ; r:label "Bergen" ; w:lat 60.39 ; w:long 5.32 .
:d a :Town ; r:label "Drammen" ; w:lat 59.74 ; w:long 10.2 . :m a :Mill ; r:label "Fen Mill" ;
  g:hasGeometry [ a g:Geometry ; g:asWKT "POINT(10.7 59.9)"^^g:wktLiteral ] . :n a :Mill ; r:label "Sea Mill" ;
  g:asWKT "<http://www.opengis.net/def/crs/EPSG/0/4326> POINT(60.4 5.3)"^^g:wktLiteral .
"""
ANNOTATION = """{"@context": "http://www.w3.org/ns/anno.jsonld", "id": "http://e.org/n1", "type": "Annotation",
"motivation": "commenting", "created": "2024-05-06T07:08:09Z", "body": {"type": "TextualBody", "value": "A fine mill"},
"creator": {"id": "http://e.org/ann", "type": "Person", "name": "Ann Miller"}, "target": "http://e.org/mill"}
"""
POLICY = """{"@context": "http://www.w3.org/ns/odrl.jsonld", "@type": "Offer", "uid": "http://e.org/p1",
"permission": [{"@type": "Permission", "target": "http://e.org/map", "action": "display", "constraint": [{"@type":
"Constraint", "leftOperand": "dateTime", "operator": "lt", "rightOperand":
{"@value": "2027-01-01", "@type": "xsd:date"}}]}]}
"""
TABLE = """{"@context": ["http://www.w3.org/ns/csvw", {"@language": "en"}], "@type": "Table", "@id": "http://e.org/t1",
"url": "tides.csv", "tableSchema": {"columns": [{"name": "height", "titles": "Height", "datatype": "decimal"}]}}
"""
CATALOGUE = """{"@context": "https://semiceu.github.io/DCAT-AP/releases/3.0.0/context/dcat-ap.jsonld",
"@type": "Dataset", "@id": "http://e.org/d1", "title": {"@value": "Tides", "@language": "en"},
"keyword": ["sea", "moon"], "publisher": {"@type": "Agent", "@id": "http://e.org/a1", "name": "Harbour Office"},
"datasetDistribution": {"@type": "Distribution", "@id": "http://e.org/x1", "title": "Tides as CSV", "byteSize": 1200,
"accessUrl": "http://e.org/tides"}}
"""
ANSWERS: dict[str, tuple[str, str, dict[str, set[Any]]]] = {
    "a property that is compared and asked for": (
        "shells.csv",
        SHELLS,
        {"Which weight is between 800 and 1200?": {900, 1100}, "Which shell weighs less than 1 kg?": {"Limpet"}},
    ),
    "named graphs": (
        "exports.trig",
        EXPORTS,
        {
            "Which mills are in the 2026 export but not in the 2025 export?": {"New Mill"},
            "How many mills are in the 2025 export?": {2},
            "How many wheels do all mills have?": {15},
        },
    ),
    "a name in another script, and neighbours without a language": (
        "potters.ttl",
        POTTERS,
        {
            "When was محمد الأمين born?": {1948},
            "List the potters sorted by name": {"Ida Loam", "Ole Kiln", "Mohammed Clay"},
        },
    ),
    "a vocabulary in two spellings": (
        "datasets.ttl",
        DATASETS,
        {"How many datasets are there?": {2}, "What is the license of Tides?": {"free"}},
    ),
    "no broader concept, and a cycle": (
        "makers.ttl",
        MAKERS,
        {"Which concepts have no broader concept?": {"fen", "marsh"}, "How many makers are there?": {2}},
    ),
    "statements about statements": (
        "claims.ttl",
        CLAIMS,
        {
            "Since when is Bo Berg the CEO of Acme?": {2019},
            "Who says that Bo Berg is the CEO of Acme?": {"Trade Register"},
            "Who is the CEO of Brill?": set(),
            "Which claims are there?": {"Brill ceo Cy Dahl"},
        },
    ),
    "places": (
        "places.ttl",
        PLACES,
        {
            "What is the northernmost town?": {"Bergen"},
            "Which is the westernmost town?": {"Bergen"},
            "Which towns are south of 60 degrees?": {"Oslo", "Drammen"},
            "Which mills are north of 60 degrees?": {"Sea Mill"},
            "What is the latitude of Fen Mill?": {59.9},
            "What is the longitude of Sea Mill?": {5.3},
        },
    ),
    "a Web Annotation without the network": (
        "note.jsonld",
        ANNOTATION,
        {"Who is the creator of the annotation?": {"Ann Miller"}, "How many annotations are there?": {1}},
    ),
    "numbers of rows that are years, signs, zeros and days of the week": (
        "sitters.csv",
        SITTERS,
        {
            "How many sitters were born in 1930?": {2},
            "Which sitters have the grade A+?": {"Ida Loam"},
            "Which sitters have the grade A?": {"Ole Kiln", "Uwe Glaze"},
            "Which sitters have no losses?": {"Ida Loam", "Uwe Glaze"},
            "Does Ida Loam have losses?": {False},
            "Which sitters joined on 2018-09-02 or later?": {"Uwe Glaze", "Ann Clay"},
            "What team is Ole Kiln?": {"red"},
            "What was the highest losses?": {5},
            "How many sitters are of the 5th class?": {3},
        },
    ),
    "first and last names": (
        "guests of the inn.csv",
        GUESTS,
        {
            "How old is Ada Lind?": {31},
            "Which guests are from Lund?": {"Bo Berg", "Ada Moe"},
            "How many guests are there?": {3},
        },
    ),
    "DCAT-AP without the network": (
        "dataset.jsonld",
        CATALOGUE,
        {"Who is the publisher of Tides?": {"Harbour Office"}, "What is the byte size of Tides as CSV?": {1200}},
    ),
    "columns of one name": (
        "shells.csv",
        SHELLS,
        {
            "What are the phone numbers of Limpet?": {"1-2", "3-4"},
            "What is the phone of Whelk?": {"5-6"},
            "What is the second phone of Limpet?": {"3-4"},
        },
    ),
}


def exported(data: Path) -> tuple[bytes, int]:
    """The triples of the only version in a folder, and the number of its classes."""
    with closing(Tables(next(data.glob("graph/versions/*/graph.sqlite")))) as tables:
        export_triples(tables, out := io.BytesIO())
        return out.getvalue(), len(tables.schema.classes)


@pytest.mark.parametrize("case", ANSWERS)
async def test_data_as_people_have_it_gives_right_answers(case: str, tmp_path: Path) -> None:
    file, text, expected = ANSWERS[case]
    ask = ask_graph(text, tmp_path, file)
    for question, values in expected.items():
        answer = await ask(question)
        assert set(answer["values"]) == values, (question, answer["answer"])


@pytest.mark.parametrize(
    ("question", "sentences"),
    [
        ("How many makers are there?", ["2 makers", "1 of them has several records: Acme Ltd."]),
        ("Which concepts are there?", ["1 of them is deprecated: fen."]),
        ("How many concepts are there?", ["is deprecated: fen.", "1 of them has an exact match among them: fen."]),
    ],
)
async def test_what_is_counted_apart_is_reported(question: str, sentences: list[str], tmp_path: Path) -> None:
    answer = (await ask_graph(MAKERS, tmp_path)(question))["answer"]
    assert all(each in answer for each in sentences), answer


@pytest.mark.parametrize(
    ("file", "text", "question"),
    [
        ("makers.ttl", MAKERS, "How many makers are in Oslo?"),
        ("exports.trig", EXPORTS, "Which mills are in the 2026 export but not in the 2025 export?"),
        ("datasets.ttl", DATASETS, "What is the license of Tides?"),
        ("lists.ttl", LISTS, "What are the stops of Long Walk?"),
        ("lists.ttl", LISTS, "What is the child of Fen?"),
        ("claims.ttl", CLAIMS, "Since when is Bo Berg the CEO of Acme?"),
    ],
)
async def test_citations_name_only_triples_of_the_file(file: str, text: str, question: str, tmp_path: Path) -> None:
    answer = await ask_graph(text, tmp_path, file)(question)
    assert answer["values"]
    stated = {
        tuple(getattr(term, "value", f"<<( {term} )>>") for term in (quad.subject, quad.predicate, quad.object))
        for quad in ox.parse(exported(tmp_path / "data")[0], format=ox.RdfFormat.N_QUADS)
    }
    cited = {tuple(x.removeprefix("_:") for x in each) for c in answer["citations"] for each in c["triples"]}
    assert cited
    assert cited <= stated


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("What are the stops of Long Walk?", ["Mill", "Fen", "Abbey"]),
        ("What are the stops of Short Walk?", ["Abbey", "Fen", "Mill"]),
        ("What is the first stop of Long Walk?", ["Mill"]),
        ("What is the second stop of Short Walk?", ["Fen"]),
        ("What is the last stop of Short Walk?", ["Mill"]),
        ("Which walks start at Abbey?", ["Short Walk"]),
        ("Which walks end at Abbey?", ["Long Walk"]),
    ],
)
async def test_lists_keep_their_order(question: str, values: list[str], tmp_path: Path) -> None:
    assert (await ask_graph(LISTS, tmp_path)(question))["values"] == values


async def test_what_does_not_say_that_it_is_deprecated_is_not(tmp_path: Path) -> None:
    stated = ("", "; owl:deprecated true ", "; owl:deprecated false ", "; owl:deprecated true ", "")
    text = "@prefix : <http://e.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> ." + "".join(
        f':c{n} a :Cup ; <{LABEL}> "Cup {n}" {each}.\n' for n, each in enumerate(stated)
    )
    ask = ask_graph(text, tmp_path)
    for question, values in {
        "How many cups are not deprecated?": [3],
        "Which cups are deprecated?": ["Cup 1", "Cup 3"],
        "Is Cup 2 deprecated?": [False],
        "Is Cup 1 deprecated?": [True],
    }.items():
        answer = await ask(question)
        assert (answer["values"], answer["status"]) == (values, "answered"), question


async def test_members_that_come_twice_in_a_list_are_counted_twice(tmp_path: Path) -> None:
    members = "".join(f' :{name} a :Stop ; r:label "{name.capitalize()}" .' for name in ("mill", "fen"))
    walk = ':w a :Walk ; r:label "Long Walk" ; :stops ( :mill :fen :mill )'
    text = f"@prefix : <http://e.org/> . @prefix r: <http://www.w3.org/2000/01/rdf-schema#> . {walk} .{members}"
    ask = ask_graph(text, tmp_path)
    answer = await ask("How many stops does Long Walk have?")
    assert answer["values"] == [3]
    assert answer["citations"][0]["triples"]
    assert (await ask("What are the stops of Long Walk?"))["values"] == ["Mill", "Fen"]
    assert (await ask("Which walk has the most stops?"))["values"] == ["Long Walk"]


async def test_things_of_one_name_are_counted_apart(tmp_path: Path) -> None:
    cats = " . ".join(
        f':c{i} a :Cat ; r:label "{name}" ; :age {i}' for i, name in enumerate(("Tom", "Kit", "Tom", "Tom"))
    )
    text = f"@prefix : <http://e.org/> . @prefix r: <http://www.w3.org/2000/01/rdf-schema#> . {cats} ."
    answer = await ask_graph(text, tmp_path)("Which cats have an age above 0?")
    assert answer["answer"] == "3 cats are older than 0: Kit and Tom (2 of them) [1]."
    assert answer["values"] == ["Kit", "Tom"]


async def test_things_are_sorted_by_name_without_regard_to_accents(tmp_path: Path) -> None:
    names = ("Zoe", "Étienne", "adam", "Łukasz", "Eva")
    text = "".join(
        f'<http://e.org/{i}> a <http://e.org/Potter> ; <{LABEL}> "{name}" .\n' for i, name in enumerate(names)
    )
    ask = ask_graph(f'<http://e.org/9> a <http://e.org/Potter> ; <{LABEL}> "Ida"@en .\n{text}', tmp_path)
    answer = await ask("List the potters sorted by name")
    assert answer["values"] == ["adam", "Étienne", "Eva", "Ida", "Łukasz", "Zoe"], answer["answer"]


@pytest.mark.parametrize(("graphs", "links"), [(MAX_NAMED_GRAPHS, MAX_NAMED_GRAPHS), (MAX_NAMED_GRAPHS + 1, 0)])
def test_named_graphs_are_a_property_up_to_a_number_of_graphs(graphs: int, links: int, tmp_path: Path) -> None:
    lines = (f"<http://e.org/{i}> <{TYPE}> <http://e.org/K> <http://e.org/g/{i}> .\n" for i in range(graphs))
    (tmp_path / "g.nq").write_text("".join(lines))
    facts = derive_facts(parse_files([tmp_path / "g.nq"]))
    assert sum(facts.texts[number] == NAMED_GRAPH for number in facts.predicate.tolist()) == links


async def test_the_search_for_stated_triples_ends(tmp_path: Path) -> None:
    stops = "".join(f' :s{i} a :Stop ; r:label "Stop {i}" .' for i in range(2 * MAX_STEPS))
    members = " ".join(f":s{i}" for i in range(2 * MAX_STEPS))
    prefixes = "@prefix : <http://e.org/> . @prefix r: <http://www.w3.org/2000/01/rdf-schema#> ."
    ask = ask_graph(f'{prefixes} :w a :Walk ; r:label "Long Walk" ; :stops ( {members} ) .{stops}', tmp_path)
    answer = await ask("What is the last stop of Long Walk?")
    assert answer["values"] == [f"Stop {2 * MAX_STEPS - 1}"]
    assert len(answer["citations"][0]["triples"]) < MAX_STEPS


def test_triple_terms_are_exported_and_unsupported_ones_have_their_own_lines(tmp_path: Path) -> None:
    path = tmp_path / "claims.nt"
    reifies = "http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies"
    kept = [f'<http://e.org/{n}> <{reifies}> <<( <http://e.org/a> <http://e.org/p> "{n}" )>> .' for n in "rs"]
    lines = [kept[0], f"<http://e.org/t> <{reifies}> <<( _:x <http://e.org/q> 1 )>> .", kept[1]]
    lines[1] = lines[1].replace(" 1 ", ' "1" ')
    lines.append(lines[1].replace("/q>", "/z>"))
    path.write_text("\n".join(lines))
    result = ingest([str(path)], "graph", data=tmp_path, embedder=None)
    assert sorted(exported(tmp_path)[0].decode().splitlines()) == sorted(kept)
    assert result.version
    with closing(Tables(next(tmp_path.glob("graph/versions/*/graph.sqlite")))) as tables:
        assert [each.line for each in read_omissions(tables).listed] == [2, 4]


def test_spellings_are_kept_apart_on_request_and_always_exported(tmp_path: Path) -> None:
    (tmp_path / "graph.nt").write_text(
        "".join(
            f"<http://e.org/{thing}> <{TYPE}> <{scheme}://schema.org/Dataset> .\n"
            for thing, scheme in (("a", "http"), ("b", "https"))
        )
    )
    for apart in (False, True):
        data = tmp_path / str(apart)
        layers = LayerFiles(spellings=not apart)
        ingest([str(tmp_path / "graph.nt")], "graph", data=data, layers=layers, embedder=None)
        found, classes = exported(data)
        assert sorted(found.decode().splitlines()) == (tmp_path / "graph.nt").read_text().splitlines()
        assert classes == 1 + apart


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        (POLICY, {"odrl/2/action": "odrl/2/display", "odrl/2/operator": "odrl/2/lt", "odrl/2/target": "e.org/map"}),
        (
            TABLE,
            {
                "csvw#name": "height",
                "csvw#title": "Height",
                "csvw#url": "tides.csv",
                "csvw#datatype": "XMLSchema#decimal",
            },
        ),
        (CATALOGUE, {"dcat#keyword": "sea", "dcat#accessURL": "e.org/tides", "dc/terms/title": "Tides"}),
    ],
)
def test_contexts_that_come_along_name_the_terms_of_their_vocabularies(
    text: str, stated: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "a.jsonld").write_text(text, encoding="utf-8")
    facts = parse_files([tmp_path / "a.jsonld"])
    found = [
        (facts.term(p).value, facts.term(o).value)
        for p, o in zip(facts.predicate.tolist(), facts.object.tolist(), strict=True)
    ]
    for predicate, value in stated.items():
        assert any(p.endswith(predicate) and o.endswith(value) for p, o in found), (predicate, found)


async def test_things_of_a_matching_concept_are_found_by_its_name(tmp_path: Path) -> None:
    fields = ":f a :Field ; r:label 'Low Moor' ; :soil :c3 . :g a :Field ; r:label 'Tarn End' ; :soil :c4 ."
    answer = await ask_graph(f"{MAKERS} {fields}", tmp_path)("Which fields have the soil marsh?")
    assert answer["values"] == ["Low Moor", "Tarn End"]
