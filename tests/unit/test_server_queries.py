"""Queries over the tables of a graph as a server gets them: SQL -> SQL of PostgreSQL."""

from typing import Any

import pytest
import sqlglot

from nacre.errors import ConfigError, ToolError
from nacre.extensions.databases.attached import Kind
from nacre.extensions.server_tables.publish_tables import view_sql
from nacre.extensions.server_tables.translate import (
    NUL,
    ServerPlace,
    ServerQueries,
    ServerQuery,
    new_place,
    server_address,
    stored_name,
)
from nacre.stores.sqlite.tables import Cell

LONG = "the_distance_between_the_two_towers_of_the_bridge_in_the_middle_of_it"
PLACE = ServerPlace(
    "postgresql+psycopg://me@db.example/graphs",
    'nacre_"odd',
    {
        "entity": {"id": "integer", "iri": "text", "label": "text"},
        "bridge": {"id": "integer", "name": "text", "span": "real", "built": "text", LONG: "real"},
        "ferry": {"id": "integer", "name": "text", "span": "integer"},
        "lies_on": {"rowid": "integer", "bridge_id": "integer", "river_id": "integer"},
        "_nacre_exact": {"rowid": "integer", "predicate": "integer", "row": "integer", "lexical": "text"},
    },
)


def native(sql: str, *params: Cell, trusted: bool = False) -> ServerQuery:
    found = ServerQueries(PLACE).native(sql, params, trusted=trusted)
    sqlglot.parse_one(found.text.replace("%s", "'x'").replace("%%", "%"), dialect="postgres")
    return ServerQuery(" ".join(found.text.split()), found.params)


def test_each_table_is_read_from_the_schema_and_names_are_quoted() -> None:
    found = native("SELECT b.name FROM bridge b JOIN entity e ON e.id = b.id")
    assert found.text.count('"nacre_""odd".') == 2
    assert 'FROM "nacre_""odd"."bridge" AS "b"' in found.text


def test_lists_of_any_length_and_limits_are_one_query(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    write = ServerQueries._write

    def counted(self: ServerQueries, sql: str, *rest: Any) -> Any:
        written.append(sql)
        return write(self, sql, *rest)

    monkeypatch.setattr(ServerQueries, "_write", counted)
    queries, sql = ServerQueries(PLACE), "SELECT name FROM bridge WHERE span > ? AND name IN ({}) AND built = ?"
    for names, limit in ((["a", "b"], 11), (["c", "'; --", "a", "b"], 51)):
        found = queries.native(sql.format(", ".join("?" * len(names))), [7.5, *names, "1890-01-01"], limit)
        assert found.params == (*names, "1890-01-01")
        assert found.text.count("CAST(%s AS TEXT)") == len(names) + 1
        assert found.text.endswith(f"LIMIT {limit}")
    assert len(written) == 1
    # a number in a text compares otherwise with numbers, and a question mark may be part of a name
    assert "(4, 5)" in " ".join(queries.native("SELECT name FROM bridge WHERE span IN (?, ?)", ["4", "5"]).text.split())
    odd = 'SELECT name AS "open?" FROM bridge WHERE name IN (?, ?)'
    assert queries.native(odd, ["a", "b"]).params == ("a", "b")
    assert queries.columns(odd, ["a", "b"]) == ("open?",)


def test_long_names_are_shortened_alike_everywhere() -> None:
    assert f'"{stored_name(LONG)}"' in native(f"SELECT {LONG} FROM bridge").text
    assert stored_name(LONG) != stored_name(LONG + "_x")
    assert ServerQueries(PLACE).columns(f"SELECT {LONG} FROM bridge", ()) == (LONG,)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM pg_user",
        "SELECT count(*) FROM _nacre_exact",
        "SELECT * FROM pg_catalog.pg_user",
        "WITH pg_user AS (SELECT count(*) AS n FROM pg_user) SELECT n FROM pg_user",
        "SELECT pg_read_file('x')",
        "SELECT CAST(CAST(id AS oid) AS regclass) FROM bridge",
        "SELECT rowid FROM lies_on",
        "DELETE FROM bridge",
        "SELECT 1; SELECT 2",
    ],
)
def test_only_tables_of_the_graph_are_read(sql: str) -> None:
    with pytest.raises(ToolError):
        native(sql)


def test_own_sql_reads_private_tables_and_row_numbers() -> None:
    assert '"rowid"' in native("SELECT r.rowid FROM lies_on r", trusted=True).text
    assert "_nacre_exact" in native("SELECT lexical FROM _nacre_exact", trusted=True).text
    assert "rowid" not in native("SELECT * FROM lies_on").text


