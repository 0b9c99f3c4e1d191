"""Measure what verified questions do to the probabilities of their graph: answers -> said and right, before and after.

    python -m evaluation.verified_calibration FOLDER [--graph NAME]... [--count 30] [--seeds 5]

FOLDER/GRAPH/questions.jsonl has questions with gold answers. Each is asked once. By each seed, `count` of the answers
with rows are taken as verified questions, and the shift that they show is applied to all other answers. Four kinds of
people verify: they give the query of any question ("written"), confirm right answers ("confirmed"), confirm right ones
and give the query of wrong ones ("both"), or mostly give the query of wrong ones ("corrected").
"""

import argparse
import asyncio
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from evaluation.verified_measure import NOBODY, answer_question
from graph.app import compose
from nacre.config.settings import Settings
from nacre.evaluation.questions import read_gold_questions, standalone_questions
from nacre.evaluation.score import is_right
from nacre.understanding.ranking.probabilities import JudgedAnswer, graph_shift, log_odds, probability
from nacre.understanding.ranking.rank import load_weights

# probabilities below this, or above its complement, are equal, and the share of right answers among "corrected" (given)
LEAST, RIGHT_OF_CORRECTED = 1e-4, 0.1

KINDS = ("written", "confirmed", "both", "corrected")

# an answer of these kinds is said if it is likelier
UNSURE = ("clarify", "partial")


class AskedAnswer(NamedTuple):
    """An answer: its log-odds (None: no rows with a probability), its status, and whether it is right."""

    log_odds: float | None
    status: str
    right: bool


class Totals(NamedTuple):
    """Other answers than the verified ones: their number, how many are said and right, before and after; the shifts."""

    asked: int
    before: tuple[int, int]
    after: tuple[int, int]
    shifts: tuple[float, ...]


async def ask_all(folders: Sequence[Path]) -> Mapping[str, list[AskedAnswer]]:
    """The answers of the rules to all questions, by graph."""
    composition = compose(Settings())
    app, answers = composition.build(), dict[str, list[AskedAnswer]]()
    for folder in folders:
        answers[folder.name] = []
        for gold in standalone_questions(read_gold_questions(folder / "questions.jsonl")):
            if "answers" not in gold:
                continue
            record, _ = await answer_question(app, folder.name, gold["question"], NOBODY)
            has_rows = record["confidence"] is not None and record["plan"] is not None
            chance = min(1 - LEAST, max(LEAST, record["confidence"] or 0.0))
            odds = log_odds(chance) if has_rows else None
            answers[folder.name].append(AskedAnswer(odds, record["status"], is_right(gold, record)))
    return answers


def calibrated_totals(answers: Mapping[str, Sequence[AskedAnswer]], kind: str, count: int, seeds: int) -> Totals:
    """What the shifts do to the answers that were not verified."""
    asked, before, after, shifts = 0, [0, 0], [0, 0], list[float]()
    for graph, own in answers.items():
        for seed in range(seeds):
            verified = list(_verified(own, kind, Random(f"{seed} {graph}")))[:count]
            if len(verified) < count:
                continue
            shift = graph_shift([judged for _, judged in verified])
            shifts.append(shift)
            taken = {i for i, _ in verified}
            for i, each in enumerate(own):
                if i not in taken:
                    asked += 1
                    for totals, is_said in ((before, each.status == "answered"), (after, _is_said(each, shift))):
                        totals[0] += is_said
                        totals[1] += is_said and each.right
    return Totals(asked, (before[0], before[1]), (after[0], after[1]), tuple(shifts))


def _verified(answers: Sequence[AskedAnswer], kind: str, draw: Random) -> Iterator[tuple[int, JudgedAnswer]]:
    """The answers that people of a kind verify, in an order by chance."""
    for i in draw.sample(range(len(answers)), len(answers)):
        each = answers[i]
        kept = {
            "written": True,
            "confirmed": each.right,
            "both": True,
            "corrected": not each.right or draw.random() < RIGHT_OF_CORRECTED,
        }[kind]
        if each.log_odds is not None and kept:
            is_written = kind in ("written", "corrected") or not each.right
            yield i, JudgedAnswer(each.log_odds, each.right, is_written)


def _is_said(answer: AskedAnswer, shift: float) -> bool:
    if answer.log_odds is None or not shift:
        return answer.status == "answered"
    threshold = load_weights().threshold
    is_likely = probability(answer.log_odds + shift) >= threshold
    was_likely = probability(answer.log_odds) >= threshold
    return is_likely and (answer.status == "answered" or (answer.status in UNSURE and not was_likely))


def report(kind: str, totals: Totals) -> str:
    """A line: share of answers said and of these right, before and after."""
    parts = [
        f"{name} said {100 * said / max(1, totals.asked):.1f} %, of these right {100 * right / max(1, said):.1f} %"
        for name, (said, right) in (("before", totals.before), ("after", totals.after))
    ]
    up, down = sum(each > 0 for each in totals.shifts), sum(each < 0 for each in totals.shifts)
    counts = f"{len(totals.shifts)} samples, {up} raised, {down} lowered, {totals.asked} other answers"
    return f"{kind:9} {counts}: {'; '.join(parts)}\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each kind of people."""
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("folder", type=Path)
    cli.add_argument("--graph", action="append")
    cli.add_argument("--count", type=int, default=30)
    cli.add_argument("--seeds", type=int, default=5)
    given = cli.parse_args(arguments)
    folders = [file.parent for file in sorted(given.folder.glob("*/questions.jsonl"))]
    answers = asyncio.run(ask_all([each for each in folders if given.graph is None or each.name in given.graph]))
    for kind in KINDS:
        sys.stdout.write(report(kind, calibrated_totals(answers, kind, given.count, given.seeds)))


if __name__ == "__main__":
    main()
