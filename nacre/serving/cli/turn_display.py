"""A turn on the terminal: events -> the standalone question, the streaming answer, citations, times and hints."""

import os
import re
import shlex
import shutil
import sys
import textwrap
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

from nacre.language.data import load_language_texts
from nacre.language.sanitize import disarm_citations, strip_control_characters
from nacre.language.translation import GLOSSED_LANGUAGES
from nacre.language.values import format_value
from nacre.records.answer import Answer, Citation, Cost, MatchCandidate
from nacre.serving.transcript import require_record

PASSAGE_WIDTH = 200

DAY_LENGTH = 10  # characters of the day in an ISO time

MAX_VALUES_SHOWN = 8

STEP_BY_EVENT = {
    "rewriter": "rewrite",
    "understand": "understand",
    "route": "retrieve",
    "query": "retrieve",
    "evidence": "retrieve",
}


class DisplayOptions(NamedTuple):
    """What is printed besides the answer and its citations; `model` is the address of the model, for notes."""

    sources: bool = False
    timings: bool = False
    model: str = ""


async def show_turn(events: AsyncIterator[tuple[str, Any]], options: DisplayOptions) -> Answer:
    """Print a turn to stdout as it happens; its record."""
    timer = StepTimer()
    record: Answer | None = None
    writer = AnswerWriter(draws_tables=sys.stdout.isatty())
    async for kind, payload in events:
        timer.record(kind)
        if kind == "rewriter" and (options.timings or payload["depends"] or payload["own"]):
            own = f"{payload['own']} = " if payload["own"] else ""
            lead = _lead("understood as", payload["language"])
            print_line(f"({lead}: {strip_control_characters(own + payload['standalone'])})", "2")
        elif kind == "token":
            writer.write(payload)
        elif kind == "answer":
            record = cast(Answer, payload)
    writer.finish()
    record = require_record(record)
    for line in note_lines(record, options.model):
        print_line(adapt_commands(line), "33")
    for line in citation_lines(record, options):
        print_line(line, "2")
    if options.timings:
        print_line(f"({timer.format_times()})", "2")
    if record["llm_calls"] or (options.timings and record["conversation"]["llm_calls"]):
        print_line(f"({cost_line(record, with_conversation=options.timings)})", "2")
    return record


def _lead(words: str, language: str) -> str:
    """The words before what is printed besides the answer, in the language of the turn."""
    texts = load_language_texts(f"{language}/answers.yaml") if language in GLOSSED_LANGUAGES else {}
    return str(texts.get("terminal", {}).get(words, words))


def cost_line(record: Answer, *, with_conversation: bool) -> str:
    """The cost of a turn's model calls, and `with_conversation` that of the conversation so far."""
    words = f"model: {_format_cost(record)}"
    if record["first_token_seconds"] is not None:
        words += f"; first word after {record['first_token_seconds']:.1f} s"
    return f"{words}; this conversation: {_format_cost(record['conversation'])}" if with_conversation else words


def _format_cost(cost: Cost | Answer) -> str:
    calls = f"{cost['llm_calls']} call{'' if cost['llm_calls'] == 1 else 's'}"
    tokens = f"{cost['input_tokens']:,} tokens read ({cost['cached_tokens']:,} cached)"
    tokens += f", {cost['output_tokens']:,} written"
    price = "price unknown" if cost["price"] is None else f"${cost['price']:.5f}"
    return f"{calls}, {tokens}, {price}"


def note_lines(record: Answer, model: str = "") -> list[str]:
    """Notes about the answer: who confirmed it, caveats, and steps in which the model at `model` failed."""
    lines = []
    if (verified := record.get("verified")) is not None:
        day = format_value(verified["at"][:DAY_LENGTH])
        is_same = verified.get("how", "same") == "same"
        lines.append(
            f"Confirmed by {verified['by']} on {day}."
            if is_same
            else f"In the way of a question that {verified['by']} confirmed on {day}: “{verified['question']}”"
        )
    if record["status"] == "failed" and not record["answer"]:
        lines.append(f"Failed: {record['reason'] or 'no branch gave evidence'}")
    note, teach = (_lead(words, record.get("language", "")) for words in ("Note", "To teach"))
    lines.extend(f"{note}: {caveat}" for caveat in record["caveats"])
    for word in record.get("unclear", ())[:1]:
        question = record["standalone" if record["derivation"]["depends"] else "question"]
        lines.append(f"{teach} “{word}”: {teach_command(word, '', question, record['graph'])}")
    fallen = {agent: by for agent, by in record["by"].items() if by not in ("rules", "model")}
    where = f" (the model is at {model})" if model else ""
    lines.extend(f"{note}: {agent} by {by}{where}" for agent, by in fallen.items())
    return [strip_control_characters(line) for line in lines]


