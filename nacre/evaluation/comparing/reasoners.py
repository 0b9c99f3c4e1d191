"""Compare minds: what each answers right, and what the model's answers take.

    python -m nacre.evaluation.comparing.reasoners [--minds rules,model,alone] [--every N] [GRAPH=QUESTIONS ...]

Needs NACRE_MODEL. Asked are the example and the graphs named, of these every N-th conversation or single question.
`rules` and `model` are the two reasoners; `ask_model_alone` is the model without Nacre: one query in one call over the tables.
"""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from nacre.config.settings import Settings
from nacre.evaluation.__main__ import ROOT, bundled_sets, run_nacre
from nacre.evaluation.questions import GoldQuestion, read_gold_questions
from nacre.evaluation.score import quantile, read_answers, right_ids
from nacre.records.answer import Answer
from nacre.stores.catalog import Library

REASONERS = ("rules", "model", "alone")


def compare_reasoners(questions: Sequence[GoldQuestion], answers: Mapping[str, Mapping[Any, Answer]]) -> str:
    """A line a mind, then the questions that only one of them answers right."""
    lines = [f"{'':8}{'right':>10}{'calls':>9}{'read':>9}{'new':>9}{'written':>9}{'price':>11}{'median s':>10}"]
    good: dict[str, set[Any]] = {}
    for mind, records in answers.items():
        asked = [question for question in questions if question["id"] in records]
        good[mind] = right_ids(asked, records)
        lines.append(_line(mind, len(good[mind]), list(records.values())))
    first, *others = good
    for second in others:
        lines.append(f"by {second}, not by {first}: {_listed(good[second] - good[first])}")
        lines.append(f"by {first}, not by {second}: {_listed(good[first] - good[second])}")
    return "\n".join(lines) + "\n"


def _line(mind: str, number_right: int, records: Sequence[Answer]) -> str:
    """Calls are the mean of a question, tokens the median, the price that of all questions together."""
    calls = sum(record["llm_calls"] for record in records) / max(1, len(records))
    read = quantile([record["input_tokens"] for record in records], 0.5)
    new = quantile([record["input_tokens"] - record["cached_tokens"] for record in records], 0.5)
    written = quantile([record["output_tokens"] for record in records], 0.5)
    prices = [record["price"] for record in records if record["price"] is not None]
    price = f"${sum(prices):.4f}" if len(prices) == len(records) else "unknown"
    seconds = quantile([record["seconds"] for record in records], 0.5)
    told = f"{number_right}/{len(records)}"
    return f"{mind:8}{told:>10}{calls:>9.2f}{read:>9.0f}{new:>9.0f}{written:>9.0f}{price:>11}{seconds:>10.2f}"


def _listed(ids: Iterable[Any]) -> str:
    return ", ".join(sorted(map(str, ids))) or "none"


def every_nth(questions: Sequence[GoldQuestion], n: int) -> list[GoldQuestion]:
    """Every n-th conversation or single question, from the first on.

    >>> [q["id"] for q in every_nth([{"id": i, "question": "?", "conversation": i // 2} for i in range(6)], 2)]
    [0, 1, 4, 5]
    """
    groups: dict[Any, list[GoldQuestion]] = {}
    for gold in questions:
        talk = gold.get("conversation")
        groups.setdefault(("single", gold["id"]) if talk is None else talk, []).append(gold)
    return [gold for group in list(groups.values())[::n] for gold in group]


def ask_reasoner(mind: str, graph: str, questions: Path, out: Path, settings: Settings) -> dict[Any, Answer]:
    """The records of one mind; rules and model are asked by the command line, as a user's questions are."""
    if mind in ("rules", "model"):
        environment = {**os.environ, "NACRE_DATA": str(settings.data)}
        run_nacre("eval", str(questions), "--graph", graph, "--mind", mind, "--out", str(out), environment=environment)
        return read_answers(out)
    from nacre.evaluation.ask_questions import ask_questions
    from nacre.evaluation.ask_questions import read_questions as asked
    from nacre.evaluation.comparing.model_alone import ask_model_alone

    async def answers() -> None:
        with out.open("w", encoding="utf-8") as file:
            ask = ask_model_alone(settings, Library(settings.data, None), graph)
            async for record in ask_questions(asked(questions), ask):
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
                file.flush()

    asyncio.run(answers())
    return read_answers(out)


def main(arguments: Sequence[str] = ()) -> None:
    """Ask the minds and print a comparison for each graph."""
    command = argparse.ArgumentParser(
        prog="python -m nacre.evaluation.comparing.reasoners", description="Compare reasoners."
    )
    command.add_argument("--minds", default="rules,model", help=f"of {', '.join(REASONERS)}")
    command.add_argument("--every", type=int, default=1, metavar="N", help="every N-th conversation or question")
    command.add_argument("graphs", nargs="*", metavar="GRAPH=QUESTIONS", help="besides the example")
    given = command.parse_args(arguments)
    minds = given.minds.split(",")
    if set(minds) - set(REASONERS):
        sys.exit(f"--minds {given.minds}: choose of {', '.join(REASONERS)}.")
    settings = Settings()
    if not settings.model:
        sys.exit("Set NACRE_MODEL: local, or such as openai:gpt-4o-mini, to compare it with the rules.")
    own = settings.data / "evaluation"
    example = next(bundled_sets(ROOT))
    run_nacre("ingest", *example.sources, "--graph", example.graph, environment={**os.environ, "NACRE_DATA": str(own)})
    if wrong := [each for each in given.graphs if "=" not in each]:
        sys.exit(f"{wrong[0]}: name a graph and its questions, such as mine=questions.jsonl.")
    named = [(graph, Path(file), settings) for graph, _, file in (each.partition("=") for each in given.graphs)]
    for graph, file, where in [(example.graph, example.questions, settings.model_copy(update={"data": own})), *named]:
        questions = every_nth(read_gold_questions(file), given.every)
        folder = own / "predictions"
        folder.mkdir(parents=True, exist_ok=True)
        chosen = folder / f"{graph}-asked.jsonl"
        chosen.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in questions), encoding="utf-8")
        answers = {mind: ask_reasoner(mind, graph, chosen, folder / f"{graph}-{mind}.jsonl", where) for mind in minds}
        sys.stdout.write(f"\n{graph}: {file}\n{compare_reasoners(questions, answers)}")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
