"""What remains of turns: events -> the record -> Markdown, CSV, or what agents and other front ends get."""

import csv
import io
import re
import time
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel, Field

from nacre.errors import ConfigError
from nacre.records.answer import Answer, Citation, Option, TableRecord, Value
from nacre.records.threads import run_in_thread
from nacre.serving.keys import Caller
from nacre.stores.state.conversations import Conversation, Turn

if TYPE_CHECKING:
    from nacre.serving.turn_service import TurnService


# spreadsheets run a cell with this first character, also as wide as a Chinese one, after blanks or after a quotation
# mark, as a formula, and those of many countries begin a cell after a semicolon too, and a row after a line break
FORMULA_START = re.compile(
    r"^(?=[\t\r\n])|(?:^|(?<=[;\t-\r\x85\u2028\u2029]))"
    r'(?=[ "\xa0\u2000-\u200b\u202f\u3000\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20])'
)

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
    heads = [f"{name} [{unit}]" if unit else name for name, unit in zip(citation["columns"], units, strict=True)]
    return csv_text([heads, *citation["rows"]])


def answer_table(record: Answer) -> tuple[list[str], list[list[Value | None]]]:
    """The columns and rows of an answer; values without a table are one column."""
    if record["table"] is not None:
        return record["table"]["columns"], record["table"]["rows"]
    return [f"answer [{record['unit']}]" if record["unit"] else "answer"], [[value] for value in record["values"]]


def csv_text(rows: Iterable[Sequence[Value | None]]) -> str:
    """Rows, the first with the headings, as CSV."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerows(map(csv_cell, row) for row in rows)
    return out.getvalue()


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


MAX_KEYS = 20


class AgentCitation(BaseModel):
    """The evidence behind one [n] of an answer."""

    n: int
    source: str
    text: str
    basis: str
    query: str = Field(description="The query behind it, or an empty string.")
    keys: list[str] = Field(description="IRIs of the things behind it, 20 at most.")


class AgentAnswer(BaseModel):
    """An answer with its citations."""

    answer: str = Field(description="The answer as text; each [n] is a citation.")
    values: list[Value] = Field(description="The answer as data.")
    table: TableRecord | None
    unit: str | None
    status: str = Field(
        description="answered, partial, clarify, not_in_graph, not_understood or failed. Only answered is reliable."
    )
    confidence: float | None = Field(description="Probability that the values are right, 0 to 1.")
    reason: str | None
    options: list[Option] = Field(description="Other readings of the question; send the words of one to choose it.")
    caveats: list[str]
    unclear: list[str] = Field([], description="Words that nothing accounts for: teach_word can make them names.")
    citations: list[AgentCitation]
    graph: str
    version: str
    thread: str | None


def agent_answer(record: Answer) -> AgentAnswer:
    """The part of an answer record that an agent needs."""
    queries = {query["i"]: query["text"] for query in record["queries"]}
    citations = [
        AgentCitation(
            n=each["n"],
            source=each["source"],
            text=each["text"],
            basis=each["basis"],
            query=queries.get(each["query"], "") if each["query"] is not None else "",
            keys=each["keys"][:MAX_KEYS],
        )
        for each in record["citations"]
    ]
    # records of earlier releases lack later fields
    fields = {name: value for name, value in record.items() if name in AgentAnswer.model_fields}
    return AgentAnswer(**{**fields, "citations": citations})


def offered_options(record: Answer) -> Sequence[Option]:
    """The other readings that a client is asked to choose from; none unless the answer asks which was meant."""
    return record["options"] if record["status"] == "clarify" else ()


async def awaits_choice(record: Answer, service: "TurnService", caller: Caller) -> bool:
    """Whether a stored answer is the last one of its thread and asks which reading was meant."""
    if service.threads is None or not offered_options(record):
        return False
    last = await run_in_thread(service.threads.conversations.last, caller.owner, str(record["thread"]))
    return last == record["turn"]


def option_schema(options: Sequence[Option]) -> dict[str, Any]:
    """A JSON Schema of the reply: the number of an option, with its words as title.

    >>> option_schema([{"n": 1, "words": "boats built in Lund"}])["properties"]["option"]["oneOf"]
    [{'const': 1, 'title': 'boats built in Lund'}]
    """
    choices = [{"const": option["n"], "title": option["words"]} for option in options]
    option = {"type": "integer", "title": "Which did you mean?", "oneOf": choices}
    return {"type": "object", "properties": {"option": option}, "required": ["option"]}


def chosen_words(options: Sequence[Option], reply: Any) -> str:
    """The words of the option that a reply names by its number or its words; raises ConfigError.

    >>> chosen_words([{"n": 1, "words": "boats built in Lund"}], {"option": 1})
    'boats built in Lund'
    """
    choice = reply.get("option") if isinstance(reply, dict) else reply
    for option in options:
        # 1 equals True in Python
        if not isinstance(choice, bool) and choice in (option["n"], str(option["n"]), option["words"]):
            return option["words"]
    numbers = ", ".join(str(option["n"]) for option in options)
    raise ConfigError(f'The reply names none of the options. Send {{"option": N}} with N one of {numbers}.')
