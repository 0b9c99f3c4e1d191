"""The schema as a model sees it: no empty columns, copies once, where names stand, targets of links, stored forms."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ingestion.induce.write_tables import write_tables
from ingestion.read.parse import parse_files
from nacre.stores.sqlite.schema_sql import column_comment, schema_sql, translations
from nacre.stores.sqlite.tables import Tables

KILN = """
@prefix : <http://example.org/kiln/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:k1 a :Kiln ; rdfs:label "First kiln" ; :firedBy :ana ; :serial "17" ; :isElectric true .
:k2 a :Kiln ; rdfs:label "Second kiln" ; :firedBy :guild ; :serial "18" ; :isElectric false .
:k3 a :Kiln ; rdfs:label "Third kiln" ; :firedBy :ana ; :serial "19" ; :isElectric true .
:ana a :Potter ; rdfs:label "Ana" .
:guild a :Guild ; rdfs:label "The guild" ; :members 12 .
:f1 a :Firing ; :inKiln :k1 ; :degrees 900 . :f2 a :Firing ; :inKiln :k2 ; :degrees 1200 .
:k1 :nameEN "first" ; :nameFR "premier" ; :glaze "ash", "tin" .
:k2 :nameEN "second" ; :nameFR "deuxième" ; :glaze "salt" .
:ana :isEN "no name" . :k1 :seenBy :ana, :guild .
:s1 a :Shelf , :Rack ; rdfs:label "A" ; :width 3 . :s2 a :Shelf , :Board ; rdfs:label "B" ; :width 4 .
"""


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tables]:
    folder: Path = tmp_path_factory.mktemp("kiln")
    (folder / "kiln.ttl").write_text(KILN, "utf-8")
    write_tables(parse_files([folder / "kiln.ttl"]), folder / "graph.sqlite")
    opened = Tables(folder / "graph.sqlite")
    yield opened
    opened.close()


def statement(text: str, table: str) -> str:
    return next(part for part in text.split("\n\n") if f"CREATE TABLE {table} (" in part)


def test_it_says_where_the_names_of_things_stand(tables: Tables) -> None:
    text = schema_sql(tables)
    assert statement(text, "firing").startswith("-- firing (2 rows); names: entity.label")
    assert "entity.label" not in statement(text, "potter")


def test_a_link_to_things_of_several_tables_has_them_with_their_shares(tables: Tables) -> None:
    assert "REFERENCES entity(id), -- to guild 50 %, potter 50 %" in statement(schema_sql(tables), "kiln")


def test_descriptions_are_cut_between_words(tables: Tables) -> None:
    about = "A clay vessel that is fired twice. " * 9
    known = replace(tables.schema.predicate_of["http://example.org/kiln/degrees"], comment=about, values=("900",))
    assert (
        column_comment(known, short=True) == "A clay vessel that is fired twice. A clay vessel that is …; one of: 900"
    )
    assert len(column_comment(known).partition(";")[0]) <= 200
    assert column_comment(replace(known, comment=about[:35])) == "A clay vessel that is fired twice; one of: 900"


def test_values_are_described_as_they_are_stored(tables: Tables) -> None:
    text = statement(schema_sql(tables), "kiln")
    assert "is_electric BOOLEAN, -- 1 or 0" in text or "is_electric BOOLEAN -- 1 or 0" in text


def test_a_part_lists_what_its_columns_refer_to(tables: Tables) -> None:
    assert "-- table kiln, in short: id, label" in schema_sql(tables, ["firing"])
    assert "in short" not in schema_sql(tables, ["firing", "kiln", "guild", "potter"])


def test_a_part_shows_a_row_of_a_junction(tables: Tables) -> None:
    assert "); -- e.g. First kiln -> " in statement(schema_sql(tables, ["seen_by"], ()), "seen_by")
    assert "e.g." not in statement(schema_sql(tables, ["glaze"], ()), "glaze")


def test_a_part_names_the_lists_that_are_not_shown(tables: Tables) -> None:
    line = "-- further tables of links and lists: glaze(kiln_id, glaze), seen_by(kiln_id, seen_by_id)"
    assert line in schema_sql(tables, ["kiln"], frozenset())
    assert "further tables" not in schema_sql(tables, ["kiln", "glaze", "seen_by"], frozenset())
    assert "further tables" not in schema_sql(tables, ["firing"], frozenset())


def test_a_property_beside_one_for_english_is_a_translation(tables: Tables) -> None:
    base = "http://example.org/kiln/"
    assert translations(tables.schema) == {f"{base}nameFR": "fr"}


def test_the_text_is_the_same_each_time(tables: Tables) -> None:
    assert schema_sql(tables) == schema_sql(tables)
    assert schema_sql(tables, ["firing"]) == schema_sql(tables, ["firing"])


def test_a_small_table_with_known_columns_lists_its_things(tmp_path: Path) -> None:
    """Lists of codes have the columns of each other, and a question needs their labels."""
    lists = {"Size": ["Large", "Small"], "Colour": ["Green", "Red"]}
    base = "http://example.org/"
    lines = [
        f'<{base}{label}> a <{base}{name}> ; <{base}code> "{label[0]}" ; <{base}note> "{label}ish" ;'
        f' <{base}order> {n} ; <{base}sign> "{label}-sign" ; <http://www.w3.org/2000/01/rdf-schema#label> "{label}" .'
        for name, labels in lists.items()
        for n, label in enumerate(labels)
    ]
    (tmp_path / "codes.ttl").write_text("\n".join(lines), "utf-8")
    write_tables(parse_files([tmp_path / "codes.ttl"]), tmp_path / "graph.sqlite")
    opened = Tables(tmp_path / "graph.sqlite")
    assert "-- table size: the columns of colour; its things: Large, Small" in schema_sql(
        opened, ["colour", "size"], ()
    )
    opened.close()


def test_columns_that_are_left_out_are_named_and_those_of_languages_together(tmp_path: Path) -> None:
    """A further list names the table that it leads to."""
    things = "\n".join(
        f""":t{n} a :Thing ; :titleEN "t{n}" ; :titleFR "le t{n}" ; :titleDE "das t{n}" ; :usesPart :p{n}, :p{n + 1} ;
        {" ; ".join(f":feature{k} {k + n}" for k in range(20))} . :p{n} a :Screw ; :length {n} ."""
        for n in range(3)
    )
    (tmp_path / "graph.ttl").write_text(
        f"@prefix : <http://example.org/> . {things} :p3 a :Screw ; :length 3 .", "utf-8"
    )
    write_tables(parse_files([tmp_path / "graph.ttl"]), tmp_path / "graph.sqlite")
    opened = Tables(tmp_path / "graph.sqlite")
    text = schema_sql(opened, ["thing"], frozenset())
    opened.close()
    (line,) = (line for line in text.splitlines() if line.startswith("-- also "))
    assert line.startswith("-- also feature_"), line
    assert line.endswith("title_(de|fr)"), line
    assert "uses_part(thing_id, uses_part_id -> screw)" in text
