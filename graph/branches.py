"""The retrieval branches: BRANCHES, one line a branch; each turns what is asked in one round into what it found."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from agents.models.limits import ANY_TURN, Turn
from agents.off_loop import off_loop
from agents.result import Result
from agents.sql_writer import MODEL_VISITS, SqlTask, tried
from agents.team import Team
from config.settings import Settings
from records.errors import ConfigError, ToolError
from records.evidence import Found
from records.turn import Earlier, Reading, Rewrite, Understanding
from semantics.understand import understand as understand_question
from stores.schema_sql import schema_sql
from tools import lexical as lexical_tool
from tools import sql as sql_tool
from tools import vector as vector_tool

if TYPE_CHECKING:
    from stores.catalog import Graph


@dataclass(frozen=True)
class Task:
    """One round of one branch; `earlier` is what the same branch found in earlier rounds of this turn, `conversation`
    are the turns before it that the question leans on, `search` other words to look for, where there are better ones.
    """

    question: str
    understanding: Understanding
    graph: Graph
    round: int
    earlier: tuple[Found, ...]
    top_k: int
    team: Team
    settings: Settings
    conversation: tuple[Earlier, ...] = ()
    turn: Turn = ANY_TURN
    search: str = ""


@dataclass(frozen=True)
class Branch:
    """`look` does the work and may raise; `lacks` says why a graph can't be asked this way, or ""; `fresh` whether a
    further round would try something new, given what the branch found before and whether a model may write."""

    look: Callable[[Task], Awaitable[Result[Found]]]
    lacks: Callable[[Graph], str]
    fresh: Callable[[Understanding, Sequence[Found], bool], bool]


async def _sql(task: Task) -> Result[Found]:
    tables, seconds, rows = task.graph.tables, task.settings.branch_seconds, task.settings.row_limit

    async def run_other(reading: Reading, index: int = 0) -> Found:
        running = off_loop(sql_tool.run_reading, reading, index, tables, round=task.round)
        return await asyncio.wait_for(running, seconds)

    async def run_reading(index: int) -> Found:
        return await run_other(task.understanding.readings[index], index)

    async def understand(question: str) -> Understanding:
        return await off_loop(understand_question, Rewrite(question), task.graph.schema, task.graph.lexicon)

    async def run_written(text: str) -> Found:
        def run() -> Found:
            # sqlglot is slow to import, and the rules do without it
            from tools.written import run_written

            return run_written(text, tables, round=task.round, limit=rows)

        return await asyncio.wait_for(off_loop(run), seconds)

    names = task.graph.lexicon.entities
    job = SqlTask(
        task.question,
        task.understanding,
        task.graph.schema,
        task.earlier,
        run_reading,
        run_written,
        run_other,
        understand,
        describe=partial(schema_sql, tables),
        relation_of=lambda thing: names[thing][0].relation if thing in names else "",
        conversation=task.conversation,
        turn=task.turn,
    )
    return await task.team.sql_writer(job)


async def _vector(task: Task) -> Result[Found]:
    vectors, passages = task.graph.vectors, task.graph.passages
    if vectors is None or passages is None:
        raise ToolError("unavailable", lacks_vectors(task.graph))
    text, limit = _text(task)
    looking = off_loop(vector_tool.search, vectors, passages, text, task.question, round=task.round, limit=limit)
    try:
        return Result(await asyncio.wait_for(looking, task.settings.branch_seconds))
    except ConfigError as error:
        raise ToolError("unavailable", str(error)) from error


async def _lexical(task: Task) -> Result[Found]:
    lexical, passages = task.graph.lexical, task.graph.passages
    if lexical is None or passages is None:
        raise ToolError("unavailable", lacks_lexical(task.graph))
    text, limit = _text(task)
    looking = off_loop(lexical_tool.search, lexical, passages, text, task.question, round=task.round, limit=limit)
    return Result(await asyncio.wait_for(looking, task.settings.branch_seconds))


def _text(task: Task) -> tuple[str, int]:
    """What to look for and how far: the question; from the second round on other words for it or its names, further."""
    if task.search:
        return task.search, task.top_k * 2
    labels = list(dict.fromkeys(mention.label for mention in task.understanding.mentions))
    if task.earlier and labels:
        return " ".join(labels), task.top_k * 2
    return task.question, task.top_k * (2 if task.earlier else 1)


def lacks_vectors(graph: Graph) -> str:
    """Why `vector` can't be asked, or ""."""
    if graph.vectors is not None and graph.passages is not None:
        return ""
    return graph.unavailable.get("vector") or f"not built. Run: nacre index --graph {graph.name}"


def lacks_lexical(graph: Graph) -> str:
    """Why `lexical` can't be asked, or ""."""
    if graph.lexical is not None and graph.passages is not None:
        return ""
    return graph.unavailable.get("lexical") or f"not built. Run: nacre index --graph {graph.name}"


def _next_reading(understanding: Understanding, earlier: Sequence[Found], by_model: bool) -> bool:
    # a model may write a query where the rules have no reading
    return tried(understanding, earlier) < len(understanding.readings) or (by_model and len(earlier) < MODEL_VISITS)


def _wider(understanding: Understanding, earlier: Sequence[Found], by_model: bool) -> bool:
    return len(earlier) < 2


BRANCHES: dict[str, Branch] = {
    "sql": Branch(_sql, lambda graph: "", _next_reading),
    "vector": Branch(_vector, lacks_vectors, _wider),
    "lexical": Branch(_lexical, lacks_lexical, _wider),
}
