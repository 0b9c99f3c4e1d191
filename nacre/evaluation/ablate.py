"""What each pass of understanding is worth: graphs + questions with gold answers -> a table, a line for each pass.

    python -m nacre.evaluation.ablate --data DATA --gold FOLDER ... [--graphs NAME ...] [--jobs N] [--out FILE]

`FOLDER/GRAPH/questions.jsonl` holds the questions. Readers, constraints, rewrites and rules of the beam are left out,
one at a time; the learned weights stay. A question is only understood again without the passes that did something on
it, and without the rules of its first reading and of the reading that answers.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

from nacre.config.embedder import local_embedder
from nacre.evaluation.ablated_code import function_lines, rule_lines
from nacre.evaluation.gold_values import same_values
from nacre.evaluation.learning.plan_values import plan_values
from nacre.evaluation.left_out import Pass, derive_once, leave_out, listed_passes, watch_passes
from nacre.records.evidence import Cell
from nacre.records.plan import Body
from nacre.records.turn import Rewrite
from nacre.stores.catalog import Graph, Library
from nacre.understanding import understand
from nacre.understanding.ranking.calibrate import MAX_READINGS_RUN, ReadingOutcome, choose_reading
from nacre.understanding.ranking.weights import load_weights

FILE = "questions.jsonl"
COLUMNS = ("kind", "name", "fired", "first changes", "exact", "said and right", "said and wrong", "CPU %", "lines")


class Verdict(NamedTuple):
    """The first plan; the place of the reading that answers, whether it gives the gold answer, and whether its
    probability is high enough to say it."""

    first: Body | None = None
    place: int = 0
    right: bool = False
    said: bool = False


@dataclass
class Worth:
    """What changes without a pass. `fired` counts the questions on which it did something; the counters hold how many
    questions are gained (1), lost (-1) or the same (0)."""

    fired: int = 0
    changed: int = 0
    seconds: float = 0.0
    exact: Counter[int] = field(default_factory=Counter)
    said_right: Counter[int] = field(default_factory=Counter)
    said_wrong: Counter[int] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)

    def compare(self, question: str, before: Verdict, after: Verdict) -> None:
        """Add one question, before and after the pass was left out."""
        self.fired += 1
        self.changed += before.first != after.first
        self.exact[after.right - before.right] += 1
        self.said_right[(after.said and after.right) - (before.said and before.right)] += 1
        self.said_wrong[(after.said and not after.right) - (before.said and not before.right)] += 1
        if after.right != before.right:
            self.examples.append(f"{'lost' if before.right else 'gained'}: {question}")

    def add(self, other: "Worth") -> None:
        """Add what changes on other questions."""
        self.fired += other.fired
        self.changed += other.changed
        self.seconds += other.seconds
        self.exact += other.exact
        self.said_right += other.said_right
        self.said_wrong += other.said_wrong
        self.examples += other.examples


@dataclass
class Ablation:
    """The questions, how many are right with all passes, the processor time, and the worth of each pass."""

    questions: int = 0
    right: int = 0
    seconds: float = 0.0
    worths: dict[Pass, Worth] = field(default_factory=dict)

    def add(self, other: "Ablation") -> None:
        """Add another graph."""
        self.questions += other.questions
        self.right += other.right
        self.seconds += other.seconds
        for each, worth in other.worths.items():
            self.worths.setdefault(each, Worth()).add(worth)


def main() -> None:
    """Ablate over the graphs of a data folder and print the table."""
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("--data", type=Path, required=True, help="data folder with the ingested graphs")
    cli.add_argument("--gold", type=Path, nargs="+", required=True, help="folders with GRAPH/questions.jsonl")
    cli.add_argument("--graphs", nargs="*", help="names of graphs; all if none is given")
    cli.add_argument("--jobs", type=int, default=1, help="processes")
    cli.add_argument("--out", type=Path, help="write the questions that are gained and lost to this file")
    args = cli.parse_args()
    names = sorted(args.graphs or Library(args.data, None).names())
    whole = Ablation(worths={each: Worth() for each in (*listed_passes(), *(Pass("rule", r) for r in rule_lines()))})
    with ProcessPoolExecutor(args.jobs) as pool:
        done = pool.map(ablate_graph, names, repeat(args.data), repeat(args.gold))
        for name, ablation in zip(names, done, strict=True):
            whole.add(ablation)
            sys.stderr.write(f"{name}: {whole.questions} questions, {whole.right} right\n")
    sys.stdout.write(format_table(whole))
    if args.out:
        examples = {" ".join(each): worth.examples for each, worth in whole.worths.items()}
        args.out.write_text(json.dumps(examples, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def ablate_graph(name: str, data: Path, gold: Sequence[Path]) -> Ablation:
    """The ablation over the questions about one graph."""
    files = [folder / name / FILE for folder in gold if (folder / name / FILE).exists()]
    lines = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    ablation = Ablation()
    if lines:
        graph = Library(data, local_embedder("auto")).open(name)
        ran: dict[Body, tuple[Cell, ...] | None] = {}
        for line in (each for each in lines if "answers" in each):
            ablate_question(line, graph, ran, ablation)
    return ablation


def ablate_question(
    line: Mapping[str, Any], graph: Graph, ran: dict[Body, tuple[Cell, ...] | None], ablation: Ablation
) -> None:
    """Add one question to an ablation. `ran` keeps the values of plans."""
    with derive_once():
        started = process_time()
        with watch_passes() as watched:
            before = _verdict(line, graph, ran)
        ablation.seconds += process_time() - started
        ablation.questions += 1
        ablation.right += before.right
        for each, seconds in watched.seconds.items():
            ablation.worths.setdefault(each, Worth()).seconds += seconds
        for each in sorted(watched.fired | watched.rules(before.place)):
            with leave_out(each):
                after = _verdict(line, graph, ran)
            ablation.worths.setdefault(each, Worth()).compare(line["question"], before, after)


def format_table(ablation: Ablation) -> str:
    """The table in Markdown. Gains and losses are those of leaving the pass out; rules share the time of the beam."""
    rows: list[Sequence[str]] = [COLUMNS, ("---",) * len(COLUMNS)]
    functions, lines = listed_passes(), rule_lines()
    for each, worth in sorted(ablation.worths.items(), key=lambda item: (item[0].kind, -item[1].exact[-1], item[0])):
        changes = (f"+{x[1]} -{x[-1]}" for x in (worth.exact, worth.said_right, worth.said_wrong))
        share = f"{100 * worth.seconds / ablation.seconds:.1f}" if each in functions else ""
        length = function_lines(functions[each]) if each in functions else lines.get(each.name, "")
        rows.append((*each, str(worth.fired), str(worth.changed), *changes, share, str(length)))
    table = "".join(f"| {' | '.join(row)} |\n" for row in rows)
    return f"{ablation.questions} questions, {ablation.right} right with all passes\n\n{table}"


def _verdict(line: Mapping[str, Any], graph: Graph, ran: dict[Body, tuple[Cell, ...] | None]) -> Verdict:
    """Understand a question, run its readings and choose one, as an answer does."""
    understanding = understand.understand(Rewrite(line["question"]), graph.schema, graph.lexicon)
    readings = understanding.readings[:MAX_READINGS_RUN]
    if not readings:
        return Verdict()
    for each in readings:
        if each.plan.body not in ran:
            ran[each.plan.body] = _plan_values(each.plan.body, graph)
    outcomes = [ReadingOutcome(ran[each.plan.body]) for each in readings]
    place, probability = choose_reading(understanding, outcomes)
    values = outcomes[place].values
    is_right = values is not None and same_values(line["answers"], values)
    is_said = min(probability, understanding.most) >= load_weights().threshold
    return Verdict(readings[0].plan.body, place, is_right, is_said)


def _plan_values(body: Body, graph: Graph) -> tuple[Cell, ...] | None:
    """The values of a plan; None if it fails, as it may if what makes it sound was left out."""
    with suppress(KeyError, ValueError, StopIteration):
        return plan_values(body, graph.tables)
    return None


if __name__ == "__main__":
    main()
