"""Databases in the kind of the cases of W3C's Direct Mapping give the same triples on PostgreSQL and MariaDB."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from pydantic import SecretStr

from nacre.stores.addresses import DatabaseLimits
from tests.support.databases import SERVERS, run_statements, started_server
from tests.support.direct_mapping import create, expected_triples, same_graph, served_triples
from tests.support.direct_mapping_cases import CASES, MappingCase


@pytest.fixture(scope="module", params=SERVERS)
def server(request: pytest.FixtureRequest) -> Iterator[tuple[str, sa.URL]]:
    with started_server(request.param) as (owner, _):
        yield request.param, owner


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.number)
def test_the_triples_are_those_of_the_mapping(case: MappingCase, server: tuple[str, sa.URL], tmp_path: Path) -> None:
    engine, owner = server
    if engine not in case.engines:
        pytest.skip("equal rows without a key are one there")
    name = "case_" + "".join(each for each in case.number.lower() if each.isalnum())
    statement = f"CREATE DATABASE {name}" + " CHARACTER SET utf8mb4" * (engine == "mariadb")
    run_statements(owner, [statement], isolation_level="AUTOCOMMIT")
    url = owner.set(database=name)
    create(url, case)
    limits = DatabaseLimits({f"127.0.0.1:{owner.port}": SecretStr(owner.password or "")})
    address = sa.URL.create(owner.drivername, owner.username, None, owner.host, owner.port, name).render_as_string()
    found = served_triples(address, tmp_path / "data", limits)
    assert same_graph(found, expected_triples(case)), sorted(found)
