"""Compare the strategies parallel and waterfall: a file of questions -> right answers, layers and processor time.

    python -m evaluation.compare_strategies QUESTIONS.jsonl --graph NAME

Both strategies answer the standalone form of each question in turn in one process, so that the ratio of their times
holds on a busy machine. The first round is for warming up only.
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
from nacre.evaluation.score import is_right
from nacre.records.answer import Answer

STRATEGIES = ("parallel", "waterfall")
TEXTS = {"vector", "lexical"}
ROUNDS = 3


class TimedAnswer(NamedTuple):
    """An answer and its processor seconds."""

    record: Answer
    seconds: float


async def ask_with_strategy(app: App, question: str, graph: str | None, strategy: str, mind: str | None) -> TimedAnswer:
    """The answer to one question."""
    started = time.process_time()
    record: Any = None
    async for kind, data in stream_turn(app, question, graph=graph, context={"strategy": strategy, "mind": mind}):
        if kind == "answer":
            record = data
    return TimedAnswer(record, time.process_time() - started)


async def compare_strategies(
    app: App, golds: Sequence[GoldQuestion], graph: str | None, mind: str | None
) -> dict[str, list[TimedAnswer]]:
    """The answers of both strategies, each with the shortest time of its rounds after the first."""
    answers: dict[str, list[TimedAnswer]] = {strategy: [] for strategy in STRATEGIES}
    for gold in golds:
        question = str(gold.get("standalone") or gold["question"])
        rounds = ROUNDS if mind != "model" else 1
        for strategy in STRATEGIES:
            timed = [await ask_with_strategy(app, question, graph, strategy, mind) for _ in range(rounds)]
            answers[strategy].append(min(timed[1:] or timed, key=lambda each: each.seconds))
    return answers


def strategy_report(golds: Sequence[GoldQuestion], answers: dict[str, list[TimedAnswer]]) -> str:
    """A table of both strategies, and the share of time that the second saves."""
    lines = ["| strategy | right | above the texts | processor ms, mean | tokens in, mean |", "|---|---|---|---|---|"]
    for strategy, timed in answers.items():
        right = sum(is_right(gold, each.record) for gold, each in zip(golds, timed, strict=True))
        above = sum(not set(each.record["visited"]) & TEXTS for each in timed)
        mean = sum(each.seconds for each in timed) / len(timed)
        tokens = sum(each.record["input_tokens"] for each in timed) / len(timed)
        lines.append(
            f"| {strategy} | {right} of {len(golds)} | {above / len(timed):.0%} | {mean * 1000:.0f} | {tokens:.0f} |"
        )
    sums = [sum(each.seconds for each in timed) for timed in answers.values()]
    return "\n".join([*lines, "", f"time saved: {1 - sums[1] / sums[0]:.0%}", ""])


def main(arguments: Sequence[str]) -> None:
    """Ask the questions with both strategies and print the table."""
    command = argparse.ArgumentParser(prog="python -m evaluation.compare_strategies", description="Compare strategies.")
    command.add_argument("questions", type=Path)
    command.add_argument("--graph")
    command.add_argument("--reasoner", choices=("rules", "model"))
    command.add_argument("--out", type=Path, help="write the records of both strategies to this file as JSONL")
    options = command.parse_args(arguments)
    golds = read_gold_questions(options.questions)
    composition = compose(Settings())
    try:
        answers = asyncio.run(compare_strategies(composition.build(), golds, options.graph, options.reasoner))
    finally:
        composition.library.close()
    if options.out:
        records = [each.record for timed in answers.values() for each in timed]
        options.out.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records), encoding="utf-8")
    sys.stdout.write(strategy_report(golds, answers))


if __name__ == "__main__":
    main(sys.argv[1:])
