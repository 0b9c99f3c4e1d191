"""Queries over relations as they run in a database: SQL -> SQL of a dialect."""

import pytest
import sqlglot

from nacre.errors import ToolError
from nacre.extensions.databases.attached import AttachedColumn, AttachedDatabase, AttachedLink, AttachedTable
from nacre.extensions.databases.row_keys import encoded_key, parse_key
from nacre.extensions.databases.templates import NativeQuery
from nacre.extensions.databases.translate import Relations, translate

DIALECTS = ("sqlite", "duckdb", "postgres", "mysql")
KEEPER = AttachedTable(
    "keeper",
    "",
    "Bee Keeper",
    "urn:nacre:db:Bee%20Keeper",
    ("Keeper Id",),
    ("integer",),
    ("Full Name",),
    (AttachedColumn("full_name", "Full Name", "text"),),
)
HIVE = AttachedTable(
    "hive",
    "farm",
    "hive",
    "urn:nacre:db:farm/hive",
    ("code",),
    ("text",),
    ("name",),
    (AttachedColumn("name", "name", "text"), AttachedColumn("checked", "checked_at", "datetime")),
    (AttachedLink("keeper", ("keeper_id",), "keeper", ("Keeper Id",)),),
)
PLOT = AttachedTable("plot", "", "plot", "urn:nacre:db:plot", ("row", "side"), ("integer", "text"))


def native(
    sql: str, *params: str | int | float | None, dialect: str = "postgres", limit: int | None = None
) -> NativeQuery:
    database = AttachedDatabase("", dialect, (KEEPER, HIVE, PLOT))  # type: ignore[arg-type]
    return translate(sql, params, database, Relations(database), limit=limit)


def squeezed(query: NativeQuery) -> str:
    return " ".join(query.text.split())


def test_a_join_of_keys_is_a_join_of_columns() -> None:
    query = squeezed(native("SELECT h.name FROM hive h JOIN keeper k ON h.keeper = k.id"))
    assert 'FROM "farm"."hive" AS "h" JOIN "Bee Keeper" AS "k" ON "h"."keeper_id" = "k"."Keeper Id"' in query


def test_an_iri_becomes_the_value_of_the_key() -> None:
    look_up = "SELECT name FROM hive WHERE keeper = (SELECT id FROM entity WHERE iri = ?)"
    assert '"hive"."keeper_id" = 5' in squeezed(native(look_up, "urn:nacre:db:Bee%20Keeper/Keeper%20Id=5"))
    query = native("SELECT name FROM hive WHERE id = ?", "urn:nacre:db:farm/hive/code=a%3Bb%27")
    assert query.params == ("a;b'",)
    # a row of another table, and text that is no number
    for other in ("urn:nacre:db:plot/row=1;side=a", "urn:nacre:db:Bee%20Keeper/Keeper%20Id=x"):
        assert "FALSE" in native("SELECT name FROM hive WHERE keeper = ?", other).text


def test_a_label_is_looked_up_in_the_only_table_that_it_can_be_in() -> None:
    query = squeezed(native("SELECT (SELECT label FROM entity WHERE id = g) AS l FROM (SELECT keeper AS g FROM hive)"))
    assert "UNION" not in query
    assert '"entity"."Keeper Id" = CAST(SUBSTRING(' in query


def test_things_of_any_kind_are_those_of_all_tables() -> None:
    assert native("SELECT iri FROM entity").text.count("UNION ALL") == 2


@pytest.mark.parametrize("dialect", DIALECTS)
def test_each_query_can_be_parsed_in_its_dialect(dialect: str) -> None:
    for sql in (
        "SELECT id, name FROM hive WHERE name = 'x' COLLATE NOCASE AND 0 ORDER BY name",
        "SELECT count(DISTINCT id), sum(length(name)) FILTER (WHERE checked > '2024') FROM hive",
        "SELECT substr(name, -3), instr(lower(name), lower('a')) FROM hive LIMIT 3",
        "SELECT e.iri, e.label FROM (SELECT id AS k FROM plot) AS t CROSS JOIN entity AS e ON e.id = t.k",
        "SELECT CAST(substr(checked, 1, 4) AS INTEGER) FROM hive UNION SELECT 1 FROM keeper",
    ):
        assert sqlglot.parse_one(native(sql, dialect=dialect).text.replace(":p", "@p"), dialect=dialect)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_texts_with_marks_are_parameters(dialect: str) -> None:
    for text in ("O'Hara", 'a"b', "a\\", "`", "a\nb", "\0", "é", "--'", "/*", "a'; DROP TABLE x"):
        query = native("SELECT name FROM hive WHERE name = ?", text, dialect=dialect)
        assert text in query.params
        assert ":p0" in query.text


