"""Measure what verified questions change: questions, some verified, their wordings -> right answers before and after.

    python -m evaluation.verified_measure FOLDER [--graph NAME]... [--count 10] [--seed 1]
    python -m evaluation.verified_measure FOLDER --calibration [--graph NAME]... [--count 30] [--seeds 5]

FOLDER/GRAPH/questions.jsonl has questions with gold answers, FOLDER/GRAPH/wordings.jsonl the same in other words
(`original`: the id, `question`). Of the questions that have wordings, or of all if none has, `count` are drawn by the
seed. A question is verified with the likeliest of the readings of the rules that gives its
gold answer, as a person does who picks an offered reading and confirms it; if none does, another one is drawn. The
wordings of the verified questions are asked, and other questions of the file, one for each gold answer: as many as were
verified, or all with `--all`. "Before" is an owner without verified questions. The entries are removed at the end.

With `--calibration`: what they do to the probabilities of their graph, answers -> said and right, before and after.
Each question is asked once. By each seed, `count` of the answers with rows are taken as verified questions, and the
shift that they show is applied to all other answers. Four kinds of people verify: they give the query of any question
("written"), confirm right answers ("confirmed"), confirm right ones and give the query of wrong ones ("both"), or
mostly give the query of wrong ones ("corrected")."""

import argparse
import asyncio
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from evaluation.samples import plan_values
from graph.builder import App, Composition, compose
from graph.stream import stream_turn
from nacre.access.open_graph import clear_understandings
from nacre.config.settings import Settings
from nacre.extensions.evaluation.questions import GoldQuestion, read_gold_questions, standalone_questions
from nacre.extensions.evaluation.score import has_gold_values, is_right, quantile
from nacre.records.answer import Answer
from nacre.records.json_form import to_json
from nacre.records.turn import Rewrite, VerifiedQuestion, question_id, values_hash, values_kind
from nacre.stores.catalog import Graph
from nacre.understanding.ranking.probabilities import JudgedAnswer, graph_shift, log_odds, probability
from nacre.understanding.ranking.rank import load_weights
from nacre.understanding.understand import understand

# the owner of the entries, and one without any
OWNER, NOBODY = "evaluation", "evaluation without"


class MeasuredQuestion(NamedTuple):
    """A question asked before and after some were verified; `kind` is "wording" or "other"."""

    kind: str
    gold: GoldQuestion
    before: Answer
    after: Answer
    seconds: tuple[float, float]


def verified_entries(
    golds: Sequence[GoldQuestion], graph: Graph, count: int, seed: str
) -> list[tuple[GoldQuestion, VerifiedQuestion]]:
    """`count` questions drawn by the seed that a reading answers right, verified."""
    drawn = sorted(golds, key=lambda gold: str(gold["id"]))
    Random(seed).shuffle(drawn)
    found = ((gold, entry) for gold in drawn if (entry := _entry(gold, graph)) is not None)
    return list(islice(found, count))


def _entry(gold: GoldQuestion, graph: Graph) -> VerifiedQuestion | None:
    for reading in understand(Rewrite(gold["question"]), graph.schema, graph.lexicon).readings:
        values = plan_values(reading.plan.body, graph.tables)
        if values and has_gold_values(gold, values):
            question, at = gold["question"], datetime.now(UTC).isoformat(timespec="seconds")
            return VerifiedQuestion(
                question_id(graph.name, question), question, question, to_json(reading.plan), None,
                values_hash(values), values_kind(values), OWNER, at, graph.version,
            )  # fmt: skip
    return None


def read_worded_questions(folder: Path) -> tuple[list[GoldQuestion], list[GoldQuestion], list[GoldQuestion]]:
    """The questions of a folder with gold answers, their wordings, and those questions that have wordings, or all."""
    golds = [g for g in standalone_questions(read_gold_questions(folder / "questions.jsonl")) if "answers" in g]
    file = folder / "wordings.jsonl"
    wordings = read_gold_questions(file) if file.exists() else []
    worded = {each["original"] for each in wordings}
    return golds, wordings, [gold for gold in golds if not worded or gold["id"] in worded]


async def measure_graph(
    composition: Composition, app: App, folder: Path, count: int, seed: int, others: int | None
) -> list[MeasuredQuestion]:
    """The wordings of the verified questions of one graph, and other questions, before and after."""
    name, store = folder.name, composition.library.verified
    golds, wordings, able = read_worded_questions(folder)
    with composition.library.open(name) as graph:
        entries = verified_entries(able, graph, count, f"{seed} {name}")
    answers = {str(gold["answers"]) for gold, _ in entries}
    rest = list({str(g["answers"]): g for g in golds if str(g["answers"]) not in answers}.values())
    by_id = {gold["id"]: gold for gold, _ in entries}
    asked = [("wording", by_id[each["original"]], each["question"]) for each in wordings if each["original"] in by_id]
    Random(f"{seed} {name}").shuffle(rest)
    asked += [("other", gold, gold["question"]) for gold in rest[:others]]
    store.add_all(name, [entry for _, entry in entries])
    try:
        return [await _ask_both(app, name, *each) for each in asked]
    finally:
        store.remove_all(name, OWNER)


