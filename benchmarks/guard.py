"""Work that questions and ingests cost: python -m benchmarks.guard [--each] [--write [--because REASON]].

40 questions of `inputs/guard_questions.yaml` and two ingests. What they ask of tokenizer, embedder, stores and model is
counted exactly: in one process, without threads, deadlines and the embedder's network, so that every run and every
machine counts the same. Processor time is compared with a fixed loop of the same run, as a median of five; the figure
belongs to a version of Python. The figures stand in `guard.json` and only go down; exit 1 if one rose.

The counters take the place of the project's functions, which are found by their names, wherever they are defined.
"""

import argparse
import asyncio
import gc
import hashlib
import importlib
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import types
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from contextvars import copy_context
from functools import lru_cache, partial
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any, cast
from unittest.mock import patch

import numpy as np
import yaml
from langchain_core.messages import BaseMessage

from benchmarks.inputs.fleet_graph import write_graph
from benchmarks.ratchet import compare, read_figures, settle
from benchmarks.size import PRODUCT, ROOT
from tests.support.scripted_model import ScriptedModel

FILE, COMMAND = Path(__file__).with_name("guard.json"), "python -m benchmarks.guard"
QUESTIONS = Path(__file__).parent / "inputs/guard_questions.yaml"
EXAMPLE, FIXTURES = ROOT / "examples/bmw", ROOT / "tests/fixtures/graphs"
ROUNDS, TOLERANCE, SCALE = 5, 0.15, 2
CPU = f"CPU of {{}}, Python {sys.version_info[0]}.{sys.version_info[1]}"
# numbers of a vector of the bundled embedder
EMBEDDED = 384
# the seconds of a deadline that no machine passes
NO_END = 1e6
WORKSHOP = """
CREATE TABLE mechanic (mechanic_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, hired DATE);
CREATE TABLE bicycle (bicycle_id INTEGER PRIMARY KEY, name TEXT NOT NULL, colour TEXT, built INTEGER);
CREATE TABLE repair (repair_id INTEGER PRIMARY KEY, bicycle_id INTEGER REFERENCES bicycle, cost REAL,
  mechanic_id INTEGER REFERENCES mechanic, day DATE, note TEXT);
INSERT INTO mechanic VALUES
  (1, 'Ines Roth', '2015-03-01'), (2, 'Olaf Dahl', '2019-08-15'), (3, 'Mia Koh', '2021-01-04');
INSERT INTO bicycle VALUES (1, 'Heron', 'blue', 1998), (2, 'Plover', 'red', 2012), (3, 'Curlew', 'blue', 2020);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
INSERT INTO repair
  SELECT i, 1 + i % 2, 20 + i * 7 % 90, 1 + i % 3, date('2024-01-01', i || ' days'), 'visit ' || i FROM n;
"""

Counts = Counter[str]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog=COMMAND)
    parser.add_argument("--write", action="store_true", help="write the lower figures to guard.json")
    parser.add_argument("--because", default="", help="why a figure may rise")
    parser.add_argument("--each", action="store_true", help="also print the counts of each question")
    parser.add_argument("--counts", action="store_true", help="leave out processor time, as on a busy machine")
    options = parser.parse_args(arguments)
    if os.environ.get("PYTHONHASHSEED") != "0":
        settings = {name: value for name, value in os.environ.items() if not name.startswith("NACRE_")}
        fixed = {"PYTHONHASHSEED": "0", "LANGSMITH_TRACING": "false", "NACRE_MODEL": ""}
        return subprocess.run([sys.executable, "-m", "benchmarks.guard", *arguments], env=settings | fixed).returncode
    with tempfile.TemporaryDirectory(prefix="nacre-guard-") as name:
        figures = measure(Path(name), counts_only=options.counts, print_each=options.each)
    for name, figure in figures.items():
        print(f"{name}: {figure:,}")
    # a figure of processor time belongs to a version of Python; a version without one has no limit
    known = read_figures(FILE)
    times = {name for name in known.keys() | figures.keys() if name.startswith("CPU")}
    if not options.write:
        figures = {name: figure for name, figure in figures.items() if name in known or name not in times}
    figures |= {name: known[name] for name in times & known.keys() - figures.keys()}
    compared = compare(figures, FILE, dict.fromkeys(times, TOLERANCE))
    return settle(compared, figures, FILE, COMMAND, options.because if options.write else None)


