"""Choose or write the query of a round, and run it: SqlTask -> Found."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import BaseModel, Field

from agents.calls import Limits, ModelFailed, structured
from agents.plain import quoted
from agents.prompt import prompt
from agents.result import Result
from agents.schema_text import schema_text
from agents.trust import is_sure
from records.evidence import Found, Query, QueryError
from records.schema import Schema
from records.turn import Understanding

MODEL_VISITS = 2
DRAFTS = 3


@dataclass(frozen=True)
class SqlTask:
    """One round of the branch: what it found in `earlier` rounds, and the two ways to run something.

    `run_reading` takes the index of a reading, `run_written` the text of a SELECT; neither raises for a failing query.
    """

    question: str
    understanding: Understanding
    schema: Schema
    earlier: tuple[Found, ...]
    run_reading: Callable[[int], Awaitable[Found]]
    run_written: Callable[[str], Awaitable[Found]]


SqlWriter = Callable[[SqlTask], Awaitable[Result[Found]]]


class Written(BaseModel):
    """One SQLite SELECT."""

    sql: str = Field(min_length=6, max_length=4000)


async def by_rules(task: SqlTask) -> Result[Found]:
    """The best reading that no earlier round tried."""
    index = tried(task.earlier)
    if index < len(task.understanding.readings):
        return Result(await task.run_reading(index))
    said = "no other way to read it" if index else "it can't be read as a query"
    return Result(Found("sql", error=QueryError("empty", f"The question gives no query: {said}.")))


def tried(earlier: Sequence[Found]) -> int:
    """How many readings earlier rounds used up: a store that broke may answer when asked again."""
    return sum(found.error is None or found.error.kind != "unavailable" for found in earlier)


def by_model(model: BaseChatModel, rules: SqlWriter, limits: Limits) -> SqlWriter:
    """The rules' reading, and where that is not sure, a SELECT of the model, which sees all drafts and results."""

    async def sql_writer(task: SqlTask) -> Result[Found]:
        drafted = await rules(task)
        found = drafted.value
        if any(is_sure(task.understanding, each) for each in found.evidence) or len(task.earlier) >= MODEL_VISITS:
            return drafted
        if task.understanding.expected == "prose" and found.evidence:
            return drafted
        ran: list[Found] = []

        async def refuse(written: Written) -> str | None:
            ran.append(await task.run_written(written.sql))
            return ran[-1].error.message if ran[-1].error else None

        messages = [
            SystemMessage(prompt("sql_writer", schema=schema_text(task.schema, limits.schema_tokens))),
            HumanMessage(_turn(task, found)),
        ]
        try:
            _, usage = await structured(model, messages, Written, limits=limits, refuse=refuse)
        except ModelFailed as failed:
            return Result(_together(found, ran), f"rules after model: {failed.why}", failed.usage)
        return Result(_together(found, ran), "model", usage)

    return sql_writer


def _together(draft: Found, ran: list[Found]) -> Found:
    """The rules' finding and all that the model tried, as one; it failed only if nothing gave a table."""
    parts = [draft, *ran]
    evidence = tuple(each for part in parts for each in part.evidence)
    queries = tuple(query for part in parts for query in part.queries)
    error = None if evidence else next((part.error for part in reversed(parts) if part.error), None)
    return Found("sql", evidence, queries, error, by="model" if ran else draft.by)


def _turn(task: SqlTask, found: Found) -> str:
    mentions = task.understanding.mentions
    links = [f"- {quoted(mention.text)!r} = {mention.kind} {quoted(mention.label)!r}" for mention in mentions]
    parts = [*task.earlier, found]
    drafts = [line for part in parts for line in _drafts(part)][-DRAFTS:]
    return prompt(
        "sql_writer_turn",
        links="\n".join(links) or "- none",
        drafts="\n".join(drafts) or "- none",
        question=quoted(task.question),
    )


def _drafts(found: Found) -> list[str]:
    shown = {each.query: each.text for each in found.evidence if each.query is not None}
    return [f"- {_sql(query)}\n  gave: {quoted(_gave(query, shown))[:200]}" for query in found.queries if query.text]


def _gave(query: Query, shown: dict[Query, str]) -> str:
    if query.error is not None:
        return f"error: {query.error.message}"
    return f"{query.rows} rows. {shown.get(query, '')}" if query.rows else "no rows"


def _sql(query: Query) -> str:
    """The query with its parameters in their places."""
    parts = query.text.split("?")
    if len(parts) != len(query.params) + 1:
        return query.text
    values = [_literal(value) for value in query.params]
    return "".join(part + value for part, value in zip(parts, [*values, ""], strict=True))


def _literal(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool | int | float):
        return str(int(value) if isinstance(value, bool) else value)
    return "'" + quoted(str(value)).replace("'", "''") + "'"
