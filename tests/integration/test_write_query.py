"""The query of a question without running it: in SQL and in SPARQL, of which each gives the answer when it is run."""

import json
from pathlib import Path

import pyoxigraph as ox
import pytest
from starlette.testclient import TestClient

from ingestion.pipeline import ingest
from nacre.access.queries import write_query
from nacre.config.settings import Settings
from nacre.errors import ConfigError
from nacre.serving.app import create_app
from nacre.serving.cli.main import main
from nacre.stores.catalog import Library

PAINTERS = Path(__file__).parents[1] / "fixtures/graphs/painters.ttl"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("painters") / "data"
    ingest([str(PAINTERS)], "painters", data=folder, no_vectors=True)
    return folder


@pytest.mark.parametrize(
    ("question", "answer", "shown"),
    [
        ("Which painters were born in Visby?", {"http://example.org/arts/otto"}, "Otto Brand"),
        ("How many painters are there?", {"3"}, "3"),
    ],
)
async def test_both_queries_give_the_answer(question: str, answer: set[str], shown: str, data: Path) -> None:
    store = ox.Store()
    store.load(path=str(PAINTERS))
    with Library(data, None).open("painters") as graph:
        written = await write_query(question, graph)
        (statement,) = written.sql
        rows = graph.tables.run(statement.text, statement.params, limit=10).rows
    assert {*answer, shown} <= {str(cell) for row in rows for cell in row}
    found = store.query(written.sparql)
    assert {value.value for row in found for value in row} == answer  # type: ignore[union-attr]
    assert written.words


async def test_a_question_that_is_no_query_says_what_to_do(data: Path) -> None:
    with Library(data, None).open("painters") as graph, pytest.raises(ConfigError, match="in other words"):
        await write_query("xyzzy plugh", graph)


async def test_nothing_is_run(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from nacre.plans import run

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a query was run")

    monkeypatch.setattr(run, "run_body", refuse)
    monkeypatch.setattr(run.QueryRunner, "table", refuse)
    with Library(data, None).open("painters") as graph:
        assert (await write_query("Which painters were born in Visby?", graph)).sparql


def test_it_is_had_over_http(data: Path) -> None:
    settings = Settings(data=data, embedder="none", _env_file=None)
    with TestClient(create_app(settings), base_url="http://127.0.0.1:8200", client=("127.0.0.1", 5000)) as client:
        address = "/api/graphs/painters/query"
        written = client.get(address, params={"question": "Which painters were born in Visby?"}).json()
        assert (written["words"], len(written["sql"])) == ("painters who were born in Visby", 1)
        assert written["sparql"].startswith("SELECT")
        for question, told in (("x" * 5000, "4000"), ("xyzzy plugh", "no query")):
            refused = client.get(address, params={"question": question})
            assert refused.status_code == 422
            assert told in refused.json()["detail"]
        assert client.get("/api/graphs/other/query", params={"question": "Who?"}).status_code == 404


def test_it_is_had_on_the_command_line(
    data: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setenv("NACRE_DATA", str(data))
    assert main(["ask", "Which painters were born in Visby?", "--query-only"]) == 0
    shown = capfdbinary.readouterr()[0].decode()
    assert shown.startswith("Read as: painters who were born in Visby\n\nSELECT")
    assert "SELECT DISTINCT ?" in shown
    assert main(["ask", "How many painters are there?", "--query-only", "--json"]) == 0
    assert json.loads(capfdbinary.readouterr()[0])["sparql"]
    assert main(["ask", "Which?", "--query-only", "--thread", "t"]) == 2
    assert b"--thread" in capfdbinary.readouterr()[1]