def measure(folder: Path, *, counts_only: bool, print_each: bool) -> dict[str, float]:
    """The counts of the ingests and of the questions, then their processor time in units of the reference loop."""
    groups = yaml.safe_load(QUESTIONS.read_text(encoding="utf-8"))
    data, fleet = folder / "data", folder / "fleet.nt"
    write_graph(SCALE, fleet)
    figures: dict[str, float] = {}
    # threads that wait for each other cost more on a busy machine
    with replaced("LocalEmbedder.embed", embed), replaced("run_in_thread", run_here):
        with counted() as counts:
            ingest_both(data, fleet)
            figures |= {f"ingests: {what}": counts[what] for what in sorted(counts)}
        attach_others(folder, data)
        with counted() as counts:
            asyncio.run(ask(data, groups, counts, print_each=print_each))
            figures |= {f"questions: {what}": counts[what] for what in sorted(counts)}
        if counts_only:
            return figures
        rules = [group for group in groups if "replies" not in group]
        ingests, questions = [], []
        for round in range(ROUNDS):
            ingests.append(in_loops(partial(ingest_both, folder / str(round), fleet)))
            questions.append(in_loops(lambda pause: asyncio.run(ask(data, rules, Counter(), pause))))
        figures[CPU.format("ingests")] = round_figure(median(ingests))
        figures[CPU.format("questions")] = round_figure(median(questions))
    return figures


def no_pause() -> None:
    """Nothing to do between questions and between the stages of an ingest."""


def ingest_both(data: Path, fleet: Path, pause: Callable[[], None] = no_pause) -> None:
    """The example with its texts, and a graph of 7,400 triples."""
    from ingestion.pipeline import ingest
    from nacre.config.embedder import local_embedder

    embedder = local_embedder("bundled")
    texts = [str(EXAMPLE / "texts")]
    for name, source, documents in (("bmw", EXAMPLE / "kg.ttl", texts), ("fleet", fleet, [])):
        ingest([str(source)], name, data=data, texts=documents, embedder=embedder, on_stage=lambda *_: pause())


def attach_others(folder: Path, data: Path) -> None:
    """The other graphs that are asked: two fixtures, and a database."""
    from ingestion.pipeline import ingest
    from nacre.config.embedder import local_embedder
    from nacre.extensions.databases.attach_database import attach_database

    for name in ("company", "garden"):
        ingest([str(FIXTURES / f"{name}.ttl")], name, data=data, embedder=local_embedder("bundled"))
    with closing(sqlite3.connect(folder / "workshop.db")) as database:
        database.executescript(WORKSHOP)
    attach_database(f"sqlite:///{folder / 'workshop.db'}", "workshop", data=data)