def citation_lines(record: Answer, options: DisplayOptions) -> list[str]:
    """The sources of an answer, numbered as in its text; with `options.sources` also queries, keys and triples."""
    lines: list[str] = []
    for citation in record["citations"]:
        # a line contains no [n] except its own
        text = " ".join(disarm_citations(citation["text"]).split())
        if not options.sources:
            text = textwrap.shorten(text, PASSAGE_WIDTH, placeholder=" ...")
        lines.append(f"[{citation['n']}] {disarm_citations(citation['source'])}: {text}")
        if options.sources:
            lines.extend("    " + line for line in derivation_lines(record, citation))
    if options.sources:
        lines.extend(reasoning_lines(record))
        failed = [(query["tool"], query["error"]) for query in record["queries"] if query["error"]]
        lines.extend(f"{tool} failed: {strip_control_characters(error['message'])}" for tool, error in failed if error)
        missing = record["unavailable"].items()
        lines.extend(f"{branch} was not available: {adapt_commands(reason)}" for branch, reason in missing)
    return lines


def reasoning_lines(record: Answer) -> list[str]:
    """The question as triples with unknowns, candidates for its names, number of readings, failed checks."""
    derived = record["derivation"]
    lines = [f"asked for: {' | '.join(triple)}" for triple in derived["triples"]]
    for match in derived["matches"]:
        named = [f"{c['label']} {_format_score(c)}" for c in match["candidates"] if c["score"]][:MAX_VALUES_SHOWN]
        lines += [f"“{match['text']}” ({match['kind']}): {', '.join(named)}"] if named else []
        lines += [] if match["valid"] else [f"“{match['text']}” is nothing that this graph has: {match['chosen']}"]
    planned = derived["planned"]
    if planned["considered"]:
        lines.append(f"readings: {planned['considered']} considered, {len(planned['selected'])} run as queries")
    lines += [
        f"does not hold: {each['says']}" for each in derived["assertions"] if not each["holds"] and derived["triples"]
    ]
    lines += [
        f"query {each['query'] + 1} was {each['verdict']}: {each['why']}" for each in derived["checked"] if each["why"]
    ]
    return [" ".join(disarm_citations(strip_control_characters(line)).split()) for line in lines]


def _format_score(candidate: MatchCandidate) -> str:
    near = candidate["similarity"]
    return f"{candidate['score']:.2f}" + (f" (meaning {near:.2f})" if near is not None else "")


def derivation_lines(record: Answer, citation: Citation) -> list[str]:
    """The derivation of a citation: basis, queries, first rows, keys, triples, place, without control characters."""
    lines = [f"rests on: {citation['basis']}"] if citation["basis"] else []
    for query in (query for query in record["queries"] if query["i"] in citation["queries"]):
        if query["i"] == citation["query"]:
            lines.append(f"asked: {query['words'] or 'a query of the model'}")
        lines.append(f"{query['tool']}: {query['text']}")
        if query["params"]:
            lines.append(f"with: {', '.join(map(str, query['params']))}")
        cut = " (cut off)" if query["truncated"] else ""
        lines.append(f"rows: {query['rows']}{cut}, {query['seconds'] * 1000:.0f} ms")
    rows = [", ".join("" if cell is None else str(cell) for cell in row) for row in citation["rows"]]
    lines += _first_values("row", rows) if len(rows) > 1 else []
    lines += _first_values("key", citation["keys"])
    lines += _first_values("triple", [" | ".join(triple) for triple in citation["triples"]])
    if citation["place"] is not None:
        place = citation["place"]
        lines.append(f"place: {place['document']}, characters {place['start']} to {place['end']}")
    return [" ".join(disarm_citations(strip_control_characters(line)).split()) for line in lines]


def _first_values(name: str, values: Sequence[str]) -> list[str]:
    more = len(values) - MAX_VALUES_SHOWN
    shown = [f"{name}: {value}" for value in values[:MAX_VALUES_SHOWN]]
    return [*shown, f"and {more} more {name}s in the record (--json)"] if more > 0 else shown


def print_line(line: str, style: str = "") -> None:
    """Print a line to stdout, in an ANSI `style` if stdout is a terminal."""
    styled = f"\x1b[{style}m{line}\x1b[0m" if style and sys.stdout.isatty() else line
    sys.stdout.write(styled + "\n")


