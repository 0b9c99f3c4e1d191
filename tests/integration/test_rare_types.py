"""Things whose types too few have for a table of their own are asked about by name like any other."""

from collections.abc import Iterator

import pytest

from ingestion.index.lexicon import write_names
from ingestion.induce.layout import induce_layout
from ingestion.induce.write_tables import write_layout
from ingestion.read.parse import parse_files
from nacre.records.turn import Rewrite
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.stores.sqlite.tables import Tables
from nacre.understanding.understand import understand
from nacre.wording.profile import run_plan

HEAD = "@prefix : <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
TEACHERS = ("Berta Kolm", "Carl Dorn", "Emil Fark")


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Tables, Lexicon]]:
    folder = tmp_path_factory.mktemp("rare")
    lines = [f':p{n} a :Person ; rdfs:label "{name}" ; :age {50 + n} .' for n, name in enumerate(TEACHERS)]
    lines += [f':s{n} a :Person, :Student ; rdfs:label "Ada Number{n}" ; :age {20 + n % 9} .' for n in range(300)]
    lines += [f':c{n} a :Course ; rdfs:label "Course {n}" ; :taughtBy :p{n % 3} .' for n in range(400)]
    (folder / "school.ttl").write_text(HEAD + "\n".join(lines), "utf-8")
    layout = induce_layout(parse_files([folder / "school.ttl"]))
    write_names(layout, write_layout(layout, folder / "graph.sqlite"), folder / "lexicon.sqlite")
    tables = Tables(folder / "graph.sqlite")
    lexicon = Lexicon(folder / "lexicon.sqlite", tables.schema)
    yield tables, lexicon
    lexicon.close()
    tables.close()


def first(question: str, opened: tuple[Tables, Lexicon]) -> list[object]:
    tables, lexicon = opened
    reading = understand(Rewrite(question), tables.schema, lexicon).readings[0]
    table, _, _ = run_plan(reading.plan, tables, round=1)
    return [row[0] for row in table.rows] if table else []


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is the age of Carl Dorn?", [51]),
        ("How old is Emil Fark?", [52]),
        ("Who teaches Course 7?", ["Carl Dorn"]),
        ("How many courses are taught by Berta Kolm?", [134]),
        ("How many persons are there?", [303]),
        ("What is the age of Ada Number7?", [27]),
    ],
)
def test_three_persons_beside_300_students_are_found(
    question: str, answer: list[object], opened: tuple[Tables, Lexicon]
) -> None:
    assert first(question, opened) == answer


def test_all_of_them_are_in_a_table_of_the_lexicon(opened: tuple[Tables, Lexicon]) -> None:
    tables, lexicon = opened
    homes = {home.relation: home.things for home in lexicon.table_counts}
    assert sum(homes.values()) == tables.schema.entities == 703
    assert homes["person"] == 3
