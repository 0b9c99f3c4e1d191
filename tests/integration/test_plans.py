"""Whatever is understood: plans survive their JSON form, their SQL is one select that runs, their words are plain."""

from typing import Any

import pytest
import yaml

from nacre.records.plan import Ask, Combine, Compute, Plan, Profile, Select
from nacre.records.turn import Rewrite
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.stores.sqlite.tables import Tables
from nacre.understanding.understand import understand
from tests.support.plan_checks import json_form_holds, only_reads, words_are_plain
from tests.support.small_graphs import FIXTURES, NAMES


@pytest.fixture(scope="module", params=NAMES)
def understood(
    request: pytest.FixtureRequest, small_graphs: dict[str, tuple[Tables, Lexicon]]
) -> tuple[Tables, list[Plan]]:
    """The tables of one graph, and the plans of all readings of every question asked of it, follow-ups as they are."""
    tables, lexicon = small_graphs[request.param]
    cases: list[Any] = yaml.safe_load((FIXTURES / f"questions/{request.param}.yaml").read_text(encoding="utf-8"))
    asked = [turn["ask"] for case in cases for turn in (case, *case.get("then", ()))]
    plans = [r.plan for q in asked for r in understand(Rewrite(q), tables.schema, lexicon).readings]
    assert len(plans) >= len(asked) / 2
    return tables, plans


def test_plans_survive_their_json_form(understood: tuple[Tables, list[Plan]]) -> None:
    for plan in understood[1]:
        json_form_holds(plan)


def test_sql_is_one_select_that_runs_with_bound_constants(understood: tuple[Tables, list[Plan]]) -> None:
    tables, plans = understood
    for plan in plans:
        for select in _selects(plan):
            statement = only_reads(select, tables.schema)
            tables.run(statement.text, statement.params)


def test_words_name_no_table_no_column_and_no_iri(understood: tuple[Tables, list[Plan]]) -> None:
    tables, plans = understood
    for plan in plans:
        words_are_plain(plan, tables.schema)


def _selects(plan: Plan) -> list[Select | Combine]:
    body = plan.body
    if isinstance(body, Compute):
        return [body.left, body.right]
    if isinstance(body, Ask):
        return [body.select]
    if isinstance(body, Profile):
        return [body.members, *([body.against] if body.against else [])]
    return [body] if isinstance(body, (Select, Combine)) else []
