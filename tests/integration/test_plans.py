"""Whatever is understood: plans survive their JSON form, their SQL is one select that runs, their words are plain."""

import re
from pathlib import Path

import pytest
import sqlglot
import yaml
from sqlglot import exp

from ingestion.load import write_tables
from ingestion.names import write_names
from ingestion.parse import parse
from records.json_form import from_json, to_json
from records.plan import Ask, Combine, Compute, Plan, Select
from records.turn import Reading, Rewrite
from semantics.to_sql import to_sql
from semantics.understand import understand
from stores.lexicon import Lexicon
from stores.tables import Tables

FIXTURES = Path(__file__).parents[1] / "fixtures"
NAMES = sorted(path.stem for path in (FIXTURES / "questions").glob("*.yaml"))


@pytest.fixture(scope="module", params=NAMES)
def understood(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Tables, list[Reading]]:
    """The tables of one graph, and every reading of every question asked of it."""
    folder = tmp_path_factory.mktemp(request.param)
    write_tables(parse([FIXTURES / f"graphs/{request.param}.ttl"]), folder / "graph.sqlite")
    tables = Tables(folder / "graph.sqlite")
    write_names(tables, folder / "lexicon.sqlite")
    lexicon = Lexicon(folder / "lexicon.sqlite", tables.schema)
    asked = [case["ask"] for case in yaml.safe_load((FIXTURES / f"questions/{request.param}.yaml").read_text())]
    readings = [r for q in asked for r in understand(Rewrite(q), tables.schema, lexicon).readings]
    assert len(readings) >= len(asked) / 2
    return tables, readings


def _selects(plan: Plan) -> list[Select | Combine]:
    body = plan.body
    if isinstance(body, Compute):
        return [body.left, body.right]
    if isinstance(body, Ask):
        return [body.select]
    return [body] if isinstance(body, (Select, Combine)) else []


def test_plans_survive_their_json_form(understood: tuple[Tables, list[Reading]]) -> None:
    for reading in understood[1]:
        assert from_json(Plan, to_json(reading.plan)) == reading.plan


def test_sql_is_one_select_within_the_guard_and_runs(understood: tuple[Tables, list[Reading]]) -> None:
    tables, readings = understood
    for reading in readings:
        for select in _selects(reading.plan):
            statement = to_sql(select, tables.schema)
            (query,) = sqlglot.parse(statement.text, dialect="sqlite")
            assert isinstance(query, exp.Query)
            assert not list(
                query.find_all(
                    exp.Insert, exp.Update, exp.Delete, exp.Create, exp.Drop, exp.Command, exp.Pragma, exp.Attach
                )
            )
            tables.run(statement.text, statement.params)


def test_words_name_no_table_or_column(understood: tuple[Tables, list[Reading]]) -> None:
    tables, readings = understood
    names = {
        c for r in tables.schema.relations for column in r.columns for c in (column.value, column.link, column.text)
    }
    technical = {n for n in (*names, *(r.name for r in tables.schema.relations)) if "_" in n}
    for reading in readings:
        assert not technical & set(re.findall(r"[a-z_0-9]+", reading.words)), reading.words
        assert reading.words
