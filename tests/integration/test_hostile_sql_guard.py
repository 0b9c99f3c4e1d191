"""No query through `Tables.run` writes, reads what is private, leaves the file or outlives its deadline."""

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingestion.induce.write_tables import write_tables
from ingestion.read.parse import parse_files
from nacre.errors import ConfigError, ToolError
from nacre.stores.sqlite.tables import Tables

E = "http://example.org/"
FOREVER = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT "


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tables]:
    folder = tmp_path_factory.mktemp("guard")
    lines = [f'<{E}{n}> <{E}size> "{n}"^^<http://www.w3.org/2001/XMLSchema#integer> .' for n in range(50)]
    lines += [f"<{E}{n}> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <{E}Box> ." for n in range(50)]
    (folder / "g.nt").write_text("\n".join(lines))
    write_tables(parse_files([folder / "g.nt"]), folder / "graph.sqlite")
    opened = Tables(folder / "graph.sqlite")
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("DELETE FROM box", "refused"),
        ("WITH b AS (SELECT 1) DELETE FROM box", "refused"),
        ("INSERT INTO box VALUES (1, 2)", "refused"),
        ("UPDATE box SET size = 0", "refused"),
        ("REPLACE INTO box VALUES (1, 2)", "refused"),
        ("CREATE TABLE t (a)", "refused"),
        ("CREATE TEMP TABLE t AS SELECT 1", "refused"),
        ("DROP TABLE box", "refused"),
        ("ALTER TABLE box RENAME TO b", "refused"),
        ("ATTACH '{folder}/evil.sqlite' AS evil", "refused"),
        ("VACUUM", "refused"),
        ("VACUUM INTO '{folder}/copy.sqlite'", "refused"),
        ("PRAGMA query_only = OFF", "refused"),
        ("PRAGMA table_info(box)", "refused"),
        ("SELECT * FROM pragma_table_info('box')", "refused"),
        ("REINDEX", "refused"),
        ("ANALYZE", "refused"),
        ("BEGIN", "refused"),
        ("SELECT 1; DELETE FROM box", "refused"),
        ("SELECT load_extension('x')", "refused"),
        ("SELECT randomblob(1000000000)", "refused"),
        ("SELECT zeroblob(1000000000)", "refused"),
        ("SELECT printf('%.*c', 900000000, 'x')", "refused"),
        ("SELECT format('%.*c', 900000000, 'x')", "refused"),
        ("SELECT * FROM sqlite_master", "refused"),
        ("SELECT * FROM sqlite_schema", "refused"),
        ("SELECT * FROM _nacre_meta", "refused"),
        ('SELECT * FROM main."_NACRE_meta"', "refused"),
        ("WITH box AS (SELECT * FROM _nacre_meta) SELECT * FROM box", "refused"),
        ("SELECT (SELECT count(*) FROM _nacre_exact)", "refused"),
        ("EXPLAIN SELECT 1", "refused"),
        ("/* x */ EXPLAIN QUERY PLAN SELECT 1", "refused"),
        ("", "refused"),
        ("-- only a comment", "refused"),
        ("SELEC 1", "syntax"),
        ("SELECT 'open", "syntax"),
        ("SELECT weight FROM box", "unknown_name"),
        ("SELECT * FROM boxes", "unknown_name"),
        ("SELECT no_such(size) FROM box", "unknown_name"),
        ("SELECT id FROM box JOIN entity", "ambiguous"),
        ("SELECT abs(-9223372036854775808)", "type"),
        ("SELECT size FROM box WHERE size = ?", "type"),
        ("SELECT substr(size) FROM box", "type"),
        ("SELECT \x00 FROM box", "syntax"),
        (FOREVER + "count(*) FROM n", "timeout"),
        ("SELECT count(*) FROM box a, box b, box c, box d, box e, box f", "timeout"),
        ("SELECT " + "1," * 5000 + "1", "too_large"),
        ("SELECT " + "(" * 2000 + "1" + ")" * 2000, "too_large"),
        ("SELECT '" + "x" * 300_000 + "'", "too_large"),
    ],
)
def test_hostile_queries(tables: Tables, tmp_path: Path, sql: str, kind: str) -> None:
    start = time.monotonic()
    with pytest.raises(ToolError) as error:
        tables.run(sql.replace("{folder}", str(tmp_path)), seconds=0.3)
    assert error.value.kind == kind
    assert time.monotonic() - start < 3
    assert list(tmp_path.iterdir()) == []
    assert tables.run("SELECT count(*), sum(size) FROM box").rows == [(50, 1225)]


