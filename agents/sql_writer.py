"""Choose or write the query of a round, and run it: SqlTask -> Found."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from pydantic import BaseModel, Field

from agents.answering.agreement import say_the_same
from agents.answering.clarify import near
from agents.answering.trust import DOUBTED, FULL, UNLIKELY, covered, is_empty, is_in_doubt
from agents.links import links
from agents.models.calls import ModelFailed, structured
from agents.models.limits import ANY_TURN, Limits, Turn
from agents.plain import quoted, quoted_lines
from agents.prompt import prompt
from agents.result import Result
from agents.rewording import Understand, reworded
from agents.schema_text import Describe, relevant, whole
from records.evidence import Evidence, Found, Query, QueryError, Table
from records.schema import Schema
from records.turn import Earlier, Expected, Reading, Understanding

MODEL_VISITS = 1
DRAFTS = 3
LONGEST_DRAFT = 200
KINDS: dict[Expected, str] = {"number": "a number", "date": "a date", "entities": "names"}


@dataclass(frozen=True)
class SqlTask:
    """One round of the branch: what it found in `earlier` rounds, and the ways to run something.

    `run_reading` takes the index of a reading, `run_other` a reading of other words, `run_written` the text of a
    SELECT; none raises for a failing query. `understand` reads a question, `describe` writes tables as CREATE
    statements, `relation_of` gives the table of a thing, by IRI. `conversation` are the turns that it leans on.
    """

    question: str
    understanding: Understanding
    schema: Schema
    earlier: tuple[Found, ...]
    run_reading: Callable[[int], Awaitable[Found]]
    run_written: Callable[[str], Awaitable[Found]]
    run_other: Callable[[Reading], Awaitable[Found]]
    understand: Understand
    describe: Describe
    relation_of: Callable[[str], str]
    conversation: tuple[Earlier, ...] = ()
    turn: Turn = ANY_TURN


SqlWriter = Callable[[SqlTask], Awaitable[Result[Found]]]


class Written(BaseModel):
    """One SQLite SELECT."""

    sql: str = Field(min_length=6, max_length=4000)


async def by_rules(task: SqlTask) -> Result[Found]:
    """The best reading that no earlier round tried; in the first round with those that are as likely."""
    index = tried(task.understanding, task.earlier)
    if index < len(task.understanding.readings):
        found = await task.run_reading(index)
        for other in range(1, near(task.understanding) if not index else 0):
            found = _beside(found, await task.run_reading(other))
        return Result(found)
    said = "no other way to read it" if index else "it can't be read as a query"
    return Result(Found("sql", error=QueryError("empty", f"The question gives no query: {said}.")))


def tried(understanding: Understanding, earlier: Sequence[Found]) -> int:
    """How many readings earlier rounds used up: a store that broke may answer when asked again."""
    rounds = sum(found.error is None or found.error.kind != "unavailable" for found in earlier)
    gave = [each.reading for found in earlier for each in found.evidence if each.reading is not None]
    return max([rounds - 1 + near(understanding), *(index + 1 for index in gave)]) if rounds else 0


def _beside(first: Found, other: Found) -> Found:
    evidence = first.evidence + other.evidence
    return replace(
        first, evidence=evidence, queries=first.queries + other.queries, error=None if evidence else first.error
    )


def by_model(model: BaseChatModel, rules: SqlWriter, limits: Limits) -> SqlWriter:
    """The rules' reading; where that is in doubt, the question in the model's other words; at last a SELECT of it.

    Rows of the model count where there are any and they are of the kind that was asked for. Where they say the same as
    the rules' rows, these are confirmed.
    """

    async def sql_writer(task: SqlTask) -> Result[Found]:
        drafted = await rules(task)
        found = drafted.value
        if len(task.earlier) >= MODEL_VISITS or not is_in_doubt(task.understanding, found.evidence):
            return drafted
        for index in _likely(task.understanding):
            # a further reading costs milliseconds, a model seconds
            found = _beside(found, await task.run_reading(index))
            if not is_in_doubt(task.understanding, found.evidence):
                return Result(found)
        try:
            bounds = limits.of(task.turn)
            other, spent = await reworded(model, task.understanding, task.schema, task.understand, bounds)
        except ModelFailed as failed:
            return Result(found, f"rules after model: {failed.why}", failed.usage)
        read = await _read(task, other, found.evidence) if other else None
        if read is not None:
            return Result(_together(found, [read], read), "model", spent)
        drafts = [found, *[await task.run_reading(i) for i in _further(task.understanding, found)]]
        written = await select(model, task, found, drafts, limits)
        return replace(written, usage=spent + written.usage)

    return sql_writer


async def select(
    model: BaseChatModel, task: SqlTask, found: Found, drafts: Sequence[Found], limits: Limits
) -> Result[Found]:
    """What the rules found together with the rows of a SELECT by the model, which is told what was wrong with it."""
    ran, given = list[Found](), list[str]()

    async def refuse(written: Written) -> str | None:
        given.append(written.sql)
        if written.sql in given[:-1]:
            # what went wrong once goes wrong again
            return None
        ran.append(await task.run_written(written.sql))
        return unfit(task.understanding, ran[-1])

    messages = _messages(task, drafts, limits)
    try:
        _, usage = await structured(model, messages, Written, limits=limits.of(task.turn), refuse=refuse)
    except ModelFailed as failed:
        return Result(_together(found, ran, None), f"rules after model: {failed.why}", failed.usage)
    if len(given) > len(ran):
        return Result(_together(found, ran, None), "rules after model: it gave the same query again", usage)
    return Result(_together(found, ran, ran[-1]), "model", usage)


async def _read(task: SqlTask, other: Understanding, seen: Sequence[Evidence]) -> Found | None:
    """The rows of the question in other words; None where they are none, or it is understood no better than before."""
    reading = other.readings[0]
    found = await task.run_other(reading)
    evidence = tuple(replace(each, reading=None, read=reading) for each in found.evidence)
    said = f" (in other words: {other.standalone})"
    queries = tuple(replace(query, words=query.words + said, by="model") for query in found.queries)
    read = replace(found, evidence=evidence, queries=queries, by="model")
    # a word that names nothing must not get lost on the way
    least = FULL if task.understanding.unknown else DOUBTED
    before = [covered(task.understanding, each) for each in seen if each.table and not is_empty(each.table)]
    return None if unfit(task.understanding, read) or reading.covered < max([least, *before]) else read


def unfit(understanding: Understanding, found: Found) -> str | None:
    """Why what a model's query gave is no answer; None where it may be one."""
    if found.error is not None:
        return found.error.message
    table = next((each.table for each in found.evidence if each.table is not None), None)
    if table is None or is_empty(table):
        return "It ran and gave no rows. Check the names and the joins, or ask in another way."
    if not is_of_kind(understanding.expected, table):
        return f"It ran, but the question asks for {KINDS[understanding.expected]}, and no column shows that."
    return None


