"""Let a model decide between two candidates with different rows: question + Rows + Rows -> the right one, or None."""

from typing import Literal

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import BaseModel

from agents.models.calls import ModelFailed, structured_reply
from agents.models.limits import Limits
from agents.prompt import prompt
from agents.query_writing.doubts import preview_rows
from agents.query_writing.query_text import query_text
from agents.result import Result
from nacre.language.forms.nouns import number_with_noun
from nacre.language.sanitize import quote_line, quote_lines
from nacre.records.evidence import Rows, Table

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