def test_growing_values_are_stopped(tables: Tables) -> None:
    with pytest.raises(ToolError) as error:
        tables.run(
            "WITH RECURSIVE n(x) AS (SELECT 'ab' UNION ALL SELECT x || x FROM n LIMIT 60) SELECT max(length(x)) FROM n",
            seconds=2,
        )
    assert error.value.kind in {"too_large", "timeout"}


def test_usual_functions_work(tables: Tables) -> None:
    sql = (
        "SELECT count(*), min(size), max(size), avg(size), round(sum(size), 1), group_concat(size, ', '), total(size), "
        "coalesce(NULL, abs(-1)), cast('7' AS INTEGER), instr('abc', 'b'), substr('abc', 2), lower('A'), upper('a'), "
        "length('abc'), replace('a', 'a', 'b'), trim(' a '), iif(1, 2, 3), nullif(1, 1), 'abc' LIKE 'A%', "
        "typeof(1), strftime('%Y', '2024-05-01') FROM box WHERE size < 2"
    )
    (row,) = tables.run(sql).rows
    assert row[:6] == (2, 0, 1, 0.5, 1.0, "0, 1")
    assert row[-1] == "2024"


def test_row_limit_says_so(tables: Tables) -> None:
    few = tables.run("SELECT size FROM box ORDER BY size", limit=10)
    assert (len(few.rows), few.truncated, few.columns) == (10, True, ("size",))
    assert not tables.run("SELECT size FROM box", limit=50).truncated
    assert tables.run("SELECT size FROM box WHERE size = ?", (7,)).rows == [(7,)]


def test_many_threads(tables: Tables) -> None:
    found: list[tuple[object, ...]] = []

    def ask() -> None:
        found.extend(tables.run("SELECT sum(size) FROM box").rows[0] for _ in range(20))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [(1225,)] * 160


def test_our_own_connection_reads_only(tables: Tables) -> None:
    with pytest.raises(sqlite3.OperationalError):
        tables.trusted().execute("DELETE FROM box")


def test_no_file_and_no_graph(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nacre ingest"):
        Tables(tmp_path / "none.sqlite")
    (tmp_path / "text.sqlite").write_text("this is not a database, but long enough to be read as one" * 50)
    broken = Tables(tmp_path / "text.sqlite")
    with pytest.raises(ConfigError, match="not a readable graph"):
        broken.run("SELECT 1")
    broken.close()


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(alphabet=st.sampled_from(list("SELECTdropwith(*)from box;'\"-/,=1 \n")), max_size=60))
def test_any_text_is_answered_or_refused(tables: Tables, sql: str) -> None:
    # Any other error than ToolError fails the test.
    with suppress(ToolError):
        tables.run(sql, seconds=0.5)
    assert tables.run("SELECT sum(size) FROM box").rows == [(1225,)]


def test_steps_bound_a_query_in_the_same_way_each_time(tables: Tables) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) SELECT max(i) FROM n"
    assert [tables.run(endless.format(1_000), steps=50_000).rows for _ in range(3)] == [[(1_000,)]] * 3
    for _ in range(3):
        with pytest.raises(ToolError, match="stopped after 50,000 steps"):
            tables.run(endless.format(10_000_000), steps=50_000)
