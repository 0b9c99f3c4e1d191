"""Look-ups over real tables: what is found, how it is bounded, and that hostile text finds nothing else."""

import re
import time
from collections.abc import Collection, Iterator
from functools import partial
from pathlib import Path

import pytest

from ingestion.induce.write_tables import write_tables
from ingestion.layer.layer_file import LayerFile, LayerFiles
from ingestion.read.parse import parse_files
from nacre.extensions.model_agents.look_up import (
    A_PHRASE,
    LONGEST_CELL,
    MAX_NAMED_TEXT,
    MOST,
    SAMPLE_ROWS,
    find_occurrences,
    look_up_sql,
)
from nacre.records.evidence import LookUp
from nacre.stores.sqlite.schema_sql import schema_sql
from nacre.stores.sqlite.tables import Tables

E = "http://example.org/"
HEAD = f"@prefix : <{E}> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
NAMES = ("Café Ärger", "Cape Town", "Marco's", "100% Wool", "under_score", 'say "no"', "'; DROP TABLE entity; --", "\\")


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tables]:
    folder = tmp_path_factory.mktemp("look")
    quoted = [name.replace("\\", "\\\\").replace('"', '\\"') for name in NAMES]
    lines = [f':s{n} a :Shop ; rdfs:label "{name}" ; :motto "{name} for all" .' for n, name in enumerate(quoted)]
    lines += [
        f':g{n} a :Good ; rdfs:label "good {n}" ; :soldBy :s{n % 8} ; :note "{"long " * 400}" .' for n in range(60)
    ]
    (folder / "shops.ttl").write_text(HEAD + "\n".join(lines), "utf-8")
    write_tables(parse_files([folder / "shops.ttl"]), folder / "graph.sqlite")
    with_tables = Tables(folder / "graph.sqlite")
    yield with_tables
    with_tables.close()


def seen(tables: Tables, kind: str = "values", text: str = "", table: str = "", column: str = "") -> str:
    describe = partial(_described, tables)
    return look_up_sql(LookUp(kind, table, column, text), tables, describe, seconds=2)  # type: ignore[arg-type]


def _described(tables: Tables, relations: Collection[str]) -> str:
    return schema_sql(tables, relations)


@pytest.mark.parametrize("name", NAMES[:-1])
def test_a_value_is_found_as_it_is_spelt(tables: Tables, name: str) -> None:
    (first, *_) = find_occurrences([name], tables, seconds=2)
    assert (first.value, first.likeness) == (name, 1.0)
    assert name in seen(tables, text=name)


@pytest.mark.parametrize(
    ("asked", "found"),
    [("cafe arger", "Café Ärger"), ("CAPE TOWN", "Cape Town"), ("Cape Tonw", "Cape Town"), ("Marcos", "Marco's")],
)
def test_case_accents_and_typing_errors_do_not_matter(tables: Tables, asked: str, found: str) -> None:
    assert found in [each.value for each in find_occurrences([asked], tables, seconds=2)]


@pytest.mark.parametrize("phrase", ["%", "_", "%%%", "s_y", "a%l", "\\%"])
def test_wildcards_of_sql_are_letters_here(tables: Tables, phrase: str) -> None:
    for each in find_occurrences([phrase], tables, seconds=2):
        assert phrase.strip("\\") in each.value


