"""Questions over small graphs of several domains; the pairs in fixtures/questions are extended without Python.

Whatever is understood of them: plans survive their JSON form, their SQL is one select that runs and rests on stored
values, their words are plain.
"""

from collections.abc import Iterable
from functools import partial
from pathlib import Path

import pytest

from agents.answering.grounding_gate import table_claims
from agents.answering.select_answer import is_empty
from nacre.checking.claims import unsupported_claims
from nacre.config.embedder import local_embedder
from nacre.extensions.foreign_queries.origins import stated_numbers
from nacre.extensions.foreign_queries.sql_origins import check_sql_values
from nacre.records.answer import Value
from nacre.records.evidence import Query, Rows, Table
from nacre.records.plan import Ask, Combine, Compute, Plan, Profile, Select
from nacre.records.turn import EarlierTurn, Rewrite
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.stores.sqlite.tables import Tables
from nacre.understanding.dialogue.rewrite import rewrite_question
from nacre.understanding.mentions import name_spans
from nacre.understanding.ranking.probabilities import MAX_READINGS_RUN, choose_reading, table_outcome
from nacre.understanding.understand import understand
from nacre.wording.answer import verbalise_result
from nacre.wording.profile import run_plan
from tests.support.plan_checks import json_form_holds, only_reads, parsed_query, words_are_plain
from tests.support.read_yaml import read_yaml

FIXTURES = Path(__file__).parents[1] / "fixtures"
# what is not yet understood is kept and said to be so; a mark that is no longer true fails
OPEN = pytest.mark.xfail(reason="not yet understood", strict=True)
CASES = [
    pytest.param(path.stem, case, id=f"{path.stem}: {case['ask']}", marks=OPEN if case.get("open") else ())
    for path in sorted((FIXTURES / "questions").glob("*.yaml"))
    for case in read_yaml(path)
]
# readings of a question whose plans are checked
CHECKED = 2


@pytest.fixture(scope="module")
def opened(small_graphs: dict[str, tuple[Tables, Lexicon]]) -> dict[str, tuple[Tables, Lexicon]]:
    """The tables and lexicon of every graph that questions are asked of, with an embedder."""
    embedder = local_embedder("auto")
    return {
        name: (tables, Lexicon(tables.path.with_name("lexicon.sqlite"), tables.schema, embedder))
        for name, (tables, _) in small_graphs.items()
    }


def _selects(plan: Plan) -> list[Select | Combine]:
    body = plan.body
    if isinstance(body, Compute):
        return [body.left, body.right]
    if isinstance(body, Ask):
        return [body.select]
    if isinstance(body, Profile):
        return [body.members, *([body.against] if body.against else [])]
    return [body] if isinstance(body, (Select, Combine)) else []


def _check(plan: Plan, tables: Tables) -> None:
    """What holds for the plan of any reading."""
    json_form_holds(plan)
    words_are_plain(plan, tables.schema)
    for select in _selects(plan):
        statement = only_reads(select, tables.schema)
        tables.run(statement.text, statement.params)


def _rest_on_stored_values(queries: Iterable[Query], question: str, tables: Tables) -> None:
    # a quarter is joined of pieces of a date, which a model's query may not do
    for query in (each for each in queries if "'-Q'" not in each.text):
        check_sql_values(parsed_query(query.text), tables.schema, stated_numbers(question))


def _ask(question: str, earlier: list[EarlierTurn], tables: Tables, lexicon: Lexicon) -> tuple[Value, ...]:
    turned: Rewrite = rewrite_question(question, tuple(earlier), tables.schema, lexicon)
    understood = understand(turned, tables.schema, lexicon)
    for each in understood.readings[:CHECKED]:
        _check(each.plan, tables)
    tables_of: list[Table | None] = []
    outcomes, ran = [], []
    for reading in understood.readings[:MAX_READINGS_RUN]:
        table, queries, _ = run_plan(reading.plan, tables, round=1)
        assert not any(q.error for q in queries), queries
        ran.append(queries)
        tables_of.append(table)
        outcomes.append(table_outcome(table))
    index = choose_reading(understood, outcomes)[0] if outcomes else 0
    if ran and not earlier:
        _rest_on_stored_values(ran[index], question, tables)
    table = tables_of[index] if outcomes else None
    if table is None or is_empty(table):
        earlier.append(EarlierTurn(question, turned.standalone, ""))
        return ()
    reading = understood.readings[index]
    said = verbalise_result(reading.plan, table, tables.schema, question)
    rows = Rows("sql", 1, table=table, words=reading.words)
    known = partial(name_spans, lexicon=lexicon)
    lacking = [each for each in table_claims(said.text) if unsupported_claims(each, [rows], known)]
    # what the rules say stands in the rows
    assert not lacking, (question, lacking, [unsupported_claims(each, [rows], known) for each in lacking])
    keys = tuple(dict.fromkeys(k for row in table.keys for k in row))
    labels = tuple(thing.label if (thing := lexicon.thing(k)) else k for k in keys)
    earlier.append(EarlierTurn(question, turned.standalone, said.text, Plan(reading.plan.body), keys, labels))
    return said.values


@pytest.mark.parametrize(("name", "case"), CASES)
def test_values(name: str, case: dict, opened: dict[str, tuple[Tables, Lexicon]]) -> None:  # type: ignore[type-arg]
    tables, lexicon = opened[name]
    earlier: list[EarlierTurn] = []
    for turn in (case, *case.get("then", ())):
        values = _ask(turn["ask"], earlier, tables, lexicon)
        assert sorted(map(str, values)) == sorted(map(str, turn["values"])), turn["ask"]
        if turn.get("ordered"):
            assert list(map(str, values)) == list(map(str, turn["values"])), turn["ask"]
        assert turn.get("says", "") in earlier[-1].answer, turn["ask"]
