"""Compare the graph of an attached database with a case of W3C's Direct Mapping."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import sqlalchemy as sa

from nacre.extensions.databases.attach_database import attach_database
from nacre.extensions.databases.attached_tables import AttachedTables
from nacre.stores.addresses import DatabaseLimits
from nacre.stores.catalog import Library
from nacre.stores.sqlite.tables import ROW_BASE
from tests.support.direct_mapping_cases import MappingCase

Triple = tuple[str, str, str]


def create(url: str | sa.URL, case: MappingCase) -> None:
    """Run the statements of a case."""
    engine = sa.create_engine(url)
    photo = {"duckdb": r"'\x89\x50'::BLOB", "postgresql": r"'\x8950'::BYTEA"}.get(engine.dialect.name, "X'8950'")
    with engine.begin() as connection:
        for statement in case.statements:
            written = statement.replace("PHOTO", photo)
            if engine.dialect.name == "mysql":
                written = written.replace('"', "`")
            elif engine.dialect.name == "postgresql":
                written = written.replace(" BLOB", " BYTEA")
            is_format = engine.dialect.paramstyle in ("pyformat", "format")
            connection.exec_driver_sql(written.replace("%", "%%") if is_format else written)
    engine.dispose()


def served_triples(url: str, data: Path, limits: DatabaseLimits) -> list[Triple]:
    """The triples that the attached graph gives for its rows, each row found by its IRI."""
    attach_database(url, "mapped", data=data, limits=limits)
    library = Library(data, None, database_limits=limits)
    found: list[Triple] = []
    with library.open("mapped") as graph:
        tables = graph.tables
        assert isinstance(tables, AttachedTables)
        for relation in tables.schema.relations:
            ids = [str(row[0]) for row in tables.run(f'SELECT id FROM "{relation.name}"').rows]
            facts = tables.row_facts(ids)
            assert set(facts) == set(ids)
            links = {column.predicate for column in relation.columns if column.link}
            for iri, fact in facts.items():
                found += [(_short(iri), "a", _short(each)) for each in fact.types]
                for predicate, values in fact.values.items():
                    datatype = tables.schema.predicate_of[predicate].datatype
                    found += [
                        (
                            _short(iri),
                            _short(predicate),
                            _short(value)
                            if predicate in links
                            else (f"'{value}'" if datatype == "text" else f"{value}^^{datatype}"),
                        )
                        for value in values
                    ]
    library.close()
    return found


def expected_triples(case: MappingCase) -> list[Triple]:
    """The triples that our graph has for a case."""
    lines = [line for line in case.triples if line not in case.left_out]
    return [(a, b, c) for a, b, c in (line.split(" ", 2) for line in lines)]


def same_graph(found: Iterable[Triple], expected: Iterable[Triple]) -> bool:
    """Whether two graphs are the same but for the names of blank nodes, which refer to no blank nodes here."""
    blank = {a for a, _, _ in expected if a.startswith("_:")}
    named = {a for a, _, _ in expected} - blank
    wanted, have = _shapes(expected, named), _shapes(found, named)
    return wanted == have


def _shapes(triples: Iterable[Triple], named: set[str]) -> Counter[tuple[str, frozenset[tuple[str, str]]]]:
    """Each node as its name, if it has one in both graphs, with its properties."""
    nodes: dict[str, set[tuple[str, str]]] = {}
    listed = list(triples)
    subjects = {a for a, _, _ in listed}
    for a, b, c in listed:
        nodes.setdefault(a, set()).add((b, "_:" if c in subjects - named else c))
    return Counter((a if a in named else "_:", frozenset(facts)) for a, facts in nodes.items())


def _short(iri: str) -> str:
    return iri.removeprefix(ROW_BASE)
