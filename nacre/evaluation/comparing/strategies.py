"""What a strategy saves and loses: a file of questions -> right, layers and processor time of parallel and waterfall.

    python -m nacre.evaluation.comparing.strategies QUESTIONS.jsonl --graph NAME

Both strategies answer each question (its standalone form) one after the other in one process, so that the ratio of
their times holds on a busy machine; the first round only warms up.
"""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from graph.app import compose
from graph.builder import App
from graph.stream import stream_turn
from nacre.config.settings import Settings
from nacre.evaluation.questions import GoldQuestion, read_gold_questions
from nacre.evaluation.verdict import is_right
from nacre.records.answer import Answer

STRATEGIES = ("parallel", "waterfall")
TEXTS = {"vector", "lexical"}
ROUNDS = 3


class TimedAnswer(NamedTuple):
    """One answer and the processor seconds that it took."""

    record: Answer
    seconds: float


async def ask_with_strategy(app: App, question: str, graph: str | None, strategy: str, mind: str | None) -> TimedAnswer:
    """The record of one question."""
    started = time.process_time()
    record: Any = None
    async for kind, data in stream_turn(app, question, graph=graph, context={"strategy": strategy, "mind": mind}):
        if kind == "answer":
            record = data
    return TimedAnswer(record, time.process_time() - started)


async def compare_strategies(
    app: App, golds: Sequence[GoldQuestion], graph: str | None, mind: str | None
) -> dict[str, list[TimedAnswer]]:
    """The answers of both strategies, each with the least time of its rounds but the first."""
    found: dict[str, list[TimedAnswer]] = {strategy: [] for strategy in STRATEGIES}
    for gold in golds:
        question = str(gold.get("standalone") or gold["question"])
        rounds = ROUNDS if mind != "model" else 1
        tried = {s: [await ask_with_strategy(app, question, graph, s, mind) for _ in range(rounds)] for s in STRATEGIES}
        for strategy, taken in tried.items():
            found[strategy].append(min(taken[1:] or taken, key=lambda each: each.seconds))
    return found


def strategy_report(golds: Sequence[GoldQuestion], found: dict[str, list[TimedAnswer]]) -> str:
    """A table of both strategies, and what the second saves."""
    lines = ["| strategy | right | above the texts | processor ms, mean | tokens in, mean |", "|---|---|---|---|---|"]
    for strategy, taken in found.items():
        right = sum(is_right(gold, each.record) for gold, each in zip(golds, taken, strict=True))
        above = sum(not set(each.record["visited"]) & TEXTS for each in taken)
        mean = sum(each.seconds for each in taken) / len(taken)
        tokens = sum(each.record["input_tokens"] for each in taken) / len(taken)
        lines.append(
            f"| {strategy} | {right} of {len(golds)} | {above / len(taken):.0%} | {mean * 1000:.0f} | {tokens:.0f} |"
        )
    sums = [sum(each.seconds for each in taken) for taken in found.values()]
    return "\n".join([*lines, "", f"time saved: {1 - sums[1] / sums[0]:.0%}", ""])


def main(arguments: Sequence[str]) -> None:
    """Ask and print."""
    command = argparse.ArgumentParser(
        prog="python -m nacre.evaluation.comparing.strategies", description="Compare strategies."
    )
    command.add_argument("questions", type=Path)
    command.add_argument("--graph")
    command.add_argument("--mind", choices=("rules", "model"))
    command.add_argument("--out", type=Path, help="write both strategies' records here, as lines of JSON")
    given = command.parse_args(arguments)
    golds = read_gold_questions(given.questions)
    composition = compose(Settings())
    try:
        found = asyncio.run(compare_strategies(composition.build(), golds, given.graph, given.mind))
    finally:
        composition.library.close()
    if given.out:
        records = [each.record for taken in found.values() for each in taken]
        given.out.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records), encoding="utf-8")
    sys.stdout.write(strategy_report(golds, found))


if __name__ == "__main__":
    main(sys.argv[1:])