async def ask(
    data: Path,
    groups: Sequence[dict[str, Any]],
    counts: Counts,
    pause: Callable[[], None] = no_pause,
    *,
    print_each: bool = False,
) -> None:
    """Ask all questions of a service that was just opened; tokens of prompts are counted as budgets of prompts are."""
    from agents.agents import build_agents
    from agents.model_calls import CHARACTERS_PER_TOKEN
    from graph.context import Context
    from nacre.config.settings import Settings
    from nacre.serving.turn_service import open_turn_service

    settings = Settings(data=data, model=None, qdrant_url=None, embedder="bundled", _env_file=None)
    async with open_turn_service(settings, lasting=False) as service:
        for number, group in enumerate(groups):
            model = FixedModel(script=group.get("replies", []))
            service.composition.agents["model"] = build_agents(model)
            context = Context(mind="model" if model.script else "rules")
            for conversation, questions in enumerate(group["conversations"]):
                for question in questions:
                    pause()
                    before = counts.copy()
                    model.asked.clear()
                    record = await service.answer(question, group["graph"], f"{number}-{conversation}", context)
                    counts["calls of the model"] += len(model.asked)
                    sent = sum(len(str(message.text)) for messages in model.asked for message in messages)
                    counts["tokens of prompts"] += sent // CHARACTERS_PER_TOKEN
                    if print_each:
                        spent = ", ".join(f"{name} {count:,}" for name, count in (counts - before).items())
                        print(f"{group['graph']}: {question} [{record['status']}] {spent}", flush=True)


class FixedModel(ScriptedModel):
    """A model with the same replies for each question; the last one is for all further calls."""

    script: list[Any]

    async def _parts(self, messages: list[BaseMessage]) -> AsyncIterator[str]:
        self.replies = [self.script[min(len(self.asked), len(self.script) - 1)]]
        async for part in super()._parts(messages):
            yield part


def embed(embedder: Any, texts: Sequence[str]) -> list[Any]:
    """Vectors of hashed words in place of those of the network, which differ from processor to processor."""
    vectors = np.array([sum(map(word_vector, re.findall(r"\w+", text.lower())), np.zeros(EMBEDDED)) for text in texts])
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return list((vectors / np.where(lengths, lengths, 1)).astype(np.float32))


