"""The prompts for writing queries: TurnView + Database + the rules' rows -> messages, the fixed prefix first."""

from collections.abc import Sequence

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from agents.answering.selection.rows import row_probability
from agents.database import Database, Language
from agents.models.limits import Limits
from agents.prompt import prompt
from agents.query_writing.doubts import preview_rows
from agents.query_writing.linked_names import linked_name_lines
from agents.query_writing.query_text import query_text
from agents.query_writing.schema_text import relevant_classes, relevant_tables, whole_schema
from agents.query_writing.verified_examples import verified_example_lines
from agents.run_in_thread import run_in_thread
from agents.turn_view import TurnView
from nacre.language.sanitize import quote_line, quote_lines
from nacre.records.evidence import BranchResult, Rows
from nacre.records.look_up import LookUp
from nacre.records.turn import EarlierTurn

TURNS_SHOWN = 3
LONGEST_ANSWER = 500
# less likely readings are not shown (given)
WORTH_SHOWING = 0.3
READINGS_SHOWN = 2
# look-ups that were not run, as they are named to the model
LOOK_UPS_SHOWN = 4
LONGEST_LOOK_UP = 100


async def query_messages(
    view: TurnView,
    database: Database,
    drafts: BranchResult | None,
    limits: Limits,
    *,
    small: bool,
    typed: bool = False,
) -> list[BaseMessage]:
    """The messages of one question. If all tables fit into the prefix, a server caches them for all questions. With
    `typed`, the model gets the question as typed, and makes it stand alone itself."""
    every, tables = await run_in_thread(whole_schema, database.schema, limits.schema_tokens, database.describe), ""
    if every is None:
        part = await run_in_thread(
            relevant_tables if database.language == "sql" else relevant_classes,
            view.understanding,
            database.schema,
            database.lexicon,
            limits.schema_tokens,
            database.describe,
        )
        tables = f"<schema>\n{quote_lines(part)}\n</schema>\n"
    examples = await run_in_thread(verified_example_lines, view.understanding, database, limits.example_tokens)
    turn = prompt(
        "query_writer_turn",
        tables=tables,
        examples=_tagged("examples", examples),
        conversation=_conversation(view, typed=typed),
        names=_tagged("names", await linked_name_lines(view.understanding, database)),
        readings=_tagged("readings", _readings(view, drafts)),
        question=quote_line(view.question if typed else view.standalone),
    )
    return [SystemMessage(query_prefix(every, small=small, language=database.language)), HumanMessage(turn)]


def _tagged(name: str, lines: Sequence[str]) -> str:
    return f"<{name}>\n{chr(10).join(lines)}\n</{name}>\n" if lines else ""


def query_prefix(tables: str | None, *, small: bool, language: Language = "sql") -> str:
    """The prefix of every prompt about a graph, byte for byte the same: all tables if they fit."""
    name = f"query_writer{'_small' if small else ''}{'' if language == 'sql' else '_sparql'}"
    shown = "The tables are" if language == "sql" else "The classes and properties are"
    return prompt(name, schema=quote_lines(tables or f"{shown} named with each question."))


def look_up_message(seen: Sequence[tuple[LookUp, str]], left_out: Sequence[LookUp], left: int) -> str:
    """The results of look-ups as a message, with those that were not run, and how many answers are left."""
    parts = [f"{_look_up_words(each)}:\n{quote_lines(text)}" for each, text in seen]
    return f"<seen>\n{_lines(parts)}\n</seen>\n{_not_run(left_out)}Now answer the question. {_answers_left(left)}"


def feedback_message(ran: Sequence[BranchResult], why: str, left_out: Sequence[LookUp], left: int) -> str:
    """The rows of queries and the doubt about them as a message."""
    parts = [
        f"{quote_line(query.text)[:300]}\n{_rows_or_error(found)}" for found in ran for query in found.queries[-1:]
    ]
    rows = f"<rows>\n{_lines(parts)}\n</rows>\n"
    return f"{rows}{quote_line(why)}\n{_not_run(left_out)}Give a corrected answer. {_answers_left(left)}"


def _lines(parts: Sequence[str]) -> str:
    return "\n".join(parts)


def _not_run(left_out: Sequence[LookUp]) -> str:
    """A line with the look-ups that were asked for and not run."""
    shown = [_look_up_words(each)[:LONGEST_LOOK_UP] for each in left_out[:LOOK_UPS_SHOWN]]
    more = f" and {len(left_out) - len(shown)} more" if len(left_out) > len(shown) else ""
    return f"Not looked up: {'; '.join(shown)}{more}.\n" if left_out else ""


def _answers_left(left: int) -> str:
    return "This is your last answer: no more look-ups." if left <= 1 else f"You have {left} answers left."


def _rows_or_error(found: BranchResult) -> str:
    if found.error is not None:
        return f"error: {quote_line(found.error.message)}"
    return "\n".join(quote_lines(preview_rows(each.table)) for each in found.rows) or "no rows"


def _look_up_words(look: LookUp) -> str:
    where = ".".join(part for part in (look.table, look.column) if part)
    return " ".join(quote_line(part) for part in (look.kind, where, f"like '{look.text}'" if look.text else "") if part)


def _conversation(view: TurnView, *, typed: bool) -> str:
    """The turns before this one with their queries, and how the rules understand the question. With `typed`, the model
    is asked to make it stand alone."""
    lines = [_turn(turn) for turn in view.conversation[-TURNS_SHOWN:]]
    differs = view.rewrite.depends and view.question != view.standalone
    if differs and not typed:
        lines.append(f"Now asked: {quote_line(view.question)} (understood as below, which may be wrong)")
    if not lines:
        return ""
    shown = f"<conversation>\n{chr(10).join(lines)}\n</conversation>\n"
    if not typed:
        return shown
    draft = f" A program reads it as: {quote_line(view.standalone)}" if differs else ""
    return f"{shown}{prompt('follow_up')}{draft}\n"


def _turn(turn: EarlierTurn) -> str:
    answer = quote_line(turn.answer)
    cut = "..." if len(answer) > LONGEST_ANSWER else ""
    queries = [
        quote_line(query_text(each.query))
        for each in turn.evidence
        if isinstance(each, Rows) and each.query is not None
    ]
    ran = f"\nQuery: {queries[0][:LONGEST_ANSWER]}" if queries else ""
    return f"Question: {quote_line(turn.standalone)}{ran}\nAnswer: {answer[:LONGEST_ANSWER]}{cut}"


def _readings(view: TurnView, drafts: BranchResult | None) -> list[str]:
    """The likely readings of the rules in words, with probabilities and rows."""
    likely = sorted(drafts.rows if drafts else (), key=lambda each: -row_probability(view.understanding, each))
    return [
        _reading(each, row_probability(view.understanding, each))
        for each in likely[:READINGS_SHOWN]
        if row_probability(view.understanding, each) >= WORTH_SHOWING
    ]


def _reading(rows: Rows, likely: float) -> str:
    return f"({likely:.0%} sure) {quote_line(rows.words)[:200]}\n{quote_lines(preview_rows(rows.table, 3))}"