def test_texts_are_parameters_and_a_query_is_written_once_for_all_values() -> None:
    queries = ServerQueries(PLACE)
    hostile = "x'; DROP SCHEMA public; -- %s"
    sql = "SELECT name FROM bridge WHERE name = ? AND span > ?"
    first, second = queries.native(sql, (hostile, 3)), queries.native(sql, ("b\0c", 7))
    assert first.params == (hostile,)
    assert second.params == (f"b{NUL}c",)
    assert "DROP" not in first.text
    assert first.text.replace("> 3", "> 7") == second.text


def test_letters_are_compared_like_sqlite_does() -> None:
    found = native("SELECT name FROM bridge WHERE name = ? COLLATE NOCASE", "OLD Ä")
    assert "LOWER(" in found.text
    # lower() of SQLite changes ASCII letters only
    assert found.params == ("old Ä",)
    assert " ILIKE " in native("SELECT name FROM bridge WHERE name LIKE ?", "%a%").text


def test_numbers_and_texts_are_compared() -> None:
    assert "\"built\" = '1900'" in native("SELECT name FROM bridge WHERE built = 1900").text
    assert '"span" > 12.5' in native("SELECT name FROM bridge WHERE span > ?", "12.5").text
    assert "CAST" in native("SELECT name FROM bridge WHERE CAST(substr(built, 1, 4) AS INTEGER) > 1900").text


def test_null_in_a_part_of_a_union_has_the_type_of_the_others() -> None:
    parts = "SELECT v.s FROM (SELECT NULL AS s FROM bridge) v UNION ALL SELECT w.s FROM (SELECT span AS s FROM ferry) w"
    assert "CAST(NULL AS BIGINT)" in native(parts).text


def test_columns_beside_aggregates_are_of_one_row() -> None:
    text = native("SELECT e.label, max(b.span) FROM bridge b JOIN entity e ON e.id = b.id GROUP BY b.built").text
    assert "ARRAY_AGG" in text
    text = native("SELECT b.name, count(*) FROM bridge b GROUP BY b.built").text
    assert 'MIN("b"."name")' in text
    # groups come in their order
    assert "ORDER BY" in text


def test_division_by_zero_gives_null() -> None:
    assert "NULLIF(" in native("SELECT span / id FROM bridge").text


def test_nested_queries_whose_types_take_long_to_find_are_refused() -> None:
    sql = "SELECT CAST(id AS DATE) AS a FROM bridge"
    for _ in range(60):
        sql = f"SELECT coalesce(a, a, a) AS a FROM ({sql}) AS v"
    with pytest.raises(ToolError) as refused:
        native(sql)
    assert refused.value.kind == "too_large"


def test_views_have_types() -> None:
    body = "SELECT id, span FROM ferry UNION ALL SELECT id, NULL AS span FROM lies_on"
    columns: dict[str, dict[str, Kind]] = {"ferry": {"id": "integer", "span": "integer"}, "lies_on": {"id": "integer"}}
    text, kinds = view_sql(body, columns, "s")
    assert kinds == {"id": "integer", "span": "integer"}
    assert "CAST(NULL AS BIGINT)" in text
    assert '"s"."ferry"' in text


def test_the_address_is_that_of_a_postgresql_server_without_a_password() -> None:
    assert server_address("postgresql://me@db.example/graphs") == "postgresql+psycopg://me@db.example/graphs"
    with pytest.raises(ConfigError, match="password"):
        server_address("postgresql+psycopg://me:secret@db.example/graphs")
    with pytest.raises(ConfigError, match="PostgreSQL"):
        server_address("mysql+pymysql://me@db.example/graphs")
    assert new_place("u", "my-graph").schema.startswith("nacre_my_graph_")
    assert new_place("u", "a").schema != new_place("u", "a").schema


@pytest.mark.parametrize("condition", ["> 30", "BETWEEN 1 AND 30", "IN (1, 30)", "= 30"])
def test_a_column_that_is_always_null_is_compared_with_numbers(condition: str) -> None:
    found = native(f"SELECT t.id FROM (SELECT id, NULL AS span FROM bridge) AS t WHERE t.span {condition}")
    assert 'CAST(NULL AS BIGINT) AS "span"' in found.text


def test_a_query_is_bounded_on_the_server() -> None:
    parts = [
        "c0 AS (SELECT name AS n FROM bridge)",
        *(f"c{i} AS (SELECT n || n AS n FROM c{i - 1})" for i in range(1, 9)),
    ]
    with pytest.raises(ToolError) as refused:
        native(f"WITH {', '.join(parts)} SELECT n FROM c8")
    assert refused.value.kind == "too_large"
    cut = ServerQueries(PLACE).native("SELECT name, span FROM bridge", (), 9).text
    assert cut.count("SUBSTRING(") == 1