def is_of_kind(expected: Expected, table: Table) -> bool:
    """Whether rows can hold what was asked for.

    >>> is_of_kind("number", Table(("n",), ((3,),))), is_of_kind("number", Table(("name",), (("Oslo",),)))
    (True, False)
    """
    cells = [cell for row in table.rows for cell in row if cell is not None]
    if expected == "number":
        return any(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in cells)
    if expected in ("entities", "date"):
        return any(isinstance(cell, str) or (expected == "date" and isinstance(cell, int)) for cell in cells)
    return bool(cells)


def _likely(understanding: Understanding) -> range:
    """The readings behind those that are as likely as the best, but not much less likely."""
    readings = understanding.readings
    likely = [i for i, each in enumerate(readings) if readings[0].score - each.score <= UNLIKELY]
    return range(near(understanding), max(likely, default=-1) + 1)


def _further(understanding: Understanding, found: Found) -> list[int]:
    """The next best readings, shown as drafts besides those that were run."""
    first = tried(understanding, (found,))
    return list(range(first, len(understanding.readings)))[: DRAFTS - 1]


def _together(draft: Found, ran: list[Found], fit: Found | None) -> Found:
    """The rules' finding and what the model found, if it is fit, as one; all queries that were tried."""
    queries = (*draft.queries, *(query for part in ran for query in part.queries))
    if fit is None:
        error = next((part.error for part in reversed(ran) if part.error), None) or draft.error
        return Found("sql", draft.evidence, queries, None if draft.evidence else error, by="model" if ran else draft.by)
    confirmed = tuple(replace(each, confirmed=True) for each in draft.evidence if _says_the_same(each, fit))
    if confirmed:
        others = tuple(each for each in draft.evidence if not _says_the_same(each, fit))
        return Found("sql", (*confirmed, *others), queries, by="model")
    return Found("sql", (*draft.evidence, *fit.evidence), queries, by="model")


def _says_the_same(drafted: Evidence, fit: Found) -> bool:
    if drafted.table is None or is_empty(drafted.table):
        return False
    return any(each.table is not None and say_the_same(drafted.table, each.table) for each in fit.evidence)


def _messages(task: SqlTask, drafted: Sequence[Found], limits: Limits) -> list[BaseMessage]:
    found = links(task.understanding, task.schema, task.relation_of)
    drafts = dict.fromkeys(line for part in (*task.earlier, *drafted) for line in _drafts(part))
    said = _conversation(task.conversation)
    return asking(task.understanding, task.schema, task.describe, limits, found, list(drafts), said)


def asking(
    understanding: Understanding,
    schema: Schema,
    describe: Describe,
    limits: Limits,
    found: Sequence[str] = (),
    drafts: Sequence[str] = (),
    conversation: str = "",
) -> list[BaseMessage]:
    """The fixed head first: where all tables fit into it, a server reads it once for all questions."""
    every, tables = whole(schema, limits.schema_tokens, describe), ""
    if every is None:
        shown = relevant(understanding, schema, limits.schema_tokens, describe)
        tables = f"<schema>\n{quoted_lines(shown)}\n</schema>\n"
    turn = prompt(
        "sql_writer_turn",
        tables=tables,
        conversation=conversation,
        links="\n".join(found) or "none",
        drafts="\n".join(drafts) or "none",
        question=quoted(understanding.standalone),
    )
    return [SystemMessage(head(every)), HumanMessage(turn)]


def head(tables: str | None) -> str:
    """What every prompt about a graph begins with, byte for byte: all tables, where they fit."""
    return prompt("sql_writer", schema=quoted_lines(tables or "The tables are named with each question."))


def _conversation(earlier: Sequence[Earlier]) -> str:
    if not earlier:
        return ""
    lines = [f"{quoted(turn.standalone)}\n{quoted(turn.answer)[:200]}" for turn in earlier[-1:]]
    return f"<conversation>\n{chr(10).join(lines)}\n</conversation>\n"


def _drafts(found: Found) -> list[str]:
    """What was tried, in words where it has any, and what it gave."""
    shown = {each.query: each.text for each in found.evidence if each.query is not None}
    return [
        f"- {quoted(query.words or _sql(query))[:LONGEST_DRAFT]}: {quoted(_gave(query, shown))[:LONGEST_DRAFT]}"
        for query in found.queries
        if query.text
    ]


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