def test_names_are_quoted() -> None:
    hostile = AttachedTable("t", 's"; x', 'n"ame', "urn:nacre:db:t", ('k"1',), ("integer",))
    database = AttachedDatabase("", "postgres", (hostile,))
    query = translate("SELECT id FROM t", (), database, Relations(database))
    assert '"s""; x"."n""ame"' in query.text
    assert '"k""1"' in query.text


@pytest.mark.parametrize(
    "sql",
    ["SELECT", "SELECT FROM hive", "DROP TABLE hive",
     "SELECT now()", "SELECT * FROM a.hive", "SELECT :x", "SELECT $1", "VALUES (1)",
     "SELECT * FROM hive, generate_series(1, 9)", "SELECT name FROM hive FOR UPDATE", "SELECT other FROM hive"],
)  # fmt: skip
def test_other_statements_are_refused(sql: str) -> None:
    with pytest.raises(ToolError):
        native(sql)


TYPES = """INTEGER BIGINT REAL DOUBLE NUMERIC NUMERIC(10,2) TEXT CHAR(4) VARCHAR(1000000000) BOOLEAN DATE DATETIME
    TIME TIMESTAMP""".split()
OTHER_TYPES = """regclass oid regproc regtype regrole regnamespace xml json jsonb bytea blob inet money name uuid
    tsvector interval pg_catalog.regclass "regclass" numeric(1001) numeric(max)""".split()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_casts_have_a_list_of_types(dialect: str) -> None:
    for name in TYPES:
        assert "1000000000" not in native(f"SELECT CAST(name AS {name}) FROM hive", dialect=dialect).text


@pytest.mark.parametrize("name", [*OTHER_TYPES, "struct(a INTEGER)"])
@pytest.mark.parametrize("sql", ["SELECT CAST(name AS {}) FROM hive", "SELECT name FROM hive WHERE name = name::{}",
                                 "SELECT TRY_CAST(CAST(1260 AS {}) AS TEXT) FROM hive"])  # fmt: skip
def test_casts_to_other_types_are_refused(name: str, sql: str) -> None:
    for dialect in DIALECTS:
        with pytest.raises(ToolError) as refused:
            native(sql.format(name), dialect=dialect)
        assert refused.value.kind in ("refused", "syntax")


def test_a_type_that_is_refused_is_named() -> None:
    with pytest.raises(ToolError, match="The type regclass is not allowed"):
        native("SELECT CAST(CAST(1260 AS oid) AS regclass) FROM hive")


def test_deep_and_long_queries_are_refused() -> None:
    for sql in (f"SELECT {'(' * 3000}1{')' * 3000}", f"SELECT {'1+' * 150_000}1"):
        with pytest.raises(ToolError):
            native(sql)


def test_keys_are_encoded_and_read_again() -> None:
    iri = encoded_key(PLOT, "urn:nacre:db:plot/row=3;side=a b;c=d/e")
    assert iri == "urn:nacre:db:plot/row=3;side=a%20b%3Bc%3Dd%2Fe"
    assert parse_key(PLOT, iri) == (3, "a b;c=d/e")
    assert parse_key(PLOT, "urn:nacre:db:plot/row=3") is None


def test_a_column_beside_a_group_has_one_value() -> None:
    sql = "SELECT name, keeper, count(*) FROM hive GROUP BY keeper HAVING name > 'b' ORDER BY name, count(*)"
    for dialect in DIALECTS:
        query = squeezed(native(sql, dialect=dialect))
        # in what is shown and in the condition
        assert query.count("MIN(") == 2, query
    assert "MIN(" not in native("SELECT upper(name), count(*) FROM hive GROUP BY upper(name)").text