async def _ask_both(app: App, graph: str, kind: str, gold: GoldQuestion, question: str) -> MeasuredQuestion:
    # first a time that is not counted, so that the stores are warm
    answers = {owner: await answer_question(app, graph, question, owner) for owner in (NOBODY, OWNER, NOBODY, OWNER)}
    before, after = answers[NOBODY], answers[OWNER]
    return MeasuredQuestion(kind, gold, before[0], after[0], (before[1], after[1]))


async def answer_question(app: App, graph: str, question: str, owner: str) -> tuple[Answer, float]:
    """The answer of the rules for an owner, and the seconds of processor time that it took."""
    record: Any = None
    clear_understandings()
    started = time.process_time()
    async for kind, data in stream_turn(app, question, graph=graph, owner=owner, context={"mind": "rules"}):
        if kind == "answer":
            record = data
    return record, time.process_time() - started


def report(asked: Sequence[MeasuredQuestion]) -> Iterator[str]:
    """A line for each kind: right before and after, said with confidence and right of these, median milliseconds."""
    for kind in ("wording", "other"):
        own = [each for each in asked if each.kind == kind]
        for name, answers, seconds in (
            ("before", [each.before for each in own], [each.seconds[0] for each in own]),
            ("after", [each.after for each in own], [each.seconds[1] for each in own]),
        ):
            right = [is_right(each.gold, answer) for each, answer in zip(own, answers, strict=True)]
            said = [good for good, answer in zip(right, answers, strict=True) if answer["status"] == "answered"]
            yield (
                f"{kind:8} {name:7} {len(own):5} asked, exact {_percent(sum(right), len(own))}, "
                f"said {_percent(len(said), len(own))}, of these right {_percent(sum(said), len(said))}, "
                f"{1000 * quantile(seconds, 0.5):.1f} ms\n"
            )


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / max(1, whole):.1f} %"


async def _measure(folders: Sequence[Path], count: int, seed: int, others: int | None) -> None:
    composition = compose(Settings())
    app, asked = composition.build(), list[MeasuredQuestion]()
    for folder in folders:
        found = await measure_graph(composition, app, folder, count, seed, others)
        sys.stdout.write(f"{folder.name}: {len(found)} questions\n{''.join(report(found))}")
        asked += found
    sys.stdout.write(f"together\n{''.join(report(asked))}")


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
        for gold in read_worded_questions(folder)[0]:
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


def calibration_line(kind: str, totals: Totals) -> str:
    """A line: share of answers said and of these right, before and after."""
    parts = [
        f"{name} said {100 * said / max(1, totals.asked):.1f} %, of these right {100 * right / max(1, said):.1f} %"
        for name, (said, right) in (("before", totals.before), ("after", totals.after))
    ]
    up, down = sum(each > 0 for each in totals.shifts), sum(each < 0 for each in totals.shifts)
    counts = f"{len(totals.shifts)} samples, {up} raised, {down} lowered, {totals.asked} other answers"
    return f"{kind:9} {counts}: {'; '.join(parts)}\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the graphs of a folder that the data folder has; or print a line for each kind of people."""
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("folder", type=Path)
    cli.add_argument("--graph", action="append")
    cli.add_argument("--count", type=int, help="10, with --calibration 30")
    cli.add_argument("--seed", type=int, default=1)
    cli.add_argument("--all", action="store_true", help="ask all other questions")
    cli.add_argument("--calibration", action="store_true", help="measure the probabilities of the graphs")
    cli.add_argument("--seeds", type=int, default=5)
    given = cli.parse_args(arguments)
    folders = [file.parent for file in sorted(given.folder.glob("*/questions.jsonl"))]
    folders = [each for each in folders if given.graph is None or each.name in given.graph]
    if given.calibration:
        answers = asyncio.run(ask_all(folders))
        for kind in KINDS:
            totals = calibrated_totals(answers, kind, given.count or 30, given.seeds)
            sys.stdout.write(calibration_line(kind, totals))
        return
    count = given.count or 10
    asyncio.run(_measure(folders, count, given.seed, None if given.all else count))


if __name__ == "__main__":
    main()
