"""`nacre attach` on the command line, over real servers of Oxigraph and Virtuoso, and over a bad one."""

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from nacre.config.settings import Settings
from nacre.extensions.endpoints.endpoint import EndpointSource
from nacre.extensions.text2sparql.routes import text2sparql
from nacre.plans.sparql_vocabulary import cell_value
from nacre.stores.addresses import configured_limits
from nacre.stores.catalog import Library
from tests.e2e.conftest import GRAPHS, Nacre, command, free_port, started
from tests.support import sparql_server as servers
from tools.sandbox import Sandbox

# iterators of pyoxigraph complain if they are collected in another thread than theirs, whichever test ran them
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

OXIGRAPH = shutil.which("oxigraph", path=str(Path(sys.executable).parent)) or shutil.which("oxigraph")
VIRTUOSO, ISQL = shutil.which("virtuoso-t"), shutil.which("isql-vt")
FILE = GRAPHS / "archipelago.ttl"
NAMED = "http://example.org/archipelago-graph/"
ASKING = "/sparql?query=ASK%20%7B%3Fs%20%3Fp%20%3Fo%7D"
# of the questions below, those that may be answered otherwise than over the ingested graph
MOST_OTHER = 0.08
# questions whose queries are tried by themselves
ALONE = 8
INI = """
[Database]
DatabaseFile = v.db
ErrorLogFile = v.log
LockFile = v.lck
TransactionFile = v.trx
xa_persistent_file = v.pxa
[TempDatabase]
DatabaseFile = t.db
TransactionFile = t.trx
[Parameters]
ServerPort = 127.0.0.1:{port}
DirsAllowed = .
NumberOfBuffers = 4000
[HTTPServer]
ServerPort = 127.0.0.1:{web}
ServerThreads = 4
[SPARQL]
ResultSetMaxRows = 100
"""
FILL = f"""
DB.DBA.TTLP_MT(file_to_string_output('kg.ttl'), '', '{NAMED}');
DB.DBA.RDF_OBJ_FT_RULE_ADD(null, null, 'All');
DB.DBA.VT_INC_INDEX_DB_DBA_RDF_OBJ();
"""


@pytest.fixture(scope="module")
def oxigraph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if OXIGRAPH is None:
        pytest.skip("no oxigraph server is installed")
    folder = tmp_path_factory.mktemp("oxigraph")
    load = [OXIGRAPH, "load", "--location", str(folder / "store"), "--file", str(FILE)]
    subprocess.run(load, check=True, capture_output=True)
    address = f"127.0.0.1:{free_port()}"
    serve = [OXIGRAPH, "serve-read-only", "--location", str(folder / "store"), "--bind", address]
    with started(serve, folder, folder, f"http://{address}{ASKING.replace('sparql', 'query')}"):
        yield f"http://{address}/query"


