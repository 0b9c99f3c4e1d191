"""Whatever plan a graph's schema allows: its SPARQL gives the rows that its SQL gives."""

from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingestion.index.triples import write_triples
from nacre.errors import ToolError
from nacre.plans.run import Engine, run_body, tables_engine
from nacre.plans.sparql_engine import sparql_engine
from nacre.plans.sparql_vocabulary import Vocabulary
from nacre.records.plan import Aggregate, Attribute, Combine, Filter, Itself, Select, Variable
from nacre.records.schema import Schema
from nacre.stores.killable_pool import KillablePool
from nacre.stores.sparql_source import MAX_MEMORY, OxigraphStore
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.stores.sqlite.tables import Cell, Tables
from tests.support.random_plans import combined, selects
from tests.support.small_graphs import NAMES
from tools.sparql import ingested_labels

Graphs = dict[str, tuple[Tables, Lexicon]]


@pytest.fixture(scope="session")
def engines(small_graphs: Graphs, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Engine]]:
    """SPARQL over the same graphs, in one process."""
    found, pool = {}, KillablePool(MAX_MEMORY)
    for name, (tables, _) in small_graphs.items():
        folder = tmp_path_factory.mktemp(name) / "triples"
        write_triples(tables, folder)
        store = OxigraphStore(folder, pool=pool)
        words = Vocabulary(tables.schema, store.readings, closed=True)
        found[name] = sparql_engine(store, words, ingested_labels(tables), seconds=20)
    yield found
    pool.close()


@settings(max_examples=100)
@given(st.sampled_from(NAMES), st.data())
def test_any_plan_gives_the_rows_of_its_sql(
    small_graphs: Graphs, engines: dict[str, Engine], name: str, data: st.DataObject
) -> None:
    tables = small_graphs[name][0]
    body = data.draw(st.one_of(selects(tables.schema), combined(tables.schema)).filter(_comparable(tables.schema)))
    assert _rows(body, engines[name]) == _rows(body, tables_engine(tables))


@pytest.mark.parametrize(("named", "below", "expected"), [
    ("north", ("locatedIn",), {"Northshire", "Harrow Dale", "Kell Dale", "Stoke End", "Mill Green"}),
    ("mill", ("^locatedIn",), {"Mill Green", "Kell Dale", "Northshire"}),
    ("north", ("noLink",), {"Northshire"}),
])  # fmt: skip
def test_what_is_below_a_thing(
    small_graphs: Graphs, engines: dict[str, Engine], named: str, below: tuple[str, ...], expected: set[str]
) -> None:
    base = "http://example.org/fells/"
    ways = tuple(f"^{base}{each[1:]}" if each.startswith("^") else base + each for each in below)
    whole = Variable("whole", keys=(base + named,), label=named, below=ways)
    for engine in (engines["fell_races"], tables_engine(small_graphs["fell_races"][0])):
        assert {str(row[1]) for row in _rows(Select((Itself("whole"),), (whole,)), engine)} == expected


@pytest.mark.parametrize("answer", [Itself("x"), Aggregate("count", Itself("x"))])
def test_things_of_several_classes_with_their_kinds(
    small_graphs: Graphs, engines: dict[str, Engine], answer: Itself | Aggregate
) -> None:
    base = "http://example.org/fells/"
    things = Variable("x", any_of=(base + "Race", base + "Club"), noun="thing")
    found = []
    for engine in (engines["fell_races"], tables_engine(small_graphs["fell_races"][0])):
        table, queries = run_body(Select((answer,), (things,)), engine, words="", round=1)
        assert table is not None
        assert not any(query.error for query in queries)
        of_kinds = {kind.label: kind.count for kind in table.kinds}
        number = table.rows[0][0] if isinstance(answer, Aggregate) else len(table.rows)
        assert sum(of_kinds.values()) == number
        found.append((sorted(map(str, table.rows)), of_kinds))
    assert found[0] == found[1]
    assert len(found[0][1]) == 2


def _rows(body: Select | Combine, engine: Engine) -> set[tuple[Cell, ...]]:
    found = engine.fetch(engine.write(body), 100_000, False)
    return {tuple(round(c, 6) if isinstance(c, float) else c for c in row) for row in found.rows}


def test_a_median_is_refused(engines: dict[str, Engine]) -> None:
    base = "http://example.org/fells/"
    median = Aggregate("median", Attribute("x", base + "distance"))
    with pytest.raises(ToolError, match="SPARQL has no aggregate 'median'"):
        run_body(Select((median,), (Variable("x", (base + "Race",)),)), engines["fell_races"], words="", round=1)


def _comparable(schema: Schema) -> Callable[[Select | Combine], bool]:
    """SQL orders numbers before texts, SPARQL does not compare them at all, and has no median; and what SQL shows for
    things of any class without a value depends on the tables that they lie in."""

    def holds(body: Select | Combine) -> bool:
        sides = [body.left, body.right] if isinstance(body, Combine) else [body]
        bare = {v.name for side in sides for v in side.variables if not v.classes}
        loose = any(a.kind == "attribute" and a.variable in bare for side in sides for a in side.answers)
        return (
            not loose
            and "function='median'" not in repr(body)
            and all(_fits(condition, schema) for side in sides for condition in side.filters)
        )

    return holds


def _fits(condition: Filter, schema: Schema) -> bool:
    left, right = condition.left, condition.right
    if isinstance(right, Select):
        return all(_fits(each, schema) for each in right.filters)
    if not isinstance(left, Attribute) or not isinstance(right, Attribute):
        return True
    kinds = {schema.predicate_of[a.predicate].datatype in ("integer", "real", "year", "boolean") for a in (left, right)}
    return len(kinds) == 1
