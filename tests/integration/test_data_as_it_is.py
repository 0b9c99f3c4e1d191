"""Data as people have it: doubled columns, named graphs, two spellings, lists, claims, places -> right answers."""

import io
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ingestion.index.triples import export_triples
from ingestion.layer.layer_file import LayerFiles
from ingestion.pipeline import ingest
from ingestion.vocabulary import TYPE
from nacre.stores.sqlite.tables import Tables
from tests.support.ask_graph import ask_graph

SHELLS = "id,Name,Weight,Phone,Phone\nA1,Limpet,900 g,1-2,3-4\nA2,Whelk,1100 g,5-6,\nA3,Cone,2000 g,,\n"
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


@pytest.mark.parametrize("case", ANSWERS)
async def test_data_as_people_have_it_gives_right_answers(case: str, tmp_path: Path) -> None:
    file, text, expected = ANSWERS[case]
    ask = ask_graph(text, tmp_path, file)
    for question, values in expected.items():
        answer = await ask(question)
        assert set(answer["values"]) == values, (question, answer["answer"])


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
        with closing(Tables(next(data.glob("graph/versions/*/graph.sqlite")))) as tables:
            assert len(tables.schema.classes) == 1 + apart
            export_triples(tables, exported := io.BytesIO())
        assert sorted(exported.getvalue().decode().splitlines()) == (tmp_path / "graph.nt").read_text().splitlines()
