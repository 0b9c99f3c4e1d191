"""A turn on the terminal: its events -> the standalone question, the answer as it streams, citations, times."""

import sys
import textwrap
import time
from collections.abc import AsyncIterator
from typing import Any, NamedTuple, cast

from records.answer import Answer, Citation

PASSAGE_WIDTH = 200
STEPS = {"rewriter": "rewrite", "understand": "understand", "query": "retrieve", "evidence": "retrieve"}


class Shown(NamedTuple):
    """What is printed besides the answer and its citations."""

    sources: bool = False
    timings: bool = False


async def show(events: AsyncIterator[tuple[str, Any]], shown: Shown) -> Answer:
    """Print a turn to stdout while it happens and return its record."""
    clock = Clock()
    record: Answer | None = None
    told = False
    async for kind, payload in events:
        clock.saw(kind)
        if kind == "rewriter" and (shown.timings or payload["depends"]):
            say(f"(understood as: {payload['standalone']})", "2")
        elif kind == "token":
            sys.stdout.write(payload)
            sys.stdout.flush()
            told = True
        elif kind == "answer":
            record = cast(Answer, payload)
    if told:
        sys.stdout.write("\n")
    if record is None:
        raise RuntimeError("the turn ended without an answer")
    for line in notes(record):
        say(line, "33")
    for line in citations(record, shown):
        say(line, "2")
    if shown.timings:
        say(f"({clock.words()})", "2")
    return record


def notes(record: Answer) -> list[str]:
    """What a person should know about the answer beside it: doubts, other readings, minds that fell back."""
    lines = []
    if record["status"] == "failed" and not record["answer"]:
        lines.append(f"Failed: {record['reason'] or 'no branch gave evidence'}")
    lines.extend(f"Note: {caveat}" for caveat in record["caveats"])
    if record["options"]:
        lines.append("Or did you mean: " + "; ".join(f"{o['n']}. {o['words']}" for o in record["options"]))
    fallen = {agent: by for agent, by in record["by"].items() if by not in ("rules", "model")}
    lines.extend(f"Note: {agent} by {by}" for agent, by in fallen.items())
    return lines


def citations(record: Answer, shown: Shown) -> list[str]:
    """The sources of an answer, numbered as in its text; with `shown.sources` also queries, keys and triples."""
    lines: list[str] = []
    for citation in record["citations"]:
        text = " ".join(citation["text"].split())
        if not shown.sources:
            text = textwrap.shorten(text, PASSAGE_WIDTH, placeholder=" ...")
        lines.append(f"[{citation['n']}] {citation['source']}: {text}")
        if shown.sources:
            lines.extend("    " + line for line in derivation(record, citation))
    if shown.sources:
        failed = [(query["tool"], query["error"]) for query in record["queries"] if query["error"]]
        lines.extend(f"{tool} failed: {error['message']}" for tool, error in failed if error)
        lines.extend(f"{branch} was not available: {reason}" for branch, reason in record["unavailable"].items())
    return lines


def derivation(record: Answer, citation: Citation) -> list[str]:
    """Where one citation comes from: the query in words and as it ran, its rows' keys, its triples, its place."""
    lines = []
    if citation["query"] is not None:
        query = next(q for q in record["queries"] if q["i"] == citation["query"])
        lines.append(f"asked: {query['words']}")
        lines.append(f"{query['tool']}: {' '.join(query['text'].split())}")
        if query["params"]:
            lines.append(f"with: {', '.join(map(str, query['params']))}")
        lines.append(
            f"rows: {query['rows']}{' (cut off)' if query['truncated'] else ''}, {query['seconds'] * 1000:.0f} ms"
        )
    lines.extend(f"key: {key}" for key in citation["keys"])
    lines.extend(f"triple: {' | '.join(triple)}" for triple in citation["triples"])
    if citation["place"] is not None:
        place = citation["place"]
        lines.append(f"place: {place['document']}, characters {place['start']} to {place['end']}")
    return lines


def say(line: str, style: str = "") -> None:
    """Print a line to stdout, in an ANSI `style` where stdout is a terminal."""
    styled = f"\x1b[{style}m{line}\x1b[0m" if style and sys.stdout.isatty() else line
    sys.stdout.write(styled + "\n")


class Clock:
    """Time of each step of a turn, from the arrival of its events."""

    def __init__(self) -> None:
        self.begun = self.last = time.perf_counter()
        self.steps: dict[str, float] = {}

    def saw(self, kind: str) -> None:
        """Count the time since the last event to the step that this event ends."""
        now = time.perf_counter()
        step = STEPS.get(kind, "answer")
        self.steps[step] = self.steps.get(step, 0.0) + now - self.last
        self.last = now

    def words(self) -> str:
        """All steps in their order, then the whole turn, in milliseconds."""
        steps = [f"{step} {seconds * 1000:.0f} ms" for step, seconds in self.steps.items()]
        return ", ".join([*steps, f"whole turn {(self.last - self.begun) * 1000:.0f} ms"])
