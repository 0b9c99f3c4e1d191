"""What is asked of each property of fixtures/graphs/wording.ttl, and the sentences that answer.

The table of them all, for a reader: python -m tests.support.wording_table > tests/fixtures/wording.yaml
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from nacre.records.plan import Aggregate, Ask, Attribute, Body, Edge, Filter, Itself, Order, Plan, Select, Variable
from nacre.records.schema import Predicate, Schema
from nacre.stores.sqlite.tables import Tables
from nacre.wording.answer import verbalise_result
from nacre.wording.profile import run_plan
from tests.support.small_graphs import opened

GRAPH = "wording"
NAMESPACE = "http://example.org/words/"
# the thing of each kind that is asked about
OWNERS = {"Painter": ("p1", "Ada Voss"), "Ship": ("s1", "Aurora"), "Guild": ("g1", "Red Guild")}


def sentences(tables: Tables) -> dict[str, dict[str, str]]:
    """The first line of each answer, by property and what is asked of it."""
    schema = tables.schema
    return {
        local(predicate): {asked: said(body, tables) for asked, body in bodies(predicate, schema, tables)}
        for predicate in sorted(schema.predicates, key=lambda p: p.iri.casefold())
        if predicate.role == "fact"
    }


def local(predicate: Predicate) -> str:
    """The name of a property in the graph."""
    return predicate.iri.removeprefix(NAMESPACE)


def bodies(predicate: Predicate, schema: Schema, tables: Tables) -> Iterator[tuple[str, Body]]:
    """What is asked: of one thing, of all, by what they have, how many, whether, ..."""
    kind = max(predicate.domains, key=lambda iri: predicate.domains[iri])
    key, name = OWNERS[kind.removeprefix(NAMESPACE)]
    things, thing = Variable("x", (kind,)), Variable("x", (kind,), (), (NAMESPACE + key,), name)
    if predicate.has_links:
        yield from _of_link(predicate, things, thing, tables)
    else:
        yield from _of_value(predicate, things, thing)


def _of_link(predicate: Predicate, things: Variable, thing: Variable, tables: Tables) -> Iterator[tuple[str, Body]]:
    far = Variable("y", (max(predicate.ranges, key=lambda iri: predicate.ranges[iri]),))
    edges = (Edge("x", predicate.iri, "y"),)
    one = Select((Itself("y"),), (thing, far), edges)
    found = run_plan(Plan(one), tables, round=1)[0]
    assert found is not None
    named = Variable("y", far.classes, (), (found.keys[0][-1],), str(found.rows[0][-1]))
    number = Aggregate("count", Itself("x"))
    yield "one", one
    yield "all", Select((Itself("y"),), (things, far), edges)
    yield "inverse", Select((Itself("x"),), (things, named), edges)
    yield "count", Select((number,), (things, named), edges)
    yield "whether", Ask(Select((Itself("x"),), (thing, named), edges))
    yield "table", Select((Itself("x"), Itself("y")), (things, far), edges)
    yield "groups", Select((Itself("y"), number), (things, far), edges, group=("y",))


def _of_value(predicate: Predicate, things: Variable, thing: Variable) -> Iterator[tuple[str, Body]]:
    value = Attribute("x", predicate.iri)
    yield "one", Select((value,), (thing,))
    yield "all", Select((value,), (things,))
    yield "table", Select((Itself("x"), value), (things,))
    if predicate.datatype == "boolean":
        true = (Filter(value, "=", True),)
        yield "which", Select((Itself("x"),), (things,), (), true)
        yield "count", Select((Aggregate("count", Itself("x")),), (things,), (), true)
        yield "whether", Ask(Select((Itself("x"),), (thing,), (), true))
    elif predicate.minimum is not None or predicate.datatype == "date":
        least = "1900-01-01" if predicate.datatype == "date" else predicate.minimum or 0.0
        yield "highest", Select((Itself("x"),), (things,), order=Order(value, True), limit=1)
        yield "lowest", Select((Itself("x"), value), (things,), order=Order(value, False), limit=1)
        yield "which", Select((Itself("x"),), (things,), (), (Filter(value, ">", least),))
        if predicate.datatype != "date":
            yield "average", Select((Aggregate("avg", value),), (things,))
    else:
        yield "groups", Select((value, Aggregate("count", Itself("x"))), (things,), by=(value,))


def said(body: Body, tables: Tables) -> str:
    """The first line of the answer."""
    plan = Plan(body)
    table = run_plan(plan, tables, round=1)[0]
    assert table is not None
    return verbalise_result(plan, table, tables.schema, "").text.partition("\n")[0]


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        tables, _ = opened(GRAPH, Path(folder))
        sys.stdout.write("# What is answered of properties of many shapes: to be read, not only to be compared.\n")
        sys.stdout.write(yaml.safe_dump(sentences(tables), sort_keys=False, allow_unicode=True, width=200))
        tables.close()