@pytest.fixture(scope="module")
def virtuoso(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Virtuoso that gives a hundred rows at most at once, filled and indexed."""
    if VIRTUOSO is None or ISQL is None:
        pytest.skip("no virtuoso server is installed")
    folder = tmp_path_factory.mktemp("virtuoso")
    port, web = free_port(), free_port()
    (folder / "virtuoso.ini").write_text(INI.format(port=port, web=web))
    shutil.copy(FILE, folder / "kg.ttl")
    with started(
        [VIRTUOSO, "+configfile", "virtuoso.ini", "+foreground"], folder, folder, f"http://127.0.0.1:{web}{ASKING}"
    ):
        filled = subprocess.run(
            [ISQL, f"127.0.0.1:{port}", "dba", "dba"], input=FILL, text=True, capture_output=True, cwd=folder
        )
        assert "Error" not in filled.stdout + filled.stderr, filled.stderr
        yield f"http://127.0.0.1:{web}/sparql"


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[list[object]]]:
    """A file of questions, and the values over the ingested graph."""
    folder = tmp_path_factory.mktemp("here")
    cases = yaml.safe_load((GRAPHS.parent / "questions/archipelago.yaml").read_text())
    asked = [case["ask"] for case in cases[::3]]
    questions = folder / "questions.jsonl"
    questions.write_text("".join(json.dumps({"id": i, "question": q}) + "\n" for i, q in enumerate(asked)))
    run = command(folder / "data", folder)
    assert run("ingest", FILE, "--graph", "here", "--no-vectors").returncode == 0
    return questions, [record["values"] for record in _records(run, questions, "here")]  # type: ignore[misc]


def _records(run: Nacre, questions: Path, graph: str) -> list[dict[str, object]]:
    out = questions.with_name(f"{graph}.jsonl")
    done = run("eval", questions, "--graph", graph, "--out", out, NACRE_ENDPOINT_RATE="1000")
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in out.read_text().splitlines()]


@pytest.fixture(scope="module")
def far_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("far") / "data"


@pytest.fixture(scope="module")
def far(far_data: Path) -> Nacre:
    """The command line on a data folder of its own."""
    return command(far_data, far_data.parent)


@pytest.mark.parametrize("server", ["oxigraph", "virtuoso"])
def test_attached_answers_are_those_of_the_ingested_graph(
    server: str, here: tuple[Path, list[list[object]]], far: Nacre, far_data: Path, request: pytest.FixtureRequest
) -> None:
    url = request.getfixturevalue(server)
    named = ("--named-graph", NAMED) if server == "virtuoso" else ()
    attached = far("attach", url, "--graph", server, *named, NACRE_ENDPOINT_RATE="1000")
    assert attached.returncode == 0, attached.stderr
    assert ("text search of virtuoso" in attached.stdout) == (server == "virtuoso")
    questions, values = here
    records = _records(far, questions, server)
    other = [
        record["question"]
        for record, own in zip(records, values, strict=True)
        if sorted(map(str, record["values"])) != sorted(map(str, own))  # type: ignore[call-overload]
    ]
    assert len(other) <= MOST_OTHER * len(records), other
    assert {kind for record in records for kind in record["enabled"]} == {"sparql"}  # type: ignore[attr-defined]
    errors = [query["error"] for record in records for query in record["queries"] if query["error"]]  # type: ignore[attr-defined]
    assert not errors
    sure = [record for record in records if record["status"] == "answered" and record["values"]]
    asyncio.run(_queries_alone_give_the_answers(url, server, far_data, sure[:ALONE]))


async def _queries_alone_give_the_answers(url: str, graph: str, data: Path, records: list[dict[str, object]]) -> None:
    """The query of each question, sent to the server by somebody who knows nothing but it, gives as many answers."""
    settings = Settings(data=data, endpoint_rate=1000, _env_file=None)
    library, sandbox, anybody = (
        Library(data, None, endpoint_limits=configured_limits(settings)),
        Sandbox(),
        EndpointSource(url),
    )
    with library.open(graph) as opened:
        for record in records:
            query = await text2sparql(str(record["question"]), opened, settings, sandbox)
            values = list(record["values"])  # type: ignore[call-overload]
            if query.startswith("ASK"):
                assert [anybody.ask(query, seconds=5)] == values, query
                continue
            rows = anybody.select(query, limit=1000, seconds=5).rows
            found = [cell_value(row[0]) for row in dict.fromkeys(rows)]
            assert len(found) == len(values), query
            if isinstance(values[0], int | float):
                # numbers that nothing orders come in any order
                ordered = "ORDER BY" in query
                assert (found if ordered else sorted(found)) == pytest.approx(values if ordered else sorted(values)), (  # type: ignore[type-var]
                    query
                )
    anybody.close()
    library.close()


def test_what_is_attached_is_listed_and_looked_at_again(oxigraph: str, far: Nacre) -> None:
    again = far("attach", "--refresh", "--graph", "oxigraph")
    assert again.returncode == 0, again.stderr
    assert oxigraph in again.stdout
    assert "oxigraph" in far("graphs").stdout
    report = far("report", "--graph", "oxigraph")
    assert report.returncode == 2
    assert "has no tables here" in report.stderr


def test_a_bad_endpoint_is_refused_in_one_line(fresh: Nacre) -> None:
    with servers.serving(servers.friendly_page) as url:
        refused = fresh("attach", url, "--graph", "bad")
    assert refused.returncode == 2
    assert "sent text/html, no results" in refused.stderr
    assert "Nothing was attached" in refused.stderr
    assert len(refused.stderr.strip().splitlines()) == 1
