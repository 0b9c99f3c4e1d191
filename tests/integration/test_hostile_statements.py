"""No statement of fixtures/hostile.yaml gets through, whatever layer stops it; the graph's file stays as it was."""

import hashlib
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from ingestion.induce.write_tables import write_tables
from ingestion.read.parse import parse_files
from nacre.errors import ToolError
from nacre.extensions.foreign_queries.run_model_sql import run_model_sql
from nacre.stores.sqlite.tables import Tables
from tests.support.read_yaml import read_yaml

FIXTURES = Path(__file__).parents[1] / "fixtures"
CORPUS = read_yaml(FIXTURES / "hostile.yaml")
STATEMENTS = [pytest.param(text, id=f"{kind}: {text[:60]}") for kind, texts in CORPUS.items() for text in texts]
SECONDS = 0.3
LONG = {"nested": ("(", "1", ")"), "list": ("1, ", "1", ""), "string": ("x", "", "")}


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tables]:
    file = tmp_path_factory.mktemp("hostile") / "graph.sqlite"
    write_tables(parse_files([FIXTURES / "graphs/museum.ttl"]), file)
    opened = Tables(file)
    before = hashlib.sha256(file.read_bytes()).hexdigest()
    yield opened
    opened.close()
    assert hashlib.sha256(file.read_bytes()).hexdigest() == before
    assert list(file.parent.iterdir()) == [file]


def filled(text: str, tables: Tables, folder: Path) -> str:
    """The statement with a table's name, a folder and what is too long to write out."""
    dish = next(group.relation for group in tables.schema.groups)
    text = text.replace("{dish}", f'"{dish}"').replace("{folder}", str(folder))

    def long(match: re.Match[str]) -> str:
        before, middle, after = LONG[match[1]]
        return before * int(match[2]) + middle + after * int(match[2])

    return re.sub(r"\{'(\w+)' \* (\d+)\}", long, text)


def test_the_corpus_is_large() -> None:
    assert len(STATEMENTS) >= 60


@pytest.mark.parametrize("text", STATEMENTS)
def test_a_statement_of_a_model_is_refused_or_stopped(text: str, tables: Tables, tmp_path: Path) -> None:
    found = run_model_sql(filled(text, tables, tmp_path), tables, round=1, seconds=SECONDS)
    assert found.error is not None
    assert found.error.message
    assert found.evidence == ()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", STATEMENTS)
def test_what_slips_through_the_guard_writes_nothing(text: str, tables: Tables, tmp_path: Path) -> None:
    # what only reads a little may pass here; any other error than ToolError fails the test
    with suppress(ToolError):
        tables.run(filled(text, tables, tmp_path), seconds=SECONDS)
    assert list(tmp_path.iterdir()) == []
    assert tables.run("SELECT count(*) > 10 FROM entity").rows == [(1,)]
