"""Graphs whose tables are on a PostgreSQL server: the same answers as from a file, and failures of both sides."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import pytest
import sqlalchemy as sa
from pydantic import SecretStr

from graph.builder import compose
from graph.stream import stream_turn
from ingestion.index.triples import export_triples
from ingestion.layer.layer_file import LayerFile
from ingestion.pipeline import change_layers, ingest
from nacre.access.class_table import class_facet
from nacre.access.things import local_thing
from nacre.config.settings import Settings
from nacre.errors import ConfigError, IngestionError, ToolError
from nacre.extensions.server_tables.server_tables import ServerConnections, ServerTables
from nacre.extensions.server_tables.translate import ServerPlace, read_place
from nacre.records.answer import Answer
from nacre.records.browse import TableRequest
from nacre.stores.addresses import DatabaseLimits
from nacre.stores.catalog import Library, Servers
from nacre.stores.sqlite.tables import Cell
from nacre.stores.sqlite.triples import TripleReader
from tests.support.databases import missing_server, postgres

if reason := missing_server("postgres"):
    pytest.skip(reason, allow_module_level=True)

PASSWORD = "pass word:1"
HOSTILE = "'; DROP SCHEMA public; -- \\\\ %s :p0"
EX = "https://mills.example/"
MILLS = "".join(
    f"<{EX}mill/{n}> a <{EX}Mill> ; <{EX}name> \"Mill {n}\" ; <{EX}height> {10 + n}.5 ; <{EX}built> {1800 + n} ;"
    f" <{EX}on> <{EX}river/{n % 3}> ; <{EX}grinds> \"rye\", \"oats {n % 2}\" .\n"
    for n in range(12)
) + "".join(f"<{EX}river/{n}> a <{EX}River> ; <{EX}name> \"River {n}\" .\n" for n in range(3))  # fmt: skip
MILLS += f'<{EX}river/0> <{EX}note> "{HOSTILE}", "tab\\there\\nline", "nul\\u0000here" .\n'
QUESTIONS = (
    "How many mills are there?",
    "Which mill has the highest height?",
    "What is the average height of the mills?",
    "How many mills are there for each river?",
    "Which mills are on River 1?",
    "Which mills were built after 1805?",
    "What does Mill 3 grind?",
    "Describe Mill 4",
)


class Served(NamedTuple):
    owner: sa.URL
    url: str
    process: "subprocess.Popen[bytes]"
    limits: DatabaseLimits


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with postgres() as (owner, process):
        url = owner.render_as_string()
        yield Served(owner, url, process, DatabaseLimits({f"127.0.0.1:{owner.port}": SecretStr(PASSWORD)}))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    file = tmp_path / "mills.ttl"
    file.write_text(MILLS, encoding="utf-8")
    return file


def schemas(served: Served) -> set[str]:
    engine = sa.create_engine(served.owner)
    with engine.connect() as connection:
        found = connection.exec_driver_sql("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'nacre_%%'").scalars()
        names = set(found)
    engine.dispose()
    return names


def put(served: Served, data: Path, source: Path, name: str = "mills", **more: object) -> str:
    server = Servers(databases=served.limits)
    made = ingest([str(source)], name, data=data, tables=served.url, server=server, no_vectors=True, **more)  # type: ignore[arg-type]
    return made.version


async def ask(data: Path, questions: tuple[str, ...]) -> list[Answer]:
    composed = compose(Settings(data=data, model=None, qdrant_url=None, embedder="none", _env_file=None))
    app = composed.build()
    found = []
    for question in questions:
        events = [event async for event in stream_turn(app, question, graph="mills", context={"mind": "rules"})]
        found.append(events[-1][1])
    composed.library.close()
    return found


async def test_answers_citations_and_triples_are_those_of_a_file(served: Served, tmp_path: Path, source: Path) -> None:
    here, there = tmp_path / "file", tmp_path / "server"
    ingest([str(source)], "mills", data=here, no_vectors=True)
    put(served, there, source)
    for one, other in zip(await ask(here, QUESTIONS), await ask(there, QUESTIONS), strict=True):
        assert one["answer"] == other["answer"]
        assert one["values"] == other["values"]
        cited = [[sorted(map(tuple, citation["triples"])) for citation in a["citations"]] for a in (one, other)]
        assert cited[0] == cited[1]
    written = []
    for data in (here, there):
        library = Library(data, None, database_limits=served.limits)
        with library.open("mills") as graph:
            out = BytesIO()
            export_triples(graph.tables, out)
            thing = local_thing(graph, f"{EX}mill/4")
            facet = class_facet(graph, TableRequest(f"{EX}Mill"), f"{EX}height")
            # parts of a range are counted in files alone
            written.append((out.getvalue(), thing, replace(facet, bins=()) if facet is not None else None))
        library.close()
    assert written[0] == written[1]
    # texts with marks, line breaks and NUL come back as they were
    assert rb"nul\u0000here" in written[1][0]


def test_the_rows_are_on_the_server_and_no_secret_is_recorded(served: Served, tmp_path: Path, source: Path) -> None:
    version = put(served, tmp_path / "data", source)
    folder = tmp_path / "data" / "mills" / "versions" / version
    content = b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())
    assert PASSWORD.encode() not in content
    assert (folder / "graph.sqlite").stat().st_size < 200_000
    library = Library(tmp_path / "data", None, database_limits=served.limits)
    with library.open("mills") as graph:
        assert isinstance(graph.tables, ServerTables)
        for sql in ("SELECT count(*) FROM pg_user", "SELECT pg_sleep(9)", "DELETE FROM mill"):
            with pytest.raises(ToolError):
                graph.tables.run(sql)
        with pytest.raises(ToolError) as refused:
            graph.tables.connections.rows("CREATE TABLE x (y INTEGER)", (), 5.0)
        assert refused.value.kind == "refused"
        assert graph.tables.run("SELECT count(*) FROM mill WHERE name = ?", (HOSTILE,)).rows == [(0,)]
        product = ", ".join(f"entity AS t{i}" for i in range(12))
        with pytest.raises(ToolError) as stopped:
            graph.tables.run(
                f"SELECT sum({' + '.join(f'length(t{i}.label)' for i in range(12))}) FROM {product}", seconds=0.5
            )
        assert stopped.value.kind == "timeout"
    library.close()


def test_a_version_stays_while_it_is_read(served: Served, tmp_path: Path, source: Path) -> None:
    data, before = tmp_path / "data", schemas(served)
    put(served, data, source)
    library = Library(data, None, database_limits=served.limits)
    with library.open("mills") as graph:
        assert graph.tables.run("SELECT count(*) FROM mill").rows == [(12,)]
        source.write_text(MILLS + f'<{EX}mill/99> a <{EX}Mill> ; <{EX}name> "Mill 99" .\n', encoding="utf-8")
        put(served, data, source)
        assert graph.tables.run("SELECT count(*) FROM mill").rows == [(12,)]
        assert len(schemas(served) - before) == 2
    with library.open("mills") as graph:
        assert graph.tables.run("SELECT count(*) FROM mill").rows == [(13,)]
    # opening the new version closes the old one, and its tables go
    assert len(schemas(served) - before) == 1
    library.close()
    # another machine that reads the tables keeps them, too
    other = ServerTables(*_opened(data, served))
    assert other.run("SELECT count(*) FROM mill").rows == [(13,)]
    put(served, data, source_without(source))
    assert other.run("SELECT count(*) FROM mill").rows == [(13,)]
    other.close()
    put(served, data, source)
    assert len(schemas(served) - before) == 1
    library.remove("mills")
    assert schemas(served) == before


def source_without(source: Path) -> Path:
    other = source.with_name("fewer.ttl")
    other.write_text(MILLS, encoding="utf-8")
    return other


def _opened(data: Path, served: Served) -> tuple[Path, ServerPlace, DatabaseLimits]:
    version = next(each for each in (data / "mills" / "versions").iterdir() if not each.name.startswith("."))
    place = read_place(version)
    assert place is not None
    return version / "graph.sqlite", place, served.limits


def test_layers_and_unchanged_input(served: Served, tmp_path: Path, source: Path) -> None:
    data = tmp_path / "data"
    version = put(served, data, source)
    assert put(served, data, source) == version
    layer = LayerFile("names", f"properties:\n  {EX}height:\n    name: tallness\n")
    changed = change_layers(
        "mills",
        lambda present: present.replaced((layer,)),
        data=data,
        server=Servers(databases=served.limits),
        on_stage=lambda stage, done, total: None,
    )
    assert "tallness" in {predicate.label for predicate in changed.schema.predicates}
    library = Library(data, None, database_limits=served.limits)
    with library.open("mills") as graph:
        assert isinstance(graph.tables, ServerTables)
        assert graph.tables.run("SELECT count(*) FROM mill").rows == [(12,)]
    library.close()
    # the same input without a server is a file again, and its schema goes
    before = schemas(served)
    ingest([str(source)], "mills", data=data, no_vectors=True, server=Servers(databases=served.limits))
    assert len(before - schemas(served)) == 1


def test_facts_of_many_things_need_few_queries(
    served: Served, tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    put(served, data, source)
    ran: list[str] = []
    rows = ServerConnections.rows

    def noted(self: ServerConnections, query: str, params: Sequence[Cell], seconds: float) -> list[tuple[Cell, ...]]:
        ran.append(query)
        return rows(self, query, params, seconds)

    monkeypatch.setattr(ServerConnections, "rows", noted)
    library = Library(data, None, database_limits=served.limits)
    with library.open("mills") as graph:
        things = [*(f"{EX}mill/{n}" for n in range(12)), *(f"{EX}river/{n}" for n in range(3)), f"{EX}none"]
        predicates = [predicate.iri for predicate in graph.schema.predicates]
        kinds = [kind.iri for kind in graph.schema.classes]

        def facts(reader: TripleReader) -> list[object]:
            return [
                [[reader.with_subject(thing, each) for each in predicates], reader.name_triple(thing)]
                + [reader.type_triple(thing, kind) for kind in kinds]
                for thing in things
            ]

        single = facts(TripleReader(graph.tables))
        many, ran[:] = len(ran), []
        prepared = TripleReader(graph.tables)
        prepared.prepare(things)
        assert len(ran) <= 8
        assert facts(prepared) == single
        assert len(ran) < many / 4
        # an alternative reading is not run if the server expects it to take long
        slow = f"SELECT count(*) FROM {', '.join(f'entity AS t{n}' for n in range(8))} WHERE t0.label < t1.label"
        ran.clear()
        with pytest.raises(ToolError) as refused:
            graph.tables.run(slow, steps=200_000)
        assert refused.value.kind == "timeout"
        assert [each.split()[0] for each in ran] == ["EXPLAIN"]
        assert graph.tables.run("SELECT count(*) FROM mill", steps=200_000).rows == [(12,)]
    library.close()


def test_a_killed_ingest_leaves_nothing_that_is_used(served: Served, tmp_path: Path) -> None:
    data, before = tmp_path / "data", schemas(served)
    many = tmp_path / "many.nt"
    many.write_text(
        "".join(f'<{EX}item/{n}> <{EX}name> "Item {n}" .\n<{EX}item/{n}> a <{EX}Item> .\n' for n in range(60_000)),
        encoding="utf-8",
    )
    code = (
        "import sys; from pathlib import Path; from ingestion.pipeline import ingest\n"
        "ingest([sys.argv[1]], 'mills', data=Path(sys.argv[2]), tables=sys.argv[3], tables_only=True)"
    )
    command = [sys.executable, "-c", code, str(many), str(data), served.url]
    process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": os.getcwd()})
    while process.poll() is None and not schemas(served) - before:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait(30)
    assert Library(data, None).names() == []
    small = tmp_path / "small.ttl"
    small.write_text(MILLS, encoding="utf-8")
    deadline = time.monotonic() + 60
    # the server ends the session of the killed process a moment later
    put(served, data, small)
    while len(schemas(served) - before) > 1 and time.monotonic() < deadline:
        time.sleep(0.2)
        put(served, data, small)
    assert len(schemas(served) - before) == 1


def test_two_ingests_of_one_graph_at_once(served: Served, tmp_path: Path, source: Path) -> None:
    data = tmp_path / "data"
    outcomes: list[str] = []

    def run() -> None:
        try:
            outcomes.append(put(served, data, source))
        except ConfigError as error:
            outcomes.append(str(error))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert any("being written" in each for each in outcomes) or len(set(outcomes)) == 1
    library = Library(data, None, database_limits=served.limits)
    with library.open("mills") as graph:
        assert graph.tables.run("SELECT count(*) FROM mill").rows == [(12,)]
    library.close()


def test_a_login_without_the_right_is_told_what_it_needs(served: Served, tmp_path: Path, source: Path) -> None:
    engine = sa.create_engine(served.owner)
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE ROLE weak LOGIN")
    engine.dispose()
    url = served.url.replace("owner@", "weak@")
    server = Servers(databases=served.limits)
    with pytest.raises(IngestionError, match="GRANT CREATE ON DATABASE"):
        ingest([str(source)], "mills", data=tmp_path / "data", tables=url, server=server, no_vectors=True)
    assert Library(tmp_path / "data", None).names() == []


async def test_a_server_that_is_down_is_named(served: Served, tmp_path: Path, source: Path) -> None:
    """The last test: it ends the server."""
    data = tmp_path / "data"
    put(served, data, source)
    library = Library(data, None, database_limits=served.limits)
    with library.open("mills") as graph:
        assert graph.tables.run("SELECT count(*) FROM mill").rows == [(12,)]
        served.process.kill()
        served.process.wait(30)
        with pytest.raises(ToolError) as down:
            graph.tables.run("SELECT count(*) FROM mill")
    library.close()
    assert down.value.kind == "unavailable"
    assert "127.0.0.1" in str(down.value)
    assert PASSWORD not in str(down.value)
    [answer] = await ask(data, ("How many mills are there?",))
    assert answer["values"] == []
    errors = [query["error"] for query in answer["queries"] if query["error"]]
    assert errors
    assert all(error["kind"] == "unavailable" and "does not answer" in error["message"] for error in errors)
    # an ingest fails, and the version that was there stays
    with pytest.raises(IngestionError, match=r"can't be written to postgresql://127\.0\.0\.1"):
        put(served, data, source_without(source), texts=())
    assert Library(data, None).names() == ["mills"]
