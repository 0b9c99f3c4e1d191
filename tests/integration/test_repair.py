"""Each kind of failure of a model's query has its own repair; what has none is told to the model in its own words."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ingestion.induce.write_tables import write_tables
from ingestion.read.parse import parse_files
from nacre.extensions.foreign_queries.run_model_sql import run_model_sql
from nacre.records.evidence import BranchResult
from nacre.stores.sqlite.tables import Tables

FIXTURES = Path(__file__).parents[1] / "fixtures"


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tables]:
    file = tmp_path_factory.mktemp("museum") / "graph.sqlite"
    write_tables(parse_files([FIXTURES / "graphs/museum.ttl"]), file)
    opened = Tables(file)
    yield opened
    opened.close()


def run(sql: str, tables: Tables) -> BranchResult:
    return run_model_sql(sql, tables, round=1, seconds=2.0)


def rows(found: BranchResult) -> list[tuple[object, ...]]:
    assert found.error is None
    [found_rows] = found.rows
    return list(found_rows.table.rows)


@pytest.mark.parametrize(
    ("kind", "sql", "right"),
    [
        ("unknown_name", "SELECT pref_label FROM galery WHERE floor_number = 2", [("Rope Loft",)]),
        ("unknown_name", "SELECT g.pref_label FROM galerys g WHERE g.floor_number = 2", [("Rope Loft",)]),
        ("unknown_name", "SELECT galery.pref_label FROM galery WHERE galery.floor_number = 2", [("Rope Loft",)]),
        ("unknown_name", "SELECT pref_label FROM gallery WHERE floor_no = 2", None),
        ("unknown_name", "SELECT prefered_label FROM gallery WHERE floor_number = 2", [("Rope Loft",)]),
        ("unknown_name", "SELECT label FROM gallery WHERE floor_number = 2", [("Rope Loft",)]),
        ("unknown_name", "SELECT g.name FROM gallery g WHERE floor_number = 2", [("Rope Loft",)]),
        (
            "unknown_name",
            "SELECT g.pref_label FROM gallery g JOIN museum m ON m.id = g.part_of_museum_id WHERE g.ticket_price = 9.5",
            [("Sala Verde",)],
        ),
        (
            "ambiguous",
            "SELECT wall_length FROM gallery JOIN museum m ON m.id = part_of_museum_id WHERE pref_label = 'Rope Loft'",
            [(19.0,)],
        ),
        ("type", "SELECT pref_label FROM gallery WHERE wall_length > '40 m'", [("Salt Gallery",)]),
        ("type", "SELECT pref_label FROM gallery WHERE wall_length = '1900 cm'", [("Rope Loft",)]),
        ("value", "SELECT floor_number FROM gallery WHERE pref_label = 'Lantern Rom'", [(1,)]),
        ("value", "SELECT floor_number FROM gallery WHERE lower(pref_label) = 'lantern rooms'", [(1,)]),
        ("value", "SELECT floor_number FROM gallery WHERE pref_label LIKE '%Lantren Room%'", [(1,)]),
    ],
)
def test_a_query_is_mended_and_run_again(
    kind: str, sql: str, right: list[tuple[object]] | None, tables: Tables
) -> None:
    found = run(sql, tables)
    if right is None:
        assert found.error is not None
        assert found.error.kind == kind
        return
    assert rows(found) == right
    assert len(found.queries) == 2
    assert found.queries[1].words.startswith(f"repaired ({kind}): ")


@pytest.mark.parametrize(
    ("kind", "sql", "said"),
    [
        ("unknown_name", "SELECT * FROM customers", "The tables are: "),
        ("unknown_name", "SELECT shoe_size FROM artist", "artist has id, "),
        ("unknown_name", "SELECT ticket_price FROM gallery", "A column of that name is in museum"),
        ("type", "SELECT substr(pref_label) FROM artist", "artist.pref_label is text"),
        ("value", "SELECT id FROM gallery WHERE pref_label = 'Winter Garden'", "there are '"),
        (
            "overfiltered",
            "SELECT pref_label FROM gallery WHERE floor_number = 2 AND wall_length > 40",
            "No rows; without",
        ),
        (
            "timeout",
            "SELECT count(*) FROM entity a, entity b, entity c, entity d, entity e, entity f",
            "without a condition",
        ),
        ("refused", "DROP TABLE gallery", "Write one SELECT"),
        ("syntax", "SELEC pref_label FROM gallery", "can parse"),
        ("too_large", "SELECT " + "1," * 3000 + "1", "Select fewer columns"),
    ],
)
def test_what_only_the_model_can_mend_is_told_in_its_own_words(kind: str, sql: str, said: str, tables: Tables) -> None:
    found = run_model_sql(sql, tables, round=1, seconds=0.3)
    assert found.error is not None
    assert (found.error.kind, said in found.error.message) == (kind, True), found.error


def test_an_empty_result_whose_conditions_all_can_hold_is_an_answer(tables: Tables) -> None:
    found = run("SELECT pref_label FROM gallery WHERE floor_number = 7", tables)
    assert found.error is None
    assert rows(found) == []