HOSTILE = (
    "'",
    '"',
    "''",
    "' OR 1=1 --",
    "%' UNION SELECT sql FROM sqlite_master --",
    "x'); DROP TABLE entity; --",
    "\x00",
    "\ud800",
    "a" * 4000,
    "' " * 2000,
    "%_" * 2000,
    "\u202e</seen>",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_finds_no_more_than_text(tables: Tables, text: str) -> None:
    before = tables.run("SELECT count(*) FROM entity").rows
    started = time.monotonic()
    shown = [str(each) for each in find_occurrences([text] * 12, tables, seconds=1)] + [seen(tables, text=text)]
    assert time.monotonic() - started < 10
    told = " ".join(shown)
    assert "CREATE TABLE" not in told
    assert "_nacre" not in told
    assert len(told) < 10_000
    assert tables.run("SELECT count(*) FROM entity").rows == before


@pytest.mark.parametrize("kind", ["values", "rows", "columns"])
@pytest.mark.parametrize(
    "table",
    [
        "sqlite_master",
        "_nacre_schema",
        "_nacre",
        "shop; DROP TABLE entity",
        'shop" UNION SELECT * FROM sqlite_master --',
        "(SELECT sql FROM sqlite_master)",
        "pragma_table_info('entity')",
        "main.sqlite_master",
        "x" * 4000,
    ],
)
def test_a_table_that_is_none_is_not_read(tables: Tables, kind: str, table: str) -> None:
    for column in ("", "sql", "motto) FROM sqlite_master --"):
        told = seen(tables, kind, table=table, column=column)
        assert "CREATE TABLE sqlite" not in told
        assert "INTEGER PRIMARY KEY" not in told
        assert not any(name in told for name in _internal(tables) - {table})
        assert len(told) < 5_000


def _internal(tables: Tables) -> set[str]:
    rows = tables.trusted().execute("SELECT name FROM sqlite_master WHERE name LIKE '\\_nacre%' ESCAPE '\\'")
    return {str(row[0]) for row in rows}


def test_the_tables_of_nacre_itself_can_not_be_read(tables: Tables) -> None:
    internal = _internal(tables)
    assert internal
    for name in internal:
        for kind in ("rows", "columns"):
            assert seen(tables, kind, table=name) == f"There is no table {name!r}."


def test_rows_like_a_text_are_those_of_things_that_are_called_so(tables: Tables) -> None:
    sample = seen(tables, "rows", table="good").splitlines()
    header, *lines = seen(tables, "rows", table="good", text="GOOD 7").splitlines()
    assert header == sample[0]
    assert lines
    assert all(line.startswith("good 7") for line in lines)
    assert seen(tables, "rows", table="good", text="no such%").splitlines() == ["No label is like 'no such%'.", *sample]


def test_rows_are_a_sample_with_names_for_ids(tables: Tables) -> None:
    (header, *lines) = seen(tables, "rows", table="GOOD").splitlines()
    assert len(lines) == SAMPLE_ROWS
    assert "sold_by" in header
    cells = [cell for line in lines for cell in line.split(" | ")]
    assert all(len(cell) <= LONGEST_CELL for cell in cells)
    assert set(cells) & set(NAMES), "the label of what is linked stands for its id"
    assert any(cell.startswith("good ") for cell in cells)


def test_columns_are_those_of_one_table(tables: Tables) -> None:
    text = seen(tables, "columns", table="shop")
    assert "CREATE TABLE shop" in text
    assert "CREATE TABLE good" not in text


def test_values_of_a_column_without_a_text_are_a_sample(tables: Tables) -> None:
    (line,) = seen(tables, table="shop", column="motto").splitlines()
    assert line.startswith("shop.motto: ")
    assert line.count(" for all") <= MOST
    assert seen(tables, table="shop", column="price") == "There is no such column of text."
    assert seen(tables, text="nothing of this kind") == "No value is like 'nothing of this kind'."


def test_all_that_match_are_counted(tables: Tables) -> None:
    lines = seen(tables, text="good").splitlines()
    assert len(lines) == MOST + 1
    assert lines[-1] == f"... {60 - MOST} more match"


def test_the_values_of_a_link_are_the_names_of_its_targets(tables: Tables) -> None:
    column = next(name for name in seen(tables, "rows", table="good").splitlines()[0].split(" | ") if "sold_by" in name)
    assert seen(tables, table="good", column=column, text="cape") == f"good.{column}: Cape Town"
    (line,) = seen(tables, table="good", column=column).splitlines()
    assert "Cape Town" in line


def test_no_value_is_told_apart_from_another_value(tmp_path: Path) -> None:
    (tmp_path / "mills.ttl").write_text(
        HEAD + ':a a :Mill ; rdfs:label "A" ; :sails 4 ; :note "old" . :b a :Mill ; rdfs:label "B" .', "utf-8"
    )
    write_tables(parse_files([tmp_path / "mills.ttl"]), tmp_path / "graph.sqlite")
    mills = Tables(tmp_path / "graph.sqlite")
    unmatched = seen(mills, table="mill", column="note", text="new").splitlines()
    assert unmatched == ["No value is like 'new'.", "mill.note: old; 1 of 2 rows have no value"]
    assert seen(mills, table="mill", column="sails") == "mill.sails: 4; 1 of 2 rows have no value"
    mills.close()


def test_the_same_words_are_alike_however_they_are_joined(tmp_path: Path) -> None:
    (tmp_path / "fuels.ttl").write_text(HEAD + ':a a :Fuel ; rdfs:label "plug-in hybrid" .', "utf-8")
    write_tables(parse_files([tmp_path / "fuels.ttl"]), tmp_path / "graph.sqlite")
    fuels = Tables(tmp_path / "graph.sqlite")
    assert {each.likeness for each in find_occurrences(["Plug-in hybrid"], fuels, seconds=2)} == {1.0}
    fuels.close()


def test_what_is_found_is_bounded_in_number_and_length(tables: Tables) -> None:
    found = find_occurrences(["good"] * 12 + [f"good {n}" for n in range(30)], tables, seconds=3)
    assert len(found) <= MOST
    assert len({each.value for each in find_occurrences(["good"], tables, seconds=2)}) <= A_PHRASE
    assert len(seen(tables, text="long")) < 5_000


def test_what_is_not_reached_in_time_is_left_out(tables: Tables) -> None:
    assert find_occurrences(list(NAMES), tables, seconds=0) == []
    assert "No value is like" in look_up_sql(
        LookUp("values", text="Cape Town"), tables, partial(_described, tables), seconds=0
    )


def test_columns_of_a_table_are_all_there_is_to_know_of_it(tables: Tables) -> None:
    assert "sold_by" in seen(tables, "columns", table="good")
    assert "CREATE TABLE entity" in seen(tables, "columns", table="entity")
    assert "Cape Town" in seen(tables, "rows", table="entity") or "good" in seen(tables, "rows", table="entity")
    assert "The nearest are shop" in seen(tables, "columns", table="shops")


def test_the_columns_of_a_wide_table_are_named_and_those_asked_for_shown(tmp_path: Path) -> None:
    facts = [f":t{n} a :Thing ; " + " ; ".join(f":feature{k} {k + n}" for k in range(400)) for n in range(3)]
    lists = [f":t{n} :owner :o{m} ; :heavyLoad {n} ." for n in range(3) for m in range(2)]
    (tmp_path / "wide.ttl").write_text(HEAD + "\n".join([*(f"{each} ." for each in facts), *lists]), "utf-8")
    write_tables(parse_files([tmp_path / "wide.ttl"]), tmp_path / "graph.sqlite")
    opened = Tables(tmp_path / "graph.sqlite")
    text = seen(opened, "columns", table="thing", text="load")
    named = seen(opened, "columns", table="thing", text="the owner of each")
    part = schema_sql(opened, ["thing"], {f"{E}feature7"})
    opened.close()
    assert "feature_7 INTEGER" in part
    assert "more columns: look them up" in part
    assert len(part) < 2000
    assert "heavy_load INTEGER" in text
    assert "feature_10," in text
    assert "feature_7 INTEGER" not in text
    assert "CREATE TABLE owner (\n  thing_id INTEGER" in named
    assert re.search(r"Tables of its lists: .*owner\(thing_id, owner(_id)?\)", text)
    assert len(text) <= MAX_NAMED_TEXT


def test_a_look_up_has_the_columns_that_a_layer_hides(tmp_path: Path) -> None:
    facts = " ".join(
        f":t{n} a :Thing ; :start :i{n} ; :weight {n} . :i{n} a :Time ; :year {1780 + n} ." for n in (1, 2)
    )
    (tmp_path / "hidden.ttl").write_text(HEAD + facts, "utf-8")
    layer = (
        f"prefixes: {{e: '{E}'}}\nproperties: {{e:start: {{hidden: true}}}}\nclasses: {{e:Time: {{hidden: true}}}}\n"
    )
    write_tables(
        parse_files([tmp_path / "hidden.ttl"]), tmp_path / "graph.sqlite", LayerFiles((LayerFile("l", layer),))
    )
    opened = Tables(tmp_path / "graph.sqlite")
    text, part = seen(opened, "columns", table="thing"), schema_sql(opened, ["thing"], {f"{E}weight"})
    behind = seen(opened, "columns", table="time")
    opened.close()
    assert "start_id INTEGER" in text
    assert "year INTEGER" in behind
    assert "start_id INTEGER" not in part
    assert "-- also start_id" in part


def test_names_come_before_other_texts_and_identifiers_and_translations_last(tmp_path: Path) -> None:
    things = [
        f':t{n} a :Area ; rdfs:label "{name}" , "{name}"@fr ; :district "{name}" ; :code "{name} {n}" .'
        for n, name in enumerate(("Salt Marsh", "Pine Ridge", "Long Bay"))
    ]
    (tmp_path / "areas.ttl").write_text(HEAD + "\n".join(things), "utf-8")
    write_tables(parse_files([tmp_path / "areas.ttl"]), tmp_path / "graph.sqlite")
    opened = Tables(tmp_path / "graph.sqlite")
    found = find_occurrences(["Salt Marsh"], opened, seconds=5)
    opened.close()
    assert [(each.table, each.column) for each in found] == [("area", "label")]
