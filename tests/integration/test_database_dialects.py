"""Functions that differ between dialects give the same on SQLite and DuckDB."""

from collections.abc import Iterator

import pytest

from nacre.extensions.databases.attach_database import attach_database
from nacre.extensions.databases.attached_tables import AttachedTables
from nacre.stores.catalog import Library
from tests.support.databases import fill
from tests.support.dialect_cases import DIALECT_CASES, same_rows


@pytest.fixture(scope="module", params=["sqlite", "duckdb"])
def tables(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AttachedTables]:
    folder = tmp_path_factory.mktemp("dialects")
    url = f"{request.param}:///{folder}/bees.db"
    fill(url)
    attach_database(url, "bees", data=folder / "data")
    library = Library(folder / "data", None)
    with library.open("bees") as graph:
        assert isinstance(graph.tables, AttachedTables)
        yield graph.tables
    library.close()


@pytest.mark.parametrize("name", DIALECT_CASES)
def test_the_rows_are_the_same(name: str, tables: AttachedTables) -> None:
    sql, expected = DIALECT_CASES[name]
    found = tables.run(sql).rows
    assert same_rows(found, expected), (found, tables.native(sql).text)
