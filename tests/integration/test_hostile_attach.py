"""An endpoint whose counts and columns are not those of its data: it is attached, or refused with a reason."""

import json
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, get_args

import pyoxigraph as ox
import pytest

from graph.builder import compose
from nacre.config.settings import Settings
from nacre.errors import IngestionError
from nacre.extensions.endpoints.attach import attach_endpoint
from nacre.records.answer import Status
from nacre.records.threads import run_in_thread
from nacre.stores.addresses import EndpointLimits
from tests.support import sparql_server as servers

TOWNS = "@prefix : <http://e.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n" + "".join(
    f':t{i} a :Town ; rdfs:label "town {i}" ; :population {i} ; :mayor :m{i % 3} .\n:m{i % 3} a :Mayor .\n'
    for i in range(20)
)
INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
QUICK = EndpointLimits(at_once=4, a_second=1000)
Results = dict[str, Any]
Change = Callable[[Results], Results | bytes]


def unchanged(results: Results) -> Results:
    return results


def with_numbers(value: str) -> Change:
    """Each integer becomes this text."""

    def change(results: Results) -> Results:
        for row in results["results"]["bindings"]:
            for term in row.values():
                if term.get("datatype") == INTEGER:
                    term["value"] = value
        return results

    return change


def with_columns(change_names: Callable[[list[str]], list[str]]) -> Change:
    """Other names of columns, with the terms as they were."""

    def change(results: Results) -> Results:
        names = results["head"]["vars"]
        others = change_names(names)
        rows = [
            dict(zip(others, [row.get(name) for name in names], strict=False)) for row in results["results"]["bindings"]
        ]
        shown = [{name: term for name, term in row.items() if term is not None} for row in rows]
        return {"head": {"vars": others}, "results": {"bindings": shown}}

    return change


CHANGES: dict[str, Change] = {
    **{
        f"numbers: {value[:10]}": with_numbers(value)
        for value in (
            "inf",
            "-inf",
            "nan",
            "1e308",
            "9" * 400,
            "9" * 5000,
            "-5",
            "abc",
            "",
            "1e3",
            "0x10",
            "\u0663",
            "1_0",
        )
    },
    "a column more": with_columns(lambda names: [*names, "x"]),
    "a column less": with_columns(lambda names: names[:-1]),
    "other columns": with_columns(lambda names: [f"{name}x" for name in names]),
    "columns in another order": with_columns(lambda names: names[::-1]),
    "no columns": with_columns(lambda names: []),
    "no rows": lambda results: {**results, "results": {"bindings": []}},
    "no result": lambda results: b'{"a": [{}]}',
    "no JSON": lambda results: b"[[[",
}


def failing_after(number: int) -> Change:
    """So many answers as they are, then no results."""
    left = iter(range(number))
    return lambda results: results if next(left, None) is not None else b"{}"


@contextmanager
def changed_endpoint(changes: list[Change]) -> Iterator[str]:
    """An endpoint over the towns, whose answers are changed by the last of `changes`."""
    store = ox.Store()
    store.load(TOWNS.encode(), ox.RdfFormat.TURTLE)

    def respond(handler: BaseHTTPRequestHandler, query: str) -> None:
        found = store.query(query)
        if isinstance(found, ox.QueryTriples):
            servers.reply(handler, found.serialize(format=ox.RdfFormat.N_TRIPLES) or b"", "application/n-triples")
            return
        results = json.loads(found.serialize(format=ox.QueryResultsFormat.JSON) or b"")
        sent = changes[-1](results) if "results" in results else results
        servers.reply(handler, sent if isinstance(sent, bytes) else json.dumps(sent).encode(), servers.RESULTS)

    with servers.serving(respond) as url:
        yield url


@pytest.mark.parametrize("name", CHANGES)
def test_an_endpoint_with_such_answers_is_attached_or_refused(name: str, tmp_path: Path) -> None:
    with changed_endpoint([CHANGES[name]]) as url:
        start = time.monotonic()
        try:
            attached = attach_endpoint(url, "towns", data=tmp_path, manners=QUICK)
        except IngestionError:
            assert not (tmp_path / "towns" / "current").exists()
        else:
            assert all(0 <= each.count < 10**16 for each in attached.schema.classes)
        assert time.monotonic() - start < 30


def test_columns_in_another_order_change_nothing(tmp_path: Path) -> None:
    with changed_endpoint([unchanged]) as url:
        first = attach_endpoint(url, "towns", data=tmp_path, manners=QUICK).schema
    with changed_endpoint([lambda r: {**r, "head": {"vars": [*r["head"]["vars"][::-1], "x"]}}]) as url:
        assert attach_endpoint(url, "towns", data=tmp_path, manners=QUICK).schema == first


@pytest.mark.parametrize("name", ["no result", "no JSON", "other columns"])
async def test_an_answer_that_is_none_is_a_failure_of_that_query_in_the_record(name: str, tmp_path: Path) -> None:
    changes: list[Change] = [unchanged]
    with changed_endpoint(changes) as url:
        await run_in_thread(attach_endpoint, url, "towns", data=tmp_path, manners=QUICK)
        changes.append(CHANGES[name])
        settings = Settings(data=tmp_path, embedder="none", model=None, _env_file=None)
        composition = await run_in_thread(compose, settings)
        try:
            result = await composition.build().ainvoke(
                {"question": "What is the population of town 3?", "graph": "towns"}
            )
        finally:
            composition.library.close()
            composition.resources.sandbox.close()
    record = result["answer"]
    assert record["status"] == "failed"
    assert url in record["unavailable"]["sparql"]


@pytest.mark.parametrize("change", [*CHANGES.values(), *map(failing_after, range(1, 9))], ids=[*CHANGES, *"12345678"])
async def test_a_question_gets_a_record_whatever_the_endpoint_answers(
    change: Change, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    changes: list[Change] = [unchanged]
    with changed_endpoint(changes) as url:
        await run_in_thread(attach_endpoint, url, "towns", data=tmp_path, manners=QUICK)
        changes.append(change)
        settings = Settings(data=tmp_path, embedder="none", model=None, _env_file=None)
        composition = await run_in_thread(compose, settings)
        caplog.set_level(logging.INFO)
        try:
            for question in ("Which town has the highest population?", "What is the population of town 3?"):
                result = await composition.build().ainvoke({"question": question, "graph": "towns"})
                record = result["answer"]
                assert record["status"] in get_args(Status)
        finally:
            composition.library.close()
            composition.resources.sandbox.close()
    logged = [each for each in caplog.records if each.name.startswith(("graph", "agents", "nacre"))]
    assert not [each.getMessage() for each in logged if each.exc_info], "an answer of an endpoint is no error of Nacre"
    assert not [
        each.getMessage() for each in logged if each.levelno >= logging.WARNING and "population" in each.getMessage()
    ]
