"""Let a model write queries until there is no doubt about their rows: TurnView + Database -> QueryAttempts.

Then let a model decide between two candidates with different rows: question + Rows + Rows -> the right one, or None.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from pydantic import BaseModel, ConfigDict, Field

from agents.model_calls import CHARACTERS_PER_TOKEN, Limits, ModelFailed, plain_schema, prompt, structured_reply
from agents.model_priors import Priors
from agents.turn_view import NO_USAGE, Database, Result, TurnView, Usage
from nacre.extensions.model_agents.doubts import EMPTY, compared_texts, find_doubt, preview_rows
from nacre.extensions.model_agents.look_up import occurrence_line
from nacre.extensions.model_agents.query_prompt import feedback_message, look_up_message, query_messages, query_text
from nacre.extensions.model_agents.rewriter import is_of_conversation
from nacre.language.sanitize import quote_line, quote_lines
from nacre.language.tokens import ENGLISH, tokenize
from nacre.language.translation import gloss_words
from nacre.language.word_forms import number_with_noun
from nacre.records.evidence import AnswerForm, BranchResult, LookUp, Query, Rows, Table

MOST_LOOK_UPS = 4

# characters of all look-ups of an answer, and tokens of all prompts of a question, beyond which no look-up and no doubt
# starts another call (given: docs/models.md)
MAX_SEEN, MAX_TOKENS = 6000, 8000

MOST_QUERIES = 4

# rows that the names of a meaning are looked for in
MOST_ROWS_READ = 50

_SPANS_FROM_ZERO = re.compile(r"(?<![0-9])0[0-9]{1,4}(?![0-9])")


class LookUpRequest(BaseModel):
    """One thing to see before the query is written."""

    model_config = ConfigDict(json_schema_extra=plain_schema)

    kind: Literal["values", "rows", "columns", "passages"]
    table: str = Field(max_length=200)
    column: str = Field(max_length=200)
    text: str = Field(max_length=200)


class Step(BaseModel):
    """What is asked for, and the queries for it, or what must be seen first."""

    model_config = ConfigDict(json_schema_extra=plain_schema)

    wants: AnswerForm
    look_ups: list[LookUpRequest] = Field(max_length=20)
    queries: list[str] = Field(max_length=20)
    meaning: str = Field(max_length=300)
    missing: str = Field(max_length=300)


class FollowUpStep(Step):
    """The same for a question that may refer to the conversation, or that is in another language."""

    standalone: str = Field(default="", max_length=1000)


class SqlReply(BaseModel):
    """One SQLite SELECT: what a small model is asked for."""

    sql: str = Field(min_length=6, max_length=4000)


class SparqlReply(BaseModel):
    """The same in SPARQL."""

    sparql: str = Field(min_length=6, max_length=4000)


@dataclass(frozen=True)
class QueryAttempts:
    """The outcome: the form of answer the model wants, the follow-up as it understood it, the results of its last
    queries, all queries tried, and the usage."""

    standalone: str = ""
    wants: AnswerForm | None = None
    missing: str = ""
    ran: tuple[BranchResult, ...] = ()
    tried: tuple[Query, ...] = ()
    doubted: bool = False
    usage: Usage = field(default=NO_USAGE)
    failed: str = ""


async def write_queries(
    model: BaseChatModel,
    view: TurnView,
    database: Database,
    drafts: BranchResult | None,
    limits: Limits,
    priors: Priors,
) -> QueryAttempts:
    """Let the model look up and write, show it the rows, and let it write again, at most `limits.exchanges` times."""
    small = priors.size == "small"
    is_foreign = bool(view.rewrite.gloss) or view.rewrite.is_unread
    typed = priors.size == "large" and (is_foreign or (bool(view.conversation) and view.language == ENGLISH))
    follows = typed and not database.wants_query
    conversation: list[BaseMessage] = await query_messages(view, database, drafts, limits, small=small, typed=typed)
    short: type[SqlReply | SparqlReply] = SqlReply if database.language == "sql" else SparqlReply
    shape: type[Step | SqlReply | SparqlReply] = short if small else FollowUpStep if follows else Step
    done, spent, left = QueryAttempts(), 0, limits.exchanges
    before: tuple[object, str | None] = (None, None)
    while left:
        left, spent = left - 1, spent + _prompt_tokens(conversation)
        try:
            answer, usage = await structured_reply(model, conversation, shape, limits=limits)
        except ModelFailed as failed:
            return replace(done, usage=done.usage + failed.usage, failed="" if done.ran else failed.why)
        step = _to_step(answer)
        done = replace(done, usage=done.usage + usage, wants=step.wants if not small else None, missing=step.missing)
        if isinstance(step, FollowUpStep) and (is_of_conversation(step.standalone, view) or view.rewrite.is_unread):
            done = replace(done, standalone=" ".join(step.standalone.split()))
        look_ups = [LookUp(each.kind, each.table, each.column, each.text) for each in step.look_ups]
        conversation = [*conversation, AIMessage(answer.model_dump_json())]
        if look_ups and not step.queries and left:
            asked, others = look_ups[:MOST_LOOK_UPS], look_ups[MOST_LOOK_UPS:]
            seen = [(each, (await database.look_up(each))[: MAX_SEEN // len(asked)]) for each in asked]
            # what is left to write with must be told before the model looks up more
            length = _prompt_tokens([*conversation, HumanMessage(look_up_message(seen, others, left))])
            left = max(1, min(left, (MAX_TOKENS - spent) // length))
            conversation = [*conversation, HumanMessage(look_up_message(seen, others, left))]
            continue
        done, repeated = await _with_rows(view, database, done, step)
        ran, is_large = done.ran if step.queries else (), priors.size == "large"
        why = find_doubt(view, done.wants, ran, database.schema, done.standalone, is_large=is_large)
        done = replace(done, doubted=bool(why))
        tables = [[each.table.rows for each in part.rows] for part in done.ran]
        has_failed = any(part.error is not None for part in done.ran)
        if has_failed and not any(map(any, tables)) and done.usage.calls < limits.exchanges:
            # an error alone is worth another call, however long the prompts are
            left = max(left, 1)
        if not why or not left or repeated or (not has_failed and (tables, why) == before):
            # the same rows are not doubted again for the same reason
            break
        before = tables, why
        near = await database.occurrences(compared_texts(done.ran)) if why == EMPTY else []
        message = feedback_message(done.ran, why, look_ups, left, list(map(occurrence_line, near)))
        conversation = [*conversation, HumanMessage(message)]
        if any(map(any, tables)) and not has_failed and spent + _prompt_tokens(conversation) > MAX_TOKENS:
            break
    return done


async def _with_rows(view: TurnView, database: Database, done: QueryAttempts, step: Step) -> tuple[QueryAttempts, bool]:
    """The attempts with the results of the queries of a step, and whether all of these were run before."""
    earlier = {query.text for query in done.tried}
    # several queries are described by their columns
    words = step.meaning if len(step.queries) == 1 else ""
    asked = " ".join((view.question, view.standalone, done.standalone))
    results = [await database.query(query, asked, view.names) for query in step.queries[:MOST_QUERIES]]
    ran = tuple(_with_meaning(found, words, view) for found in results)
    if step.wants == "yes_no":
        ran = tuple(replace(found, evidence=tuple(map(_truth_rows, found.rows))) for found in ran)
    tried = tuple(query for part in ran for query in part.queries)
    is_repeated = all(query.text in earlier for query in tried)
    return replace(done, ran=ran or done.ran, tried=(*done.tried, *tried)), is_repeated


def _prompt_tokens(messages: Sequence[BaseMessage]) -> int:
    return sum(len(str(each.content)) for each in messages) // CHARACTERS_PER_TOKEN


def _to_step(answer: Step | SqlReply | SparqlReply) -> Step:
    if isinstance(answer, Step):
        return answer
    query = answer.sql if isinstance(answer, SqlReply) else answer.sparql
    return Step(wants="text", look_ups=[], queries=[query], meaning="", missing="")


def _truth_rows(rows: Rows) -> Rows:
    """Rows whose first cell is a yes or no if it is 1 or 0 in a single row; further cells decide it."""
    table = rows.table
    if len(table.rows) != 1 or table.rows[0][0] not in (0, 1):
        return rows
    units = ("", *table.units[1:]) if table.units else ()
    return replace(rows, table=replace(table, columns=("yes", *table.columns[1:]), units=units))


def _with_meaning(found: BranchResult, words: str, view: TurnView) -> BranchResult:
    """The result with the meaning that the model gives its query; the words of a repair stay."""
    words = " ".join(words.split())
    if not words or any(query.words for query in found.queries):
        return found
    queries = tuple(replace(query, words=words) for query in found.queries)
    renamed = dict(zip(found.queries, queries, strict=True))
    evidence = (
        replace(
            each,
            words=words,
            meaning=words if _is_supported(words, each, view) else "",
            query=each.query and renamed[each.query],
        )
        for each in found.rows
    )
    return replace(found, queries=queries, evidence=tuple(evidence))


def _is_supported(words: str, rows: Rows, view: TurnView) -> bool:
    """Whether each name and number of a meaning stands in the question, its mentions, the query, its table or the turns
    before. The "0" of "from 0 to 60" may be written "060" in the name of a column. A noun in capitals is no name."""
    cells = [str(cell) for row in rows.table.rows[:MOST_ROWS_READ] for cell in row if cell is not None]
    turns = [text for turn in view.conversation for text in (turn.standalone, turn.answer)]
    query = rows.query.text if rows.query else ""
    labels = [mention.label for mention in (*view.understanding.mentions, *view.understanding.candidates)]
    texts = (view.question, view.standalone, query, *labels, *rows.table.columns, *cells, *turns)
    known = {token.norm for text in texts for token in tokenize(text)}
    spans = _SPANS_FROM_ZERO.findall(query)
    known |= {part for span in spans for part in (span[0], span[1:])}
    names = [each for each in tokenize(words) if any(not c.islower() for c in each.text if c.isalnum())]
    code = view.rewrite.gloss
    return all(each.norm in known or bool(code and gloss_words([each.text], code)) for each in names)


ROWS_SHOWN = 5

LONGEST_QUERY = 800


class Choice(BaseModel):
    """Which of two queries answers the question."""

    right: Literal["A", "B", "neither"]


async def choose_candidate(
    model: BaseChatModel, question: str, first: Rows, second: Rows, limits: Limits
) -> Result[Rows | None]:
    """The candidate that the model calls right after it saw what each has and the other lacks; None if neither is, or
    if the model failed."""
    turn = prompt(
        "second_opinion_turn",
        first=_candidate(first, second),
        second=_candidate(second, first),
        question=quote_line(question),
    )
    messages = [SystemMessage(prompt("second_opinion")), HumanMessage(turn)]
    try:
        answer, usage = await structured_reply(model, messages, Choice, limits=limits)
    except ModelFailed as failed:
        return Result(None, "rules", failed.usage)
    return Result({"A": first, "B": second}.get(answer.right), "model", usage)


def _candidate(own: Rows, other: Rows) -> str:
    """A candidate in lines: its meaning, its query, and the rows that the other one lacks."""
    described = [own.words, query_text(own.query) if own.query else ""]
    lines = [quote_line(text)[:LONGEST_QUERY] for text in described if text]
    lacking = _rows_without(own.table, other.table)
    count = number_with_noun(len(own.table.rows), "row")
    same = " None is missing in the other." if not lacking.rows else " Only here:"
    lines.append(f"{count}.{same}")
    return "\n".join(lines) + (f"\n{quote_lines(preview_rows(lacking, ROWS_SHOWN))}" if lacking.rows else "")


def _rows_without(table: Table, other: Table) -> Table:
    """The rows that have a cell which no row of the other table has; all rows if the tables have other columns."""
    known = {_cell(cell) for row in other.rows for cell in row}
    rows = tuple(row for row in table.rows if any(cell is not None and _cell(cell) not in known for cell in row))
    return Table(table.columns, rows)


def _cell(cell: object) -> str:
    return f"{float(cell):.6g}" if isinstance(cell, int | float) else str(cell).casefold()
