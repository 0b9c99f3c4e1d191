"""What remains of turns: the end of a turn's event stream -> the answer record.

Export: a conversation -> Markdown; the rows of a citation -> CSV."""

import csv
import io
import re
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any, cast

from nacre.records.answer import Answer, Citation, Value
from nacre.stores.state.conversations import Conversation, Turn

# spreadsheets run a cell with this first character, also as wide as a Chinese one, as a formula, and those of many
# countries begin a cell after a semicolon too
FORMULA_START = re.compile(r"^(?=[\t\r\n])|(?:^|(?<=[;\t]))(?=[=+\-@\uff1d\uff0b\uff0d\uff20])")

MARKDOWN_SYMBOLS = re.compile(r"([\\`*_\[\]<>#|])")


def conversation_markdown(conversation: Conversation, turns: Sequence[Turn]) -> str:
    """Questions, answers and citations of a conversation as Markdown."""
    start_date = time.strftime("%Y-%m-%d", time.gmtime(conversation.created))
    lines = [
        f"# {escape_markdown(conversation.title or 'A conversation')}",
        "",
        f"About the graph {conversation.graph}, {start_date}.",
        "",
    ]
    for turn in turns:
        record = turn.record
        lines += [f"## {escape_markdown(record['question'])}", ""]
        if record["standalone"] != record["question"]:
            lines += [f"Understood as: {escape_markdown(record['standalone'])}", ""]
        lines += [escape_markdown(record["answer"]), ""]
        lines += [f"Note: {escape_markdown(caveat)}" for caveat in record["caveats"]]
        lines += [_citation_line(record, citation) for citation in record["citations"]]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _citation_line(record: Answer, citation: Citation) -> str:
    words = " ".join(citation["text"].split())
    line = f"- \\[{citation['n']}\\] {escape_markdown(citation['source'])}: {escape_markdown(words)}"
    if citation["query"] is not None:
        text = " ".join(record["queries"][citation["query"]]["text"].split())
        fence = "``" if "`" in text else "`"
        line += f"\n  {fence}{text}{fence}" if text else ""
    return line


def escape_markdown(text: str) -> str:
    r"""Text with Markdown's symbols escaped.

    >>> escape_markdown("*not* bold [1]")
    '\\*not\\* bold \\[1\\]'
    """
    return MARKDOWN_SYMBOLS.sub(r"\\\1", text)


def rows_csv(citation: Citation) -> str:
    """The rows of a citation as CSV; units stand in the header."""
    units = citation["units"] or [""] * len(citation["columns"])
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    heads = [f"{name} [{unit}]" if unit else name for name, unit in zip(citation["columns"], units, strict=True)]
    writer.writerow([csv_cell(head) for head in heads])
    writer.writerows([csv_cell(value) for value in row] for row in citation["rows"])
    return out.getvalue()


def answer_table(record: Answer) -> tuple[list[str], list[list[Value | None]]]:
    """The columns and rows of an answer; values without a table are one column."""
    if record["table"] is not None:
        return record["table"]["columns"], record["table"]["rows"]
    return [f"answer [{record['unit']}]" if record["unit"] else "answer"], [[value] for value in record["values"]]


def csv_cell(value: Value | None) -> Value:
    """A value as a CSV cell, with an apostrophe before what a spreadsheet would run."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return value
    try:
        float(value)
    except ValueError:
        return FORMULA_START.sub("'", value)
    return value


async def collect_record(events: AsyncGenerator[tuple[str, Any]]) -> Answer:
    """The record of a turn whose other events nobody needs; raises RuntimeError if the turn ends without one."""
    record: Answer | None = None
    async with aclosing(events):
        async for kind, payload in events:
            if kind == "answer":
                record = cast(Answer, payload)
    return require_record(record)


def require_record(record: Answer | None) -> Answer:
    """The record of a turn that has ended; raises RuntimeError if there is none."""
    if record is None:
        raise RuntimeError("the turn ended without an answer")
    return record
