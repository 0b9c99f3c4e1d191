"""Graphs attached to relational databases of two engines: what is reflected, asked, cited, browsed and refused."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from pydantic import SecretStr
from starlette.testclient import TestClient

from graph.builder import compose
from nacre.access.queries import query_sql
from nacre.access.things import local_thing
from nacre.config.settings import Settings
from nacre.errors import ConfigError, IngestionError, ToolError
from nacre.extensions.databases import translate
from nacre.extensions.databases.attach_database import AttachedResult, attach_database, known_database
from nacre.extensions.databases.attached_tables import AttachedTables, catalogue_hash, read_catalogue
from nacre.extensions.databases.connection import DatabaseConnections, KeptConnections, driver_error
from nacre.extensions.databases.reflect import Selection
from nacre.records.answer import Answer
from nacre.records.evidence import BranchResult, Rows, Table
from nacre.serving.app import create_app
from nacre.stores.addresses import DatabaseLimits, configured_database_limits, parse_address, with_password
from nacre.stores.catalog import Library
from nacre.stores.sqlite.triples import TripleReader
from nacre.stores.versions import Manifest
from tests.support.databases import HOSTILE, QUESTIONS, answer_by_rules, fill, record_queries
from tools.provenance import look_up_entities
from tools.sandbox import Sandbox
from tools.sql import translate_labels

ENGINES = ("sqlite", "duckdb")


@pytest.fixture(scope="module", params=ENGINES)
def bees(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[AttachedResult, Path]:
    """The graph `bees` attached to a database of one engine, and its data folder."""
    folder = tmp_path_factory.mktemp("bees")
    url = f"{request.param}:///{folder}/bees.db"
    fill(url)
    return attach_database(url, "bees", data=folder / "data"), folder / "data"


@pytest.fixture
def tables(bees: tuple[AttachedResult, Path]) -> Iterator[AttachedTables]:
    library = Library(bees[1], None)
    with library.open("bees") as graph:
        assert isinstance(graph.tables, AttachedTables)
        yield graph.tables
    library.close()


async def ask(data: Path, question: str) -> Answer:
    composed = compose(Settings(data=data, model=None, qdrant_url=None, embedder="none"))
    answer: Answer = await answer_by_rules(composed.build(), question, "bees")
    composed.library.close()
    return answer


def test_the_schema_is_that_of_the_database(bees: tuple[AttachedResult, Path]) -> None:
    schema, database = bees[0].schema, bees[0].database
    by_name = {table.table: table for table in database.tables}
    assert {c.iri: c.count for c in schema.classes}["urn:nacre:db:Bee%20Keeper"] == 2
    assert {c.label for c in schema.classes} >= {"hive", "harvest", "plant", "visit"}
    assert by_name["hive"].key == ("hive_id",)
    assert not by_name["hive"].guessed
    assert by_name["hive_plant"].key == ("hive_id", "plant_code")
    assert [(link.columns, link.guessed) for link in by_name["hive"].links] == [(("keeper_id",), False)]
    # a column that is named like a key, with values that are all in it
    assert [(link.target, link.guessed) for link in by_name["visit"].links] == [(by_name["hive"].relation, True)]
    assert by_name["harvest"].guessed
    predicates = {p.iri: p for p in schema.predicates}
    assert predicates["urn:nacre:db:hive#weight"].datatype == "real"
    assert predicates["urn:nacre:db:Bee%20Keeper#active"].datatype == "boolean"
    assert predicates["urn:nacre:db:hive#ref-keeper_id"].has_links
    assert set(predicates["urn:nacre:db:hive#colour"].values) == {"white", "blue", "green"}
    # binary data is left out
    assert "urn:nacre:db:hive#scan" not in predicates


def test_no_row_is_stored(bees: tuple[AttachedResult, Path]) -> None:
    folder = bees[1] / "bees" / "versions" / bees[0].version
    assert not (folder / "graph.sqlite").exists()
    assert sorted(file.name for file in folder.iterdir() if file.suffix == ".sqlite") == ["lexicon.sqlite"]


@pytest.mark.parametrize(("question", "values"), QUESTIONS)
async def test_questions_are_answered(bees: tuple[AttachedResult, Path], question: str, values: list[object]) -> None:
    answer = await ask(bees[1], question)
    assert sorted(map(str, answer["values"])) == sorted(map(str, values)), answer["answer"]


async def test_a_citation_has_the_query_and_the_key_of_the_row(bees: tuple[AttachedResult, Path]) -> None:
    answer = await ask(bees[1], "What is the weight of Northwind?")
    cited = answer["citations"][0]
    assert cited["keys"] == ["urn:nacre:db:hive/hive_id=10"]
    assert ["urn:nacre:db:hive/hive_id=10", "urn:nacre:db:hive#weight", "31.5"] in [list(t) for t in cited["triples"]]
    assert cited["query"] is not None
    query = answer["queries"][cited["query"]]
    assert '"hive_id" IN (10)' in query["text"]
    assert "entity" not in query["text"]


def test_names_in_a_language_are_asked_of_no_database(bees: tuple[AttachedResult, Path]) -> None:
    found = BranchResult("sql", (Rows("sql", 1, Table(("hive",), (("Northwind",),))),))
    with Library(bees[1], None).open("bees") as graph:
        assert translate_labels(found, graph.tables, "de") is found


async def test_few_queries_are_behind_an_answer_of_many_rows(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with closing(sqlite3.connect(tmp_path / "bees.db")) as db:
        db.execute("CREATE TABLE yard (no INTEGER PRIMARY KEY, name TEXT, district TEXT, sunny TEXT, size INT)")
        kinds = ("north", "south"), ("yes", "no")
        rows = [(i, f"Yard {i}", kinds[0][i % 2], kinds[1][i % 3 == 0], i) for i in range(40)]
        db.executemany("INSERT INTO yard VALUES (?, ?, ?, ?, ?)", rows)
        db.commit()
    attach_database(f"sqlite:///{tmp_path}/bees.db", "bees", data=tmp_path / "data")
    translated: list[str] = []
    template = translate._template

    def counted_template(sql: str, *given: Any) -> Any:
        translated.append(sql)
        return template(sql, *given)

    with pytest.MonkeyPatch.context() as patch:
        ran = record_queries(patch, KeptConnections)
        patch.setattr(translate, "_template", counted_template)
        answer = await ask(tmp_path / "data", "Which yards have the district north?")
        assert len(answer["values"]) == 20
        assert len({triple[0] for each in answer["citations"] for triple in each["triples"]}) == 20
        # readings, the rows of the answer, and the facts behind them at once
        assert len(ran) <= 15
        # what is shown and what runs is one query
        assert len(translated) <= len(ran)
        await ask(tmp_path / "data", "What is the fence of Yard 7?")
    assert "failed" not in caplog.text


async def test_a_description_reads_only_tables_that_the_thing_is_in(tmp_path: Path) -> None:
    script = """
    CREATE TABLE owner (no INTEGER PRIMARY KEY, name TEXT); INSERT INTO owner VALUES (1, 'Kim'), (2, 'Lou');
    CREATE TABLE yard (no INTEGER PRIMARY KEY, name TEXT, owner INT REFERENCES owner);
    INSERT INTO yard VALUES (1, 'Top Yard', 1), (2, 'Low Yard', 2);
    CREATE TABLE plot (no INTEGER PRIMARY KEY, name TEXT, owner INT REFERENCES owner, size INT);
    INSERT INTO plot VALUES (1, 'Long Plot', 1, 7), (2, 'Wet Plot', 2, 8);
    """
    with closing(sqlite3.connect(tmp_path / "yards.db")) as db:
        db.executescript(script)
    attach_database(f"sqlite:///{tmp_path}/yards.db", "bees", data=tmp_path / "data")
    with pytest.MonkeyPatch.context() as patch:
        ran = record_queries(patch, KeptConnections)
        answer = await ask(tmp_path / "data", "Describe Top Yard")
    assert "Kim" in answer["answer"]
    assert ran
    assert not any("plot" in sql for sql in ran)
    # the pairs say of which table the owners are
    with Library(tmp_path / "data", None).open("bees") as graph:
        assert isinstance(graph.tables, AttachedTables)
        pairs = "(y.id, e.id) IN (SELECT id, owner FROM plot)"
        assert "UNION" not in graph.tables.native(f"SELECT e.label FROM yard y JOIN entity e ON {pairs}").text


async def test_a_thing_is_described(bees: tuple[AttachedResult, Path]) -> None:
    answer = await ask(bees[1], "Describe Northwind")
    assert "31.5" in answer["answer"]
    assert "Ada Quill" in answer["answer"]


def test_a_row_is_browsed_by_its_key(bees: tuple[AttachedResult, Path]) -> None:
    library = Library(bees[1], None)
    with library.open("bees") as graph:
        # what an IRI can't contain is encoded
        clover = local_thing(graph, "urn:nacre:db:plant/plant_code=c%3D2%3Bx")
        assert clover is not None
        assert clover.label == "Clover"
        assert len(clover.linking[0].ends) == 2
        assert local_thing(graph, "urn:nacre:db:plant/plant_code=none") is None
        reader = TripleReader(graph.tables)
        keeper = "urn:nacre:db:hive#ref-keeper_id"
        (stated,) = reader.with_subject("urn:nacre:db:hive/hive_id=12", keeper)
        assert stated[2] == "urn:nacre:db:Bee%20Keeper/Keeper%20Id=2"
        assert len(reader.with_object("urn:nacre:db:Bee%20Keeper/Keeper%20Id=1", keeper)) == 2
    library.close()


def test_hostile_values_are_values(tables: AttachedTables) -> None:
    found = tables.run('SELECT note FROM "harvest" WHERE note = ?', (HOSTILE,)).rows
    assert found == [(HOSTILE,)]
    assert tables.run("SELECT count(*) FROM hive").rows == [(3,)]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT pg_read_file('/etc/passwd')",
        "SELECT LOAD_FILE('/etc/passwd')",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_csv_auto('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM dblink('host=x', 'SELECT 1')",
        "SELECT load_extension('x')",
        "SELECT getenv('HOME')",
        "SELECT pg_sleep(100)",
        "SELECT sleep(100)",
        "SELECT benchmark(1000000, lower('x'))",
        "SELECT sql FROM sqlite_master",
        "SELECT * FROM information_schema.tables",
        "SELECT * FROM other.hive",
        "SELECT @@version",
        "SELECT * FROM hive INTO OUTFILE '/tmp/x'",
        "INSERT INTO hive VALUES (1)",
        "DELETE FROM hive",
        "DROP TABLE hive",
        "ATTACH 'x' AS y",
        "PRAGMA query_only=OFF",
        "INSTALL httpfs",
        "COPY hive TO '/tmp/x'",
        "SELECT 1; DROP TABLE hive",
        "SELECT scan FROM hive",
        'SELECT "order by" FROM hive',
    ],
)
def test_what_is_no_plain_select_of_the_graph_is_refused(tables: AttachedTables, sql: str) -> None:
    with pytest.raises(ToolError) as refused:
        tables.run(sql)
    assert refused.value.kind in ("refused", "syntax", "unknown_name")
    assert tables.run("SELECT count(*) FROM hive").rows == [(3,)]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM secret",
        "SELECT * FROM hive WHERE EXISTS (SELECT 1 FROM secret)",
        "WITH secret AS (SELECT count(*) AS n FROM secret) SELECT n FROM secret",
        "WITH a AS (SELECT count(*) AS n FROM b), b AS (SELECT 1 AS x) SELECT n FROM a",
        "SELECT * FROM (WITH secret AS (SELECT 1 AS pin) SELECT pin FROM secret) AS s, secret AS t",
    ],
)
def test_tables_that_were_not_selected_are_not_read(tmp_path: Path, sql: str) -> None:
    url = f"sqlite:///{tmp_path}/bees.db"
    fill(url)
    with closing(sqlite3.connect(tmp_path / "bees.db")) as connection:
        connection.execute("CREATE TABLE secret (pin TEXT)")
        connection.execute("CREATE TABLE b (pin TEXT)")
        connection.commit()
    attach_database(url, "bees", data=tmp_path / "data", selection=Selection(include=("hive",)))
    library = Library(tmp_path / "data", None)
    with library.open("bees") as graph:
        with pytest.raises(ToolError) as refused:
            graph.tables.run(sql)
        assert refused.value.kind == "unknown_name"
        # a part of the query may have the name of a table
        own = "WITH secret AS (SELECT 1 AS pin) SELECT pin FROM secret"
        assert graph.tables.run(own).rows == [(1,)]
    library.close()


def test_the_connection_can_not_write(tables: AttachedTables) -> None:
    with pytest.raises(ToolError):
        tables.connections.read("DELETE FROM hive", {}, 1, 5.0)
    with pytest.raises(ToolError):
        tables.connections.read("CREATE TABLE x (y INTEGER)", {}, 1, 5.0)
    assert tables.run("SELECT count(*) FROM hive").rows == [(3,)]


def test_a_slow_query_is_stopped(tables: AttachedTables) -> None:
    product = ", ".join(f"hive AS t{i}" for i in range(19))
    total = " + ".join(f"t{i}.weight" for i in range(19))
    with pytest.raises(ToolError) as stopped:
        tables.run(f"SELECT sum({total}) FROM {product} WHERE {total} > 1", seconds=0.5)
    assert stopped.value.kind == "timeout"
    assert tables.run("SELECT count(*) FROM hive").rows == [(3,)]


def test_the_catalogue_is_compared_with_that_of_the_version(tables: AttachedTables) -> None:
    assert tables.database.catalogue
    assert not tables.schema_changes(5.0)
    present = read_catalogue(tables.connections, tables.database, 5.0)
    of_earlier_releases = catalogue_hash(each[:3] for each in present)
    other_types = catalogue_hash((*each[:3], f"{each[3]}s") for each in present)
    changes = ((of_earlier_releases, ""), (other_types, "other tables, columns or types"))
    for catalogue, expected in changes:
        with closing(
            AttachedTables(replace(tables.database, catalogue=catalogue), tables.schema, "", DatabaseLimits())
        ) as own:
            assert expected in (own.schema_changes(5.0) or "")


def test_the_time_of_a_statement_follows_the_time_of_a_branch(bees: tuple[AttachedResult, Path]) -> None:
    settings = Settings(data=bees[1], embedder="none", branch_seconds=0.5, _env_file=None)
    limits = configured_database_limits(settings)
    assert limits.statement_seconds == 0.4
    assert configured_database_limits(settings.model_copy(update={"branch_seconds": 50.0})).statement_seconds == 40.0
    library = Library(bees[1], None, database_limits=limits)
    product = ", ".join(f"hive AS t{i}" for i in range(19))
    total = " + ".join(f"t{i}.weight" for i in range(19))
    with library.open("bees") as graph, pytest.raises(ToolError, match=r"stopped after 0\.4 seconds"):
        graph.tables.run(f"SELECT sum({total}) FROM {product} WHERE {total} > 1")
    library.close()


async def test_sql_of_clients_runs_in_the_database(bees: tuple[AttachedResult, Path]) -> None:
    library, sandbox = Library(bees[1], None), Sandbox()
    with library.open("bees") as graph:
        settings = Settings(data=bees[1], embedder="none", _env_file=None)
        text = "SELECT id, name FROM hive WHERE colour = 'blue' ORDER BY name"
        found = await query_sql(graph, text, settings, sandbox, 10)
        assert found.rows == (("Northwind", "Northwind"), ("Rooftop", "Rooftop"))
        with pytest.raises(ToolError, match=r"not allowed|SELECT"):
            await query_sql(graph, "SELECT pg_read_file('/etc/passwd')", settings, sandbox, 10)
    sandbox.close()
    library.close()


def test_a_table_that_changed_is_named_and_a_refresh_reads_it_again(tmp_path: Path) -> None:
    file = tmp_path / "tram.db"
    with closing(sqlite3.connect(file)) as db:
        db.executescript("CREATE TABLE stop (no INTEGER PRIMARY KEY, name TEXT, zone TEXT);"
                         "INSERT INTO stop VALUES (1, 'Harbour', 'A'), (2, 'Mill', 'B');")  # fmt: skip
    attach_database(f"sqlite:///{file}", "tram", data=tmp_path / "data")
    library = Library(tmp_path / "data", None)
    with closing(sqlite3.connect(file)) as db:
        db.execute("ALTER TABLE stop RENAME COLUMN zone TO area")
        db.commit()
    with library.open("tram") as graph, pytest.raises(ToolError, match=r"zone.*nacre attach --refresh"):
        graph.tables.run("SELECT zone FROM stop")
    known = known_database("tram", tmp_path / "data")
    assert known is not None
    again = attach_database(known.url, "tram", data=tmp_path / "data")
    assert "urn:nacre:db:stop#area" in again.schema.predicate_of
    library.close()


def test_a_kept_file_is_read_again_and_a_missing_password_file_is_named(tmp_path: Path) -> None:
    fill(f"sqlite:///{tmp_path}/bees.db")
    attach_database(f"sqlite:///{tmp_path}/bees.db", "bees", data=tmp_path / "data", keep=True)
    known = known_database("bees", tmp_path / "data")
    assert known is not None
    again = attach_database(known.url, "bees", data=tmp_path / "data", keep=True)
    assert again.database.tables == known.tables
    limits = DatabaseLimits({"127.0.0.1": SecretStr(f"file:{tmp_path}/none")})
    server = replace(again.database, url="postgresql+psycopg://me@127.0.0.1:9/bees", dialect="postgres", kept="")
    named = pytest.raises(ToolError, match=r"password file for 127\.0\.0\.1 can't be read")
    with closing(AttachedTables(server, again.schema, "", limits)) as tables, named:
        tables.run("SELECT count(*) FROM hive")


def test_views_circular_keys_and_empty_tables(tmp_path: Path) -> None:
    file = tmp_path / "club.db"
    with closing(sqlite3.connect(file)) as db:
        db.executescript(
            "CREATE TABLE club (id INTEGER PRIMARY KEY, name TEXT, captain INTEGER REFERENCES member(id));"
            "CREATE TABLE member (id INTEGER PRIMARY KEY, name TEXT, club INTEGER REFERENCES club(id), "
            "mentor INTEGER REFERENCES member(id), tags JSON);"
            "CREATE TABLE vacant (id INTEGER PRIMARY KEY, name TEXT);"
            "CREATE TABLE twice (a TEXT, b INTEGER);"
            "INSERT INTO club VALUES (1, 'Kites', 7); INSERT INTO member VALUES (7, 'Ida', 1, NULL, '[1]'),"
            "(8, 'Jon', 1, 7, '{}'), (9, 'Kim', NULL, NULL, NULL);"
            "INSERT INTO twice VALUES ('x', 1), ('x', 1), (NULL, 2);"
            "CREATE VIEW inner_view AS SELECT name, club FROM member;"
            "CREATE VIEW outer_view AS SELECT name FROM inner_view WHERE club = 1;"
        )
    found = attach_database(f"sqlite:///{file}", "club", data=tmp_path / "data")
    counts = {c.iri.removeprefix("urn:nacre:db:"): c.count for c in found.schema.classes}
    # equal rows count as two
    library = Library(tmp_path / "data", None)
    with library.open("club") as graph:
        # rows of views are known by all of their values, also by missing ones
        query = "SELECT e.label, i.club FROM inner_view i JOIN entity e ON e.id = i.id"
        assert sorted(map(str, graph.tables.run(query).rows)) == [
            "('Ida', 'urn:nacre:db:club/id=1')",
            "('Jon', 'urn:nacre:db:club/id=1')",
            "('Kim', None)",
        ]
        ids = [str(row[0]) for row in graph.tables.run("SELECT id FROM inner_view").rows]
        names = look_up_entities(ids, graph.tables)
        assert {label for _, label in names.values()} == {"Ida", "Jon", "Kim"}
    library.close()
    assert counts == {"club": 1, "member": 3, "twice": 3, "inner_view": 3, "outer_view": 2}
    chosen = attach_database(
        f"sqlite:///{file}", "club", data=tmp_path / "data", selection=Selection(include=("*e*",), exclude=("*view",))
    )
    assert {t.table for t in chosen.database.tables} == {"member", "twice"}


def test_a_large_schema_is_cut_and_says_so(tmp_path: Path) -> None:
    file = tmp_path / "large.db"
    with closing(sqlite3.connect(file)) as db:
        for number in range(320):
            db.execute(f"CREATE TABLE t{number:04} (id INTEGER PRIMARY KEY, name TEXT)")
        db.execute("INSERT INTO t0000 VALUES (1, 'first')")
        db.commit()
    found = attach_database(f"sqlite:///{file}", "large", data=tmp_path / "data")
    assert found.problems[0].startswith("20 tables are left out")
    assert [c.label for c in found.schema.classes] != []


def test_a_database_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_text("no database at all, but long enough to be read as one" * 50)
    with pytest.raises(IngestionError, match="Nothing was attached"):
        attach_database(f"sqlite:///{tmp_path}/x.db", "x", data=tmp_path / "data")
    with pytest.raises(ConfigError, match="no file"):
        attach_database(f"sqlite:///{tmp_path}/none.db", "x", data=tmp_path / "data")
    assert not (tmp_path / "data" / "x").exists()


def test_a_server_that_is_down_is_an_error_without_the_password(tmp_path: Path) -> None:
    limits = DatabaseLimits({"127.0.0.1:9": SecretStr("s3cret")}, connect_seconds=2)
    with pytest.raises(IngestionError) as down:
        attach_database("postgresql+psycopg://me@127.0.0.1:9/shop", "shop", data=tmp_path / "data", limits=limits)
    assert "does not answer" in str(down.value)
    assert "s3cret" not in str(down.value)


@pytest.mark.parametrize(
    ("message", "kind", "words"),
    [
        ('connection failed: FATAL: password authentication failed for user "boss"', "unavailable", "the login"),
        ('connection to server at "10.1.2.3", port 5432 failed: FATAL: role "boss" does not exist', "unavailable", ""),
        ('FATAL: no pg_hba.conf entry for host "10.1.2.3", user "boss", database "shop"', "unavailable", "the login"),
        ("connection failed: could not translate host name 10.1.2.3 to address", "unavailable", "its host"),
        ("Access denied for user 'boss'@'10.1.2.3' (using password: NO)", "unavailable", "the login"),
        ("Access denied for user 'boss'@'10.1.2.3' to database 'shop'", "refused", "database 'shop'"),
        ("SELECT command denied to user 'boss'@'10.1.2.3' for table 'pay'", "refused", "for table 'pay'"),
        ("permission denied for table pay", "refused", "for table pay"),
        ('IO Error: Cannot open file "/srv/boss/shop.duckdb": No such file', "unavailable", "its file"),
        ("server closed the connection unexpectedly", "unavailable", "lost"),
        ("operator does not exist: text = numeric", "type", "operator does not exist: text = numeric"),
        ("Binder Error: Cannot compare values of type VARCHAR and type DECIMAL(2,1)", "type", "Cannot compare values"),
        ("Binder Error: No function matches the given types 'lower(BIGINT)'.", "type", "lower(BIGINT)"),
        ('Binder Error: Referenced column "pay" not found in FROM clause!', "unknown_name", "The database has changed"),
    ],
)
def test_errors_name_neither_login_nor_host_nor_folder(message: str, kind: str, words: str) -> None:
    error = driver_error(message, 5.0, False)
    assert (error.kind, words in str(error)) == (kind, True)
    assert "boss" not in str(error)
    assert "10.1.2.3" not in str(error)
    assert "/srv" not in str(error)


def test_readiness_says_of_an_attached_database_whether_it_answers(tmp_path: Path) -> None:
    file = tmp_path / "bees.db"
    fill(f"sqlite:///{file}")
    attached = attach_database(f"sqlite:///{file}", "bees", data=tmp_path / "data")
    settings = Settings(data=tmp_path / "data", embedder="none", _env_file=None)
    with TestClient(create_app(settings), base_url="http://127.0.0.1:8200", client=("127.0.0.1", 5000)) as client:
        assert client.get("/readyz").json() == {
            "status": "ok",
            "problems": [],
            "graphs": {"bees": {"version": attached.version, "unavailable": {}, "problem": ""}},
        }
    file.unlink()
    with TestClient(create_app(settings), base_url="http://127.0.0.1:8200", client=("127.0.0.1", 5000)) as client:
        found = client.get("/readyz").json()
    assert found["status"] == "degraded"
    why = found["graphs"]["bees"]["unavailable"]
    assert why == {"sql": "The database does not answer: its file can't be opened. Run: nacre doctor"}


def test_what_a_graph_is_attached_to_is_said_without_the_login() -> None:
    earlier = Manifest("v", database="postgresql+psycopg://boss@db.example/shop")
    assert earlier.attached == "postgresql://db.example/shop"


@pytest.mark.parametrize(
    "url", ["postgresql+psycopg://me:s3cret@db.example/shop", "mysql+pymysql://db.example/shop?password=s3cret"]
)
def test_a_password_in_an_address_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(ConfigError, match="NACRE_DATABASE_KEYS") as refused:
        parse_address(url)
    assert "s3cret" not in str(refused.value)


def test_passwords_come_from_settings_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("a b:c\n")
    address = "postgresql+psycopg://me@db.example:5433/shop"
    assert with_password(address, {"db.example": SecretStr("x")}).password == "x"
    assert with_password(address, {"db.example:5433": SecretStr(f"file:{tmp_path}/key")}).password == "a b:c"
    assert with_password(address, {"other.example": SecretStr("x")}).password is None
    with pytest.raises(ConfigError, match="can't be read"):
        with_password(address, {"db.example": SecretStr("file:/none")})


def test_larger_tables_are_sampled_and_counted_whole(tmp_path: Path) -> None:
    file = tmp_path / "parcels.db"
    with closing(sqlite3.connect(file)) as db:
        db.execute("CREATE TABLE parcel (id INTEGER PRIMARY KEY, name TEXT, state TEXT, grams INTEGER)")
        rows = ((i, f"parcel {i}", "lost" if i == 7_900 else "sent", i) for i in range(8_000))
        db.executemany("INSERT INTO parcel VALUES (?, ?, ?, ?)", rows)
        db.commit()
    found = attach_database(f"sqlite:///{file}", "parcels", data=tmp_path / "data")
    predicates = found.schema.predicate_of
    assert found.schema.classes[0].count == 8_000
    assert predicates["urn:nacre:db:parcel#grams"].maximum == 7_999
    library = Library(tmp_path / "data", None)
    with library.open("parcels") as graph:
        # a rare value and a name beyond the sample are known
        assert "lost" in predicates["urn:nacre:db:parcel#state"].values
        assert graph.lexicon.thing("urn:nacre:db:parcel/id=7654") is not None
    library.close()


async def test_a_row_may_be_linked_to_by_rows_that_were_not_read(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "clubs.db")) as db:
        db.executescript("""
        CREATE TABLE town (no INTEGER PRIMARY KEY, name TEXT); INSERT INTO town VALUES (1, 'Arle'), (2, 'Brome');
        CREATE TABLE club (no INTEGER PRIMARY KEY, name TEXT, town INT REFERENCES town);
        INSERT INTO club VALUES (1, 'Oar Club', 1), (2, 'Sail Club', 2);
        CREATE TABLE member (no INTEGER PRIMARY KEY, club INT REFERENCES club, town INT REFERENCES town);
        """)
        db.executemany("INSERT INTO member VALUES (?, ?, ?)", [(i, 1 + (i >= 5_990), 1 + i % 2) for i in range(6_000)])
        db.commit()
    attach_database(f"sqlite:///{tmp_path}/clubs.db", "bees", data=tmp_path / "data")
    assert (await ask(tmp_path / "data", "How many members does the Sail Club have?"))["values"] == [10]


def test_the_record_has_no_secret(bees: tuple[AttachedResult, Path]) -> None:
    folder = bees[1] / "bees" / "versions" / bees[0].version
    stored = json.loads((folder / "database.json").read_text())
    assert sa.make_url(stored["url"]).password is None
    manifest = json.loads((folder / "manifest.json").read_text())
    # what answers show has no folders
    assert str(bees[1].parent) not in json.dumps(manifest["unavailable"])


def test_connections_are_limited(bees: tuple[AttachedResult, Path]) -> None:
    connections = DatabaseConnections(bees[0].database.url, DatabaseLimits(connections=1))
    with connections.connected(5.0), pytest.raises(ToolError, match="in use"):
        connections.read("SELECT 1", {}, 1, 0.1)
    connections.close()