def test_a_float_of_32_bits_is_read_by_its_text() -> None:
    table = AttachedTable(
        "t", "", "t", "urn:nacre:db:t", ("k",), ("integer",), (), (AttachedColumn("x", "x", "single"),)
    )
    for dialect, expected in (("duckdb", "CAST(CAST("), ("postgres", "CAST(CAST("), ("sqlite", '"t"."x"')):
        database = AttachedDatabase("", dialect, (table,))  # type: ignore[arg-type]
        assert expected in translate("SELECT x FROM t", (), database, Relations(database)).text.replace("TRY_", "")


def chained(value: str, start: str = "SELECT name AS n FROM hive") -> str:
    """Eight parts of a query, each with this expression of the one before."""
    parts = [f"c0 AS ({start})", *(f"c{i} AS (SELECT {value} AS n FROM c{i - 1})" for i in range(1, 9))]
    return f"WITH {', '.join(parts)} SELECT c8.n FROM c8, hive h, hive i"


NESTED = "SELECT n || n AS n FROM (" * 8 + "SELECT name AS n FROM hive" + ") AS x" * 8
GROWING = {
    "texts that double": chained("n || n"),
    "texts in a function": chained("concat(n, n, n)"),
    "texts in several steps": chained("upper(coalesce(n, '')) || ' ' || n"),
    "a constant": chained("n || n || n", "SELECT 'Northwind' AS n FROM hive"),
    "numbers": chained("n + n * n - n", "SELECT 1 AS n FROM hive"),
    "subqueries": NESTED,
    "sides of a union": chained("n || n", "SELECT name AS n FROM hive UNION ALL SELECT full_name AS n FROM keeper"),
    "what calls itself": "WITH RECURSIVE c AS (SELECT name AS n FROM hive UNION ALL SELECT n || n FROM c) "
    "SELECT n FROM c",
    "one long expression": "SELECT " + " || ".join(["name"] * 101) + " AS n FROM hive",
}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("what", GROWING)
def test_a_query_whose_texts_grow_is_refused(what: str, dialect: str) -> None:
    with pytest.raises(ToolError) as refused:
        native(GROWING[what], dialect=dialect)
    assert refused.value.kind == "too_large"


def test_texts_are_joined_as_people_do() -> None:
    parts = "WITH a AS (SELECT name || ', ' || checked AS n FROM hive), b AS (SELECT n || ' (' || n || ')' AS n FROM a)"
    assert native(f"{parts} SELECT n FROM b").text.count("||") == 5
    assert "CAST" in native("SELECT CAST(name AS CHAR(10000000)) AS n FROM hive").text
    assert "10000000" not in native("SELECT CAST(name AS CHAR(10000000)) AS n FROM hive").text


CUT = {
    "SELECT name FROM hive": 1,
    "SELECT count(*) AS a, length(name) AS b FROM hive": 0,
    "SELECT iif(name IS NULL, 1, 2) AS a, iif(name = 'x', name, 'y') AS b FROM hive": 1,
    "SELECT max(name) AS a FROM hive UNION ALL SELECT full_name FROM keeper": 2,
    "WITH a AS (SELECT name AS n, 1 AS one FROM hive) SELECT n, one, coalesce(n, 'x') AS m FROM a": 2,
    "SELECT (SELECT full_name FROM keeper LIMIT 1) AS a FROM hive": 1,
    # in PostgreSQL, distinct rows are ordered by what is shown
    "SELECT DISTINCT h.name FROM hive h ORDER BY h.name": 2,
}


@pytest.mark.parametrize("sql", CUT)
def test_texts_of_a_result_are_cut_in_the_database(sql: str) -> None:
    text = native(sql, limit=9).text
    assert text.count("SUBSTRING(") == CUT[sql], text
    # what people read is the query without that, and SQLite has a limit of its own
    assert "SUBSTR" not in native(sql).text
    assert "SUBSTR" not in native(sql, dialect="sqlite", limit=9).text


def test_a_row_of_many_texts_is_bounded() -> None:
    text = native("SELECT " + ", ".join(f"name AS n{i}" for i in range(1_000)) + " FROM hive", limit=9).text
    assert text.count("FOR 10000)") == 1_000
