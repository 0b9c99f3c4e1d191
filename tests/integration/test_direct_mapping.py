"""Databases in the kind of the cases of W3C's Direct Mapping give the same triples on SQLite and DuckDB, but for what
differs on purpose."""

from pathlib import Path

import pytest

from nacre.stores.addresses import DatabaseLimits
from tests.support.direct_mapping import create, expected_triples, same_graph, served_triples
from tests.support.direct_mapping_cases import CASES, MappingCase


@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.number)
def test_the_triples_are_those_of_the_mapping(case: MappingCase, engine: str, tmp_path: Path) -> None:
    if engine not in case.engines:
        pytest.skip(f"{engine} takes no such statements")
    url = f"{engine}:///{tmp_path}/case.db"
    create(url, case)
    found = served_triples(url, tmp_path / "data", DatabaseLimits())
    assert same_graph(found, expected_triples(case)), sorted(found)
