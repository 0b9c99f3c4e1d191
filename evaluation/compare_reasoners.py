"""Compare the rules, the model, and the model without Nacre: right answers, calls, tokens, price and seconds.

A model without Nacre gets the schema and the question and writes one SELECT, whose cells are the answer.

    python -m evaluation.compare_reasoners [--reasoners rules,model,alone] [--every N] [GRAPH=QUESTIONS ...]

Needs NACRE_MODEL. The example and the named graphs are asked every N-th conversation or single question of their
files. `rules` and `model` are the two reasoners of Nacre. `alone` is the model without Nacre: one call writes one
query.
"""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluation.bundled_sets import ROOT, answers_by, bundled_sets, run_nacre
from nacre.config.settings import Settings
from nacre.extensions.evaluation.measures import ask_model_alone
from nacre.extensions.evaluation.questions import GoldQuestion, ask_questions, read_gold_questions, read_questions
from nacre.extensions.evaluation.score import quantile, read_answers, right_ids
from nacre.records.answer import Answer
from nacre.stores.catalog import Library

REASONERS = ("rules", "model", "alone")


def compare_reasoners(questions: Sequence[GoldQuestion], answers: Mapping[str, Mapping[Any, Answer]]) -> str:
    """A line for each reasoner, then the questions that only one of two answers right."""
    lines = [f"{'':8}{'right':>10}{'calls':>9}{'read':>9}{'new':>9}{'written':>9}{'price':>11}{'median s':>10}"]
    right: dict[str, set[Any]] = {}
    for reasoner, records in answers.items():
        asked = [question for question in questions if question["id"] in records]
        right[reasoner] = right_ids(asked, records)
        lines.append(_line(reasoner, len(right[reasoner]), list(records.values())))
    first, *others = right
    for second in others:
        lines.append(f"by {second}, not by {first}: {_format_ids(right[second] - right[first])}")
        lines.append(f"by {first}, not by {second}: {_format_ids(right[first] - right[second])}")
    return "\n".join(lines) + "\n"


def every_nth(questions: Sequence[GoldQuestion], n: int) -> list[GoldQuestion]:
    """Every n-th conversation or single question, beginning with the first.

    >>> [q["id"] for q in every_nth([{"id": i, "question": "?", "conversation": i // 2} for i in range(6)], 2)]
    [0, 1, 4, 5]
    """
    groups: dict[Any, list[GoldQuestion]] = {}
    for gold in questions:
        conversation = gold.get("conversation")
        groups.setdefault(("single", gold["id"]) if conversation is None else conversation, []).append(gold)
    return [gold for group in list(groups.values())[::n] for gold in group]


def ask_reasoner(reasoner: str, graph: str, questions: Path, out: Path, settings: Settings) -> dict[Any, Answer]:
    """The records of one reasoner; rules and model are asked through the command line."""
    if reasoner in ("rules", "model"):
        return answers_by(reasoner, graph, questions, out, settings.data)

    async def write_answers() -> None:
        with out.open("w", encoding="utf-8") as file:
            ask = ask_model_alone(settings, Library(settings.data, None), graph)
            async for record in ask_questions(read_questions(questions), ask):
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
                file.flush()

    asyncio.run(write_answers())
    return read_answers(out)


def main(arguments: Sequence[str] = ()) -> None:
    """Ask the reasoners and print a comparison for each graph."""
    command = argparse.ArgumentParser(prog="python -m evaluation.compare_reasoners", description="Compare reasoners.")
    command.add_argument("--reasoners", default="rules,model", help=f"reasoners: {', '.join(REASONERS)}")
    command.add_argument("--every", type=int, default=1, metavar="N", help="every N-th conversation or question")
    command.add_argument("graphs", nargs="*", metavar="GRAPH=QUESTIONS", help="graphs besides the example")
    options = command.parse_args(arguments)
    reasoners = options.reasoners.split(",")
    if set(reasoners) - set(REASONERS):
        sys.exit(f"--reasoners {options.reasoners}: choose from {', '.join(REASONERS)}.")
    settings = Settings()
    if not settings.model:
        sys.exit("Set NACRE_MODEL: local, or such as openai:gpt-4o-mini, to compare it with the rules.")
    data = settings.data / "evaluation"
    example = next(bundled_sets(ROOT))
    run_nacre("ingest", *example.sources, "--graph", example.graph, environment={**os.environ, "NACRE_DATA": str(data)})
    if wrong := [each for each in options.graphs if "=" not in each]:
        sys.exit(f"{wrong[0]}: name a graph and its questions, such as mine=questions.jsonl.")
    named = [(graph, Path(file), settings) for graph, _, file in (each.partition("=") for each in options.graphs)]
    folder = data / "predictions"
    folder.mkdir(parents=True, exist_ok=True)
    for graph, file, where in [(example.graph, example.questions, settings.model_copy(update={"data": data})), *named]:
        questions = every_nth(read_gold_questions(file), options.every)
        asked = folder / f"{graph}-asked.jsonl"
        asked.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in questions), encoding="utf-8")
        answers = {
            each: ask_reasoner(each, graph, asked, folder / f"{graph}-{each}.jsonl", where) for each in reasoners
        }
        sys.stdout.write(f"\n{graph}: {file}\n{compare_reasoners(questions, answers)}")
        sys.stdout.flush()


def _line(reasoner: str, right: int, records: Sequence[Answer]) -> str:
    """Model calls are the mean of a question, tokens and seconds the median, the price is that of all questions."""
    calls = sum(record["llm_calls"] for record in records) / max(1, len(records))
    read = quantile([record["input_tokens"] for record in records], 0.5)
    new = quantile([record["input_tokens"] - record["cached_tokens"] for record in records], 0.5)
    written = quantile([record["output_tokens"] for record in records], 0.5)
    prices = [record["price"] for record in records if record["price"] is not None]
    price = f"${sum(prices):.4f}" if len(prices) == len(records) else "unknown"
    seconds = quantile([record["seconds"] for record in records], 0.5)
    share = f"{right}/{len(records)}"
    return f"{reasoner:8}{share:>10}{calls:>9.2f}{read:>9.0f}{new:>9.0f}{written:>9.0f}{price:>11}{seconds:>10.2f}"


def _format_ids(ids: Iterable[Any]) -> str:
    return ", ".join(sorted(map(str, ids))) or "none"


if __name__ == "__main__":
    main(sys.argv[1:])