class StepTimer:
    """The duration of each step of a turn, measured by the arrival of its events."""

    def __init__(self) -> None:
        self.started = self.last = time.perf_counter()
        self.steps: dict[str, float] = {}

    def record(self, kind: str) -> None:
        """Add the time since the last event to the step of this event."""
        now = time.perf_counter()
        step = STEP_BY_EVENT.get(kind, "answer")
        self.steps[step] = self.steps.get(step, 0.0) + now - self.last
        self.last = now

    def format_times(self) -> str:
        """All steps in order, then the whole turn, in milliseconds."""
        steps = [f"{step} {seconds * 1000:.0f} ms" for step, seconds in self.steps.items()]
        return ", ".join([*steps, f"whole turn {(self.last - self.started) * 1000:.0f} ms"])


# separators between the cells of a row; a bar inside a cell is "\|"
_BARS = re.compile(r"(?:(?<!\s)\s++)?(?<!\\)\|\s*+")


class AnswerWriter:
    """Writes tokens to stdout. On a terminal, tables are drawn when they end; elsewhere they stay Markdown."""

    def __init__(self, *, draws_tables: bool) -> None:
        self.has_written = False
        self._draws_tables = draws_tables
        self._line = ""
        self._rows: list[str] = []

    def write(self, token: str) -> None:
        """Write a token, or buffer it while it may be part of a table."""
        self.has_written = True
        if not self._draws_tables:
            _write(token)
            return
        for piece in token.splitlines(keepends=True):
            self._line += piece
            if not self._line.startswith("|"):
                self._draw_table()
                _write(piece)
            elif self._line.endswith("\n"):
                self._rows.append(self._line)
            if self._line.endswith("\n"):
                self._line = ""

    def finish(self) -> None:
        """Write the buffered rows and end the line."""
        if self._line.startswith("|"):
            self._rows.append(self._line)
        if self._rows:
            self._draw_table()
        elif self.has_written:
            _write("\n")
        self._line = ""

    def _draw_table(self) -> None:
        if not self._rows:
            return
        from rich.box import SIMPLE_HEAD
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        head, _, *rows = [table_cells(row) for row in self._rows]
        self._rows = []
        table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for index, name in enumerate(head):
            numbers = all(index < len(row) and re.fullmatch(r"-?[\d.,\s]*\d(?:\s?%)?|", row[index]) for row in rows)
            table.add_column(Text(name), justify="right" if numbers else "left", overflow="fold")
        for row in rows:
            # Text, since data must not be read as markup of rich
            table.add_row(*(Text(cell) for cell in row[: len(head)]))
        Console(file=sys.stdout, highlight=False, markup=False, emoji=False).print(table)


def table_cells(row: str) -> list[str]:
    r"""The cells of a row of a Markdown table.

    >>> table_cells("| Ann \\| Co | 12 |")
    ['Ann | Co', '12']
    """
    return [cell.replace("\\|", "|") for cell in _BARS.split(row.strip())[1:-1]]


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


# a command in a sentence, as opposed to a file, an option or the name of the project
_COMMAND = re.compile(
    r"(?<![\w./'\-])nacre (?=(?:ingest|attach|graphs|report|export|remove|index|doctor|ask|chat|serve|mcp|keys|model"
    r"|eval|calibrate|extract|complete|compare|layer teach|--\w+)\b)"
)


def teach_command(word: str, meaning: str, question: str, graph: str) -> str:
    """The command that teaches a word, with the question that it is from."""
    options = {"--as": meaning, "--question": question, "--graph": graph}
    given = (f" {name} {shlex.quote(value)}" for name, value in options.items() if value)
    return f"nacre layer teach {shlex.quote(word)}{''.join(given)}"


def adapt_commands(text: str) -> str:
    """The text with commands that work even if `nacre` is not on the PATH."""
    # an extra is installed beside Nacre; elsewhere its name means another project
    python = _shell_name(sys.executable, "python")
    text = text.replace("pip install 'nacre[", f"{python} -m pip install 'nacre[")
    return _COMMAND.sub(lambda _: f"{program_command()} ", text)


def program_command() -> str:
    """The command of this program: `nacre` if it is on the PATH, else its path, or `python -m nacre`."""
    script = Path(sys.argv[0] if sys.argv else "")
    if script.name == "__main__.py" and script.parent.name == "nacre":
        return f"{_shell_name(sys.executable, 'python')} -m nacre"
    return _shell_name(str(script), "nacre") if script.stem == "nacre" and script.is_file() else "nacre"


def _shell_name(path: str, name: str) -> str:
    """The name of a program on the PATH, else its path, relative if it is below the working directory."""
    # not resolved: a virtual environment's Python is a link to one without its packages
    absolute, on_path = os.path.abspath(path), shutil.which(name)
    if on_path and os.path.abspath(on_path) == absolute:
        return name
    relative = os.path.relpath(absolute)
    return absolute if relative.startswith(os.pardir) else relative
