"""Whatever is asked, written or read, it ends soon and in one of the errors that are for people."""

import asyncio
import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from benchmarks.inputs.changed_bytes import changed_bytes
from benchmarks.inputs.hostile_sql import hostile_statements
from graph.builder import Composition, compose
from ingestion.read.parse import read_sources
from ingestion.read.sources import ReadOptions, find_sources
from nacre.config.settings import Settings
from nacre.errors import IngestionError, ToolError
from nacre.extensions.foreign_queries.sql_guard import guard_sql, sql_text
from nacre.records.turn import LONGEST_QUESTION, Rewrite
from nacre.stores.catalog import Graph
from nacre.understanding.understand import understand
from tests.support.capsules import capsules

FIXTURES = Path(__file__).parents[1] / "fixtures"
# seconds of this thread's processor time, several times what the slowest of thousands takes
QUESTION_SECONDS, STATEMENT_SECONDS = 4.0, 2.0
WORDS = (
    "which what who is are the of and or not more less than average most per each between before how many 5 1,000 3.5"
    " kg € in with without who's dish dishes ingredient list compare , . ? ( ) \" ' - 2021-05-01 per cent 中 é \u0301"
).split(" ")
QUICK = settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@pytest.fixture(scope="module")
def composition(tmp_path_factory: pytest.TempPathFactory, kitchen: Path) -> Iterator[Composition]:
    made = compose(Settings(data=kitchen, embedder="none", _env_file=None))
    yield made
    made.library.close()


@pytest.fixture(scope="module")
def graph(composition: Composition) -> Iterator[Graph]:
    with composition.library.open("kitchen") as opened:
        yield opened


@st.composite
def questions(draw: st.DrawFn, names: tuple[str, ...]) -> str:
    """Words of questions and of the graph, numbers and any characters, some of them again and again."""
    word = st.one_of(
        st.sampled_from(WORDS), st.sampled_from(names), st.integers(0, 10**30).map(str), st.text(max_size=12)
    )
    once = st.lists(word, min_size=1, max_size=25).map(" ".join)
    again = st.tuples(st.lists(word, min_size=1, max_size=6).map(" ".join), st.integers(2, 2000))
    text = draw(st.one_of(once, again.map(lambda pair: " ".join([pair[0]] * pair[1])), st.text(min_size=1)))
    return text[:LONGEST_QUESTION].strip() or "?"


@seed(1)
@QUICK
@given(data=st.data())
def test_any_question_is_read_in_time(graph: Graph, data: st.DataObject) -> None:
    question = data.draw(questions(_names(graph)))
    begun = time.thread_time()
    understood = understand(Rewrite(question), graph.schema, graph.lexicon)
    assert time.thread_time() - begun < QUESTION_SECONDS
    assert understood.standalone == question


@seed(2)
@settings(QUICK, max_examples=6)
@given(data=st.data())
def test_any_question_gets_an_answer(composition: Composition, graph: Graph, data: st.DataObject) -> None:
    question = data.draw(questions(_names(graph)))
    begun = time.process_time()
    turn = composition.build().ainvoke({"question": question.encode(errors="replace").decode(), "graph": "kitchen"})
    record = asyncio.run(turn)["answer"]
    assert time.process_time() - begun < 2 * QUESTION_SECONDS
    assert record["answer"]
    assert record["status"] != "failed"


def _names(graph: Graph) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.label for name in graph.lexicon.each()))[:60]


SOURCES = [
    *(path for path in sorted((FIXTURES / "wild").iterdir()) if path.is_file() and path.stat().st_size < 4000),
    FIXTURES / "graphs/kitchen.ttl",
]


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_a_file_that_is_not_as_it_was_written_is_read_or_refused(source: Path, tmp_path: Path) -> None:
    chance = random.Random(source.name)
    for number in range(4):
        file = tmp_path / f"{number}{''.join(source.suffixes)}"
        file.write_bytes(changed_bytes(source.read_bytes(), chance))
        begun = time.thread_time()
        try:
            facts = read_sources(find_sources([str(file)], ReadOptions()))
            assert sum(len(capsule.facts) for capsule in capsules(facts)) > 0
        except IngestionError:
            # a refusal is as good, as long as it is ours
            pass
        assert time.thread_time() - begun < STATEMENT_SECONDS


def test_the_guard_ends_soon_whatever_is_written() -> None:
    chance = random.Random(3)
    for text in hostile_statements(100, seed=2):
        for each in (text, changed_bytes(text.encode(), chance).decode(errors="replace")):
            begun = time.thread_time()
            try:
                passed = sql_text(guard_sql(each, ["entity"], limit=10))
            except ToolError:
                pass
            else:
                # whatever it became, it is one statement that reads
                assert passed.lstrip("( ").startswith(("SELECT", "WITH", "VALUES")), passed[:100]
            assert time.thread_time() - begun < STATEMENT_SECONDS, each[:200]
