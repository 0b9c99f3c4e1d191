"""Whatever plan a graph's schema allows: its SQL only reads and runs, and says what the plan says."""

from dataclasses import replace
from statistics import median
from typing import Any
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from nacre.plans import sql_joins as joins
from nacre.plans.to_sql import contributing_statement, to_sql
from nacre.records.plan import Aggregate, Combine, Itself, Order, Plan, Select
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.stores.sqlite.tables import Cell, Tables
from tests.support.plan_checks import json_form_holds, only_reads, words_are_plain
from tests.support.random_plans import HOSTILE, attributes_of, combined, conditions, selects, things
from tests.support.small_graphs import NAMES

Graphs = dict[str, tuple[Tables, Lexicon]]
few = settings(max_examples=80)


@few
@given(st.sampled_from(NAMES), st.data())
def test_any_plan_reads_and_runs(small_graphs: Graphs, name: str, data: st.DataObject) -> None:
    tables = small_graphs[name][0]
    body = data.draw(st.one_of(selects(tables.schema), combined(tables.schema)))
    json_form_holds(Plan(body))
    words_are_plain(Plan(body), tables.schema)
    statement = only_reads(body, tables.schema)
    assert HOSTILE not in statement.text
    rows = tables.run(statement.text, statement.params)
    assert len(rows.columns) == len(statement.outputs)


@few
@given(st.sampled_from(NAMES), st.data())
def test_a_condition_only_takes_away(small_graphs: Graphs, name: str, data: st.DataObject) -> None:
    tables = small_graphs[name][0]
    select = data.draw(things(tables.schema))
    more = data.draw(conditions(tables.schema, select.variables))
    assert _rows(replace(select, filters=(*select.filters, more)), tables) <= _rows(select, tables)


@few
@given(st.sampled_from(NAMES), st.data())
def test_sets_of_things_combine_as_sets(small_graphs: Graphs, name: str, data: st.DataObject) -> None:
    tables = small_graphs[name][0]
    plan = data.draw(combined(tables.schema))
    left, right = _rows(plan.left, tables), _rows(plan.right, tables)
    wanted = {"union": left | right, "intersection": left & right, "difference": left - right}[plan.op]
    assert _rows(plan, tables) == wanted


@few
@given(st.sampled_from(NAMES), st.data())
def test_a_count_is_of_the_things_it_rests_on(small_graphs: Graphs, name: str, data: st.DataObject) -> None:
    tables = small_graphs[name][0]
    select = data.draw(things(tables.schema))
    counted = replace(select, answers=(Aggregate("count", Itself("a")),))
    listed = _rows(select, tables)
    statement = contributing_statement(counted, tables.schema, "a")
    assert _rows(counted, tables) == {(len(listed),)}
    assert set(tables.run(statement.text, statement.params).rows) == listed


@few
@given(st.sampled_from(NAMES), st.data())
def test_an_order_keeps_its_first_places(small_graphs: Graphs, name: str, data: st.DataObject) -> None:
    tables = small_graphs[name][0]
    base = data.draw(things(tables.schema))
    measured = attributes_of(tables.schema, base.variables, measured=True)
    by = data.draw(measured.filter(lambda a: tables.schema.predicate_of[a.predicate].shape == "single"))
    down, offset, limit = data.draw(st.booleans()), data.draw(st.integers(0, 2)), data.draw(st.integers(1, 4))
    select = Select((Itself(by.variable), by), base.variables, base.edges, base.filters)
    value = [o.role for o in to_sql(select, tables.schema).outputs].index("value")
    known = [row for row in _rows(select, tables) if row[value] is not None]
    # "the second largest" counts values, of which several things may share one
    numbers = [other[value] for other in known]
    ranked = set(numbers) if offset else numbers
    places = {row: sum(_before(other, row[value], down) for other in ranked) for row in known}
    kept = {row for row, place in places.items() if offset <= place < offset + limit}
    assert _rows(replace(select, order=Order(by, down), limit=limit, offset=offset), tables) == kept


@few
@given(st.sampled_from(NAMES), st.data())
def test_a_median_is_the_middle_of_its_values(small_graphs: Graphs, name: str, data: st.DataObject) -> None:
    tables = small_graphs[name][0]
    base = data.draw(things(tables.schema))
    measured = attributes_of(tables.schema, base.variables, measured=True)
    of = data.draw(measured.filter(lambda a: tables.schema.predicate_of[a.predicate].shape == "single"))
    group = tuple(v.name for v in base.variables if v.name != of.variable)[: data.draw(st.integers(0, 1))]
    groups = tuple(Itself(name) for name in group)
    listed = replace(base, answers=(*groups, Itself(of.variable), of))
    value = [o.role for o in to_sql(listed, tables.schema).outputs].index("value")
    values: dict[Cell, list[Any]] = {}
    for row in _rows(listed, tables):
        if row[value] is not None:
            values.setdefault(row[0] if group else None, []).append(row[value])
    counted = [Aggregate("count", Itself(v.name)) for v in base.variables if data.draw(st.booleans())]
    found = _rows(replace(base, answers=(*groups, Aggregate("median", of), *counted), group=group), tables)
    medians = {row[0] if group else None: row[2 if group else 0] for row in found}
    assert {key: each for key, each in medians.items() if each is not None} == {
        key: median(each) for key, each in values.items()
    }


@few
@given(st.sampled_from(NAMES), st.data())
def test_a_large_class_read_table_by_table_gives_the_same_rows(
    small_graphs: Graphs, name: str, data: st.DataObject
) -> None:
    tables = small_graphs[name][0]
    select = data.draw(things(tables.schema))
    with patch.object(joins, "LARGE_CLASS", 1):
        apart = to_sql(select, tables.schema)
    assert set(tables.run(apart.text, apart.params).rows) == _rows(select, tables)


def _before(one: Any, other: Any, down: bool) -> bool:
    return bool(one > other if down else one < other)


def _rows(body: Select | Combine, tables: Tables) -> set[tuple[Cell, ...]]:
    statement = to_sql(body, tables.schema)
    found = tables.run(statement.text, statement.params)
    assert not found.truncated
    return set(found.rows)
