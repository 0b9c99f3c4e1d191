"""What a writer of queries is told: TurnView + Database + the rules' rows -> messages, the fixed head first."""

from collections.abc import Sequence

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from agents.answering.select_answer import chance
from agents.database import Database, Language
from agents.models.limits import Limits
from agents.prompt import prompt
from agents.query_writing.doubts import shown
from agents.query_writing.linked_names import names_found
from agents.query_writing.schema_text import relevant, relevant_classes, whole
from agents.run_in_thread import off_loop
from agents.turn_view import TurnView
from nacre.language.sanitize import quoted, quoted_lines
from nacre.records.evidence import Found, Rows
from nacre.records.look_up import LookUp
from nacre.records.turn import Earlier

TURNS_SHOWN = 3
LONGEST_ANSWER = 500
# readings less likely than this are not worth a model's time (given)
WORTH_SHOWING = 0.3
READINGS_SHOWN = 2


async def messages_of(
    view: TurnView, database: Database, drafts: Found | None, limits: Limits, *, small: bool
) -> list[BaseMessage]:
    """The messages of one question. Where all tables fit into the head, a server reads them once for all questions."""
    every, tables = await off_loop(whole, database.schema, limits.schema_tokens, database.describe), ""
    if every is None:
        part = await off_loop(
            relevant if database.language == "sql" else relevant_classes,
            view.understanding,
            database.schema,
            database.lexicon,
            limits.schema_tokens,
            database.describe,
        )
        tables = f"<schema>\n{quoted_lines(part)}\n</schema>\n"
    turn = prompt(
        "query_writer_turn",
        tables=tables,
        conversation=_conversation(view),
        names=_part("names", await names_found(view.understanding, database)),
        readings=_part("readings", _readings(view, drafts)),
        question=quoted(view.standalone),
    )
    return [SystemMessage(head(every, small=small, language=database.language)), HumanMessage(turn)]


def _part(name: str, lines: Sequence[str]) -> str:
    return f"<{name}>\n{chr(10).join(lines)}\n</{name}>\n" if lines else ""


def head(tables: str | None, *, small: bool, language: Language = "sql") -> str:
    """What every prompt about a graph begins with, byte for byte: all tables, where they fit."""
    name = f"query_writer{'_small' if small else ''}{'' if language == 'sql' else '_sparql'}"
    told = "The tables are" if language == "sql" else "The classes and properties are"
    return prompt(name, schema=quoted_lines(tables or f"{told} named with each question."))


def looked_up(seen: Sequence[tuple[LookUp, str]]) -> str:
    """What look-ups showed."""
    parts = [f"{_said(each)}:\n{quoted_lines(text)}" for each, text in seen]
    return "<seen>\n" + "\n".join(parts) + "\n</seen>\nNow answer the question."


def sent_back(ran: Sequence[Found], why: str) -> str:
    """What queries gave, and what speaks against it."""
    parts = [f"{quoted(query.text)[:300]}\n{_gave(found)}" for found in ran for query in found.queries[-1:]]
    return "<rows>\n" + "\n".join(parts) + f"\n</rows>\n{quoted(why)}\nGive a corrected answer."


def _gave(found: Found) -> str:
    if found.error is not None:
        return f"error: {quoted(found.error.message)}"
    return "\n".join(quoted_lines(shown(each.table)) for each in found.rows) or "no rows"


def _said(look: LookUp) -> str:
    where = ".".join(part for part in (look.table, look.column) if part)
    return " ".join(quoted(part) for part in (look.kind, where, f"like '{look.text}'" if look.text else "") if part)


def _conversation(view: TurnView) -> str:
    """The turns before this one, and the question as it was typed where the one that stands alone is another."""
    lines = [_turn(turn) for turn in view.conversation[-TURNS_SHOWN:]]
    if view.rewrite.depends and view.question != view.standalone:
        lines.append(f"Now asked: {quoted(view.question)} (understood as below, which may be wrong)")
    return f"<conversation>\n{chr(10).join(lines)}\n</conversation>\n" if lines and view.conversation else ""


def _turn(turn: Earlier) -> str:
    answer = quoted(turn.answer)
    cut = "..." if len(answer) > LONGEST_ANSWER else ""
    queries = [quoted(each.query.text) for each in turn.evidence if isinstance(each, Rows) and each.query is not None]
    ran = f"\nQuery: {queries[0][:LONGEST_ANSWER]}" if queries and "?" not in queries[0] else ""
    return f"Question: {quoted(turn.standalone)}{ran}\nAnswer: {answer[:LONGEST_ANSWER]}{cut}"


def _readings(view: TurnView, drafts: Found | None) -> list[str]:
    """The rules' likely readings in words, how likely, and what they gave."""
    likely = sorted(drafts.rows if drafts else (), key=lambda each: -chance(view.understanding, each))
    return [
        _reading(each, chance(view.understanding, each))
        for each in likely[:READINGS_SHOWN]
        if chance(view.understanding, each) >= WORTH_SHOWING
    ]


def _reading(rows: Rows, likely: float) -> str:
    return f"({likely:.0%} sure) {quoted(rows.words)[:200]}\n{quoted_lines(shown(rows.table, 3))}"
