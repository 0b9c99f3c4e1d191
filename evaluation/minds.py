"""Compare the two minds on the example: what each answers right, and what the model's answers take.

    python -m evaluation.minds [LIMIT]

Needs NACRE_MODEL. LIMIT asks the first questions only.
"""

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from config.settings import Settings
from evaluation.__main__ import ROOT, nacre, shipped
from evaluation.questions import Gold, read
from evaluation.score import quantile, read_answers, right
from records.answer import Answer

MINDS = ("rules", "model")


def compared(questions: Sequence[Gold], answers: Mapping[str, Mapping[Any, Answer]]) -> str:
    """A line a mind, then the questions that only one of them answers right."""
    lines = [f"{'':8}{'right':>10}{'calls':>9}{'read':>9}{'new':>9}{'written':>9}{'price':>11}{'median s':>10}"]
    good: dict[str, set[Any]] = {}
    for mind, records in answers.items():
        asked = [question for question in questions if question["id"] in records]
        good[mind] = right(asked, records)
        lines.append(_line(mind, len(good[mind]), list(records.values())))
    first, second = good
    lines.append(f"only by {second}: {_listed(good[second] - good[first])}")
    lines.append(f"only by {first}: {_listed(good[first] - good[second])}")
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


def main(limit: str = "") -> None:
    """Ask both minds and print the comparison."""
    settings = Settings()
    if not settings.model:
        sys.exit("Set NACRE_MODEL, such as openai:gpt-4o-mini, to compare it with the rules.")
    own = settings.data / "evaluation"
    example = next(shipped(ROOT))
    environment = {**os.environ, "NACRE_DATA": str(own)}
    nacre("ingest", *example.sources, "--graph", example.graph, environment=environment)
    answers = {}
    for mind in MINDS:
        predictions = own / "predictions" / f"{example.graph}-{mind}.jsonl"
        asked = ["eval", str(example.questions), "--graph", example.graph, "--mind", mind, "--out", str(predictions)]
        nacre(*asked, *(["--limit", limit] if limit else []), environment=environment)
        answers[mind] = read_answers(predictions)
    sys.stdout.write(compared(read(example.questions), answers))


if __name__ == "__main__":
    main(*sys.argv[1:2])
