"""Pages of classes and things of an attached database, and its figures, on SQLite and DuckDB."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa

from nacre.access import class_table as facets
from nacre.access.class_table import class_facet, class_table
from nacre.access.things import class_view, local_thing
from nacre.errors import ToolError
from nacre.extensions.databases.attach_database import attach_database
from nacre.records.browse import Facet, MemberTable, RowFilter, TableRequest
from nacre.stores.catalog import Graph, Library
from tests.support.databases import HOSTILE, fill

HIVE, KEEPER = "urn:nacre:db:hive", "urn:nacre:db:Bee%20Keeper"
ADA = f"{KEEPER}/Keeper%20Id=1"


@pytest.fixture(scope="module", params=["sqlite", "duckdb"])
def graph(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    folder = tmp_path_factory.mktemp("browsing")
    url = f"{request.param}:///{folder}/bees.db"
    fill(url)
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        insert = "INSERT INTO hive (hive_id, name, keeper_id, colour, weight) VALUES (13, :name, NULL, 'green', NULL)"
        connection.execute(sa.text(insert), {"name": HOSTILE[:60]})
    engine.dispose()
    attach_database(url, "bees", data=folder / "data")
    library = Library(folder / "data", None)
    with library.open("bees") as opened:
        yield opened
    library.close()


def table(graph: Graph, *filters: RowFilter, size: int = 100, **request: object) -> MemberTable:
    found = class_table(graph, TableRequest(HIVE, filters=filters, **request), size)  # type: ignore[arg-type]
    assert found is not None
    return found


def facet(graph: Graph, column: str, *filters: RowFilter, search: str = "") -> Facet:
    found = class_facet(graph, TableRequest(HIVE, search, filters), f"{HIVE}#{column}")
    assert found is not None
    return found


def labels(found: MemberTable) -> list[str]:
    return [row.label for row in found.rows]


def counts(found: Facet) -> dict[str, int]:
    return {each.text: each.count for each in found.values}


def test_rows_come_in_pages_with_links_by_name(graph: Graph) -> None:
    first = table(graph, size=2)
    assert labels(first) == [HOSTILE[:60], "Northwind"]
    assert (first.count, len(table(graph, size=2, skip=2).rows)) == (4, 2)
    northwind = first.rows[1]
    assert northwind.iri == f"{HIVE}/hive_id=10"
    cells = dict(zip([column.label for column in first.columns], northwind.cells, strict=True))
    keeper = next(ends for label, ends in cells.items() if "keeper" in label)
    assert [(end.text, end.iri) for end in keeper] == [("Ada Quill", ADA)]


def test_rows_are_sorted_and_those_without_a_value_come_last(graph: Graph) -> None:
    for descending, expected in ((True, ["Rooftop", "Northwind", "Old Oak"]), (False, ["Old Oak", "Northwind"])):
        found = labels(table(graph, sort=f"{HIVE}#weight", descending=descending))
        assert found[: len(expected)] == expected
        assert found[-1] == HOSTILE[:60]
    assert labels(table(graph, sort=f"{HIVE}#ref-keeper_id"))[-2:] == ["Rooftop", HOSTILE[:60]]


def test_filters_search_and_counts_agree(graph: Graph) -> None:
    heavy = RowFilter(f"{HIVE}#weight", ">=", "30")
    found = table(graph, heavy)
    assert (sorted(labels(found)), found.matching) == (["Northwind", "Rooftop"], 2)
    assert sorted(labels(table(graph, RowFilter(f"{HIVE}#ref-keeper_id", "=", ADA)))) == ["Northwind", "Old Oak"]
    assert labels(table(graph, RowFilter(f"{HIVE}#ref-keeper_id", "none"))) == [HOSTILE[:60]]
    assert labels(table(graph, RowFilter(f"{HIVE}#checked_at", ">=", "2024-05-02"))) == ["Old Oak"]
    assert labels(table(graph, search="NORTH")) == ["Northwind"]
    assert labels(table(graph, search="%")) == ([HOSTILE[:60]] if "%" in HOSTILE[:60] else [])
    assert counts(facet(graph, "colour", heavy)) == {"blue": 2}
    assert counts(facet(graph, "ref-keeper_id")) == {"Ada Quill": 2, "Bo O'Hara": 1}
    weight = facet(graph, "weight")
    assert (weight.low, weight.high) == (28.0, 40.25)


def test_values_of_a_large_class_are_counted(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facets, "SAMPLED", 1)
    found = counts(facet(graph, "colour", search="o"))
    assert found == {"blue": 2, "white": 1, "green": 1}


def test_what_is_no_property_or_number_is_an_error_and_never_part_of_a_query(graph: Graph) -> None:
    for each in (RowFilter("urn:x", "="), RowFilter(f"{HIVE}#weight", "=", "two")):
        with pytest.raises(ToolError):
            table(graph, each)
    with pytest.raises(ToolError):
        table(graph, sort='"; DROP TABLE hive')
    assert labels(table(graph, RowFilter(f"{HIVE}#colour", "=", "' OR 1=1 --"))) == []
    assert labels(table(graph, search=HOSTILE)) == []
    assert class_table(graph, TableRequest("urn:none")) is None


def test_a_class_and_its_rows_are_described(graph: Graph) -> None:
    found = class_view(graph, KEEPER)
    assert found is not None
    assert (found.comment or "members of the association", found.count) == ("members of the association", 2)
    assert [end.text for end in found.members] == ["Ada Quill", "Bo O'Hara"]
    thing = local_thing(graph, f"{HIVE}/hive_id=13")
    assert thing is not None
    assert thing.label == HOSTILE[:60]
    ada = local_thing(graph, ADA)
    assert ada is not None
    shown = {each.label: [end.text for end in each.ends] for each in ada.facts}
    assert shown["member since"] == ["2011-04-02"]
    assert sorted(end.text for each in ada.linking for end in each.ends) == ["Northwind", "Old Oak"]
    assert "scan" not in json.dumps(shown)


def test_rows_of_a_view_that_are_others_each_time_are_listed(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "lots.db")) as made:
        made.executescript(
            "CREATE TABLE lot (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO lot VALUES (1, 'Oak'), (2, 'Elm');"
            "CREATE VIEW draw AS SELECT random() AS number, name FROM lot;"
        )
    attach_database(f"sqlite:///{tmp_path}/lots.db", "lots", data=tmp_path / "data")
    library = Library(tmp_path / "data", None)
    with library.open("lots") as opened:
        found = class_table(opened, TableRequest("urn:nacre:db:draw"), 10)
        assert found is not None
        assert [row.label.partition("=")[0] for row in found.rows] == ["number", "number"]
        assert {row.iri.rpartition("/")[0] for row in found.rows} == {"urn:nacre:db:draw"}
    library.close()