async def run_here(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Run work that goes to a thread in this one, in a context of its own."""
    return copy_context().run(partial(function, *args, **kwargs))


@lru_cache(None)
def word_vector(word: str) -> Any:
    """Random numbers for a word: texts with as many words in common are not equally near, as order among equals is
    left to chance."""
    return np.frombuffer(hashlib.shake_256(word.encode()).digest(EMBEDDED), dtype=np.int8).astype(np.float64)


@contextmanager
def counted() -> Iterator[Counts]:
    """Count the work of the block, which has no deadlines."""
    counts = Counts(dict.fromkeys(("calls of the embedder", "texts embedded"), 0))

    def count(name: str, what: str) -> AbstractContextManager[None]:
        counts[what] = 0
        original = copy_of(project_function(name))

        def call(*args: Any, **kwargs: Any) -> Any:
            counts[what] += 1
            return original(*args, **kwargs)

        return replaced(name, call)

    def count_texts(embedder: Any, texts: Sequence[str]) -> list[Any]:
        counts["calls of the embedder"] += 1
        counts["texts embedded"] += len(texts)
        return embed(embedder, texts)

    start_deadline = copy_of(project_function("start_deadline"))
    with (
        count("find_tokens", "tokenisations"),
        count("run_plan", "readings run"),
        replaced("LocalEmbedder.embed", count_texts),
        replaced("start_deadline", lambda seconds: start_deadline(NO_END)),
        counted_statements(counts),
    ):
        yield counts


@contextmanager
def counted_statements(counts: Counts) -> Iterator[None]:
    """Count the statements and the fetched rows of all connections to SQLite that are opened in the block."""
    counts["SQL statements"] = counts["rows fetched"] = 0

    class CountingCursor(sqlite3.Cursor):
        def execute(self, sql: str, parameters: Any = (), /) -> Any:
            counts["SQL statements"] += 1
            return super().execute(sql, parameters)

        def executemany(self, sql: str, parameters: Any, /) -> Any:
            counts["SQL statements"] += 1
            return super().executemany(sql, parameters)

        def __next__(self) -> Any:
            row = super().__next__()
            counts["rows fetched"] += 1
            return row

        def fetchone(self) -> Any:
            return next(self, None)

        def fetchmany(self, size: int | None = None) -> list[Any]:
            rows = super().fetchmany(self.arraysize if size is None else size)
            counts["rows fetched"] += len(rows)
            return rows

        def fetchall(self) -> list[Any]:
            rows = super().fetchall()
            counts["rows fetched"] += len(rows)
            return rows

    class CountingConnection(sqlite3.Connection):
        def cursor(self, factory: Any = CountingCursor) -> Any:
            return super().cursor(factory)

        def execute(self, sql: str, parameters: Any = (), /) -> Any:
            return self.cursor().execute(sql, parameters)

        def executemany(self, sql: str, parameters: Any, /) -> Any:
            return self.cursor().executemany(sql, parameters)

    connect = partial(sqlite3.connect, factory=CountingConnection)
    with patch.object(sqlite3, "connect", connect), patch.object(sqlite3.dbapi2, "connect", connect):
        yield


def project_function(name: str) -> types.FunctionType:
    """The one function, or method of a class, with this name in the project's packages."""
    first, _, method = name.partition(".")
    defined = re.compile(rf"^(?:(?:async )?def|class) {first}\b", re.MULTILINE)
    files = [path for package in PRODUCT for path in (ROOT / package).rglob("*.py")]
    places = [path for path in files if defined.search(path.read_text(encoding="utf-8"))]
    if len(places) != 1:
        raise SystemExit(f"{name} is defined in {len(places)} files. Change the name in {__file__}.")
    module = importlib.import_module(".".join(places[0].relative_to(ROOT).with_suffix("").parts))
    defined_there = getattr(module, first)
    return cast(types.FunctionType, getattr(defined_there, method) if method else defined_there)


def copy_of(function: types.FunctionType) -> Callable[..., Any]:
    """A function that keeps its code when that of the original is replaced."""
    copy = types.FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


@contextmanager
def replaced(name: str, by: Callable[..., Any]) -> Iterator[None]:
    """Let a function of the project do something else, also where it was imported by its name already."""
    function = project_function(name)

    def call(*args: Any, __by: Any = None, **kwargs: Any) -> Any:
        return __by(*args, **kwargs)

    kept = function.__code__, function.__defaults__, function.__kwdefaults__
    function.__code__, function.__defaults__, function.__kwdefaults__ = call.__code__, None, {"__by": by}
    try:
        yield
    finally:
        function.__code__, function.__defaults__, function.__kwdefaults__ = kept


def in_loops(run: Callable[[Callable[[], None]], object]) -> float:
    """The processor time of a run, with all its threads, in times of the reference loop.

    The run calls its argument again and again, which runs the loop: both see the same moments of a busy machine.
    """
    loops = []

    def pause() -> None:
        start = process_time()
        reference_loop()
        loops.append(process_time() - start)

    gc.collect()
    start = process_time()
    run(pause)
    return (process_time() - start - sum(loops)) * len(loops) / sum(loops)


def reference_loop() -> None:
    """Fixed work of the kinds that the project does: patterns, dictionaries, tuples, sorting and SQLite."""
    words = re.compile(r"[^\W\d_]+|\d+")
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE word (text TEXT, place INTEGER)")
        for n in range(600):
            text = f"The {n} ships of design {n % 17} that left port {n % 23} in {1900 + n % 120} carry fuel {n % 5}"
            found: list[tuple[str, int]] = [(each[0].lower(), each.start()) for each in words.finditer(text)]
            places: dict[str, list[int]] = {}
            for word, place in found:
                places.setdefault(word, []).append(place)
            ordered = sorted(found, key=lambda each: (-each[1], each[0]))
            database.executemany("INSERT INTO word VALUES (?, ?)", ordered)
        database.execute("CREATE INDEX by_text ON word(text)")
        for n in range(600):
            database.execute("SELECT place FROM word WHERE text = ? LIMIT 20", (str(n),)).fetchall()


def round_figure(figure: float) -> float:
    """Three digits.

    >>> round_figure(123.456), round_figure(0.98765)
    (123.0, 0.988)
    """
    return float(f"{figure:.3g}")


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
