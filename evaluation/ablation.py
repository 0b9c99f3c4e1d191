"""What each pass of understanding is worth: graphs + questions with gold answers -> a table, a line for each pass.

In order: the table, passes watched and left out (a reader, a constraint, a rewrite, or a rule of the beam by its
name), and the lines of code that only a pass needs.

    python -m evaluation.ablation --data DATA --gold FOLDER ... [--graphs NAME ...] [--jobs N] [--out FILE]

`FOLDER/GRAPH/questions.jsonl` holds the questions. Readers, constraints, rewrites and rules of the beam are left
out, one at a time; the learned weights stay. A question is only understood again without the passes that did
something on it, and without the rules of its first reading and of the reading that answers.
"""

import argparse
import ast
import inspect
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from itertools import repeat
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple
from unittest.mock import patch

import nacre.understanding as understanding
from evaluation.samples import plan_values, same_values
from nacre.config.embedder import local_embedder
from nacre.records.evidence import Cell
from nacre.records.plan import Body
from nacre.records.threads import Deadline
from nacre.records.turn import Rewrite
from nacre.stores.catalog import Graph, Library
from nacre.understanding import parse_question, understand
from nacre.understanding.parsing import derive
from nacre.understanding.parsing.constraints import AnswerTypeMatch, filter_by_answer_type
from nacre.understanding.parsing.finish import finish_state
from nacre.understanding.parsing.profiles import profile_plan
from nacre.understanding.parsing.state import Candidate, ParseContext
from nacre.understanding.ranking.probabilities import MAX_READINGS_RUN, ReadingOutcome, best_readings, choose_reading
from nacre.understanding.ranking.rank import load_weights

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


class Pass(NamedTuple):
    """A pass that can be left out."""

    kind: str
    name: str


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


# processor time for one question, instead of UNDERSTANDING_SECONDS: so much that no reading is cut off (given)
ABLATION_SECONDS = 20.0

# an attribute of a module and its value
Attribute = tuple[Any, str, Any]


PROFILE, ANSWER_TYPE = Pass("reader", "profile"), Pass("constraint", "answer type")


@dataclass
class Watched:
    """The passes that yielded, dropped or changed a reading, the processor time of each, and the traces of the first
    readings."""

    fired: set[Pass] = field(default_factory=set)
    seconds: dict[Pass, float] = field(default_factory=lambda: defaultdict(float))
    traces: list[tuple[str, ...]] = field(default_factory=list)

    def rules(self, place: int) -> set[Pass]:
        """The rules of the first reading and of the one at a place."""
        traces = {trace for at in (0, place) for trace in self.traces[at : at + 1]}
        return {Pass("rule", rule) for trace in traces for rule in trace}


def listed_passes() -> dict[Pass, Callable[..., Any]]:
    """The passes that are not rules, with their functions."""
    return {
        **{Pass("reader", each.name): each.read for each in parse_question.READERS},
        PROFILE: profile_plan,
        **{Pass("constraint", each.name): each.keep for each in parse_question.CONSTRAINTS},
        ANSWER_TYPE: filter_by_answer_type,
        **{Pass("rewrite", each.name): each.change for each in parse_question.REWRITES},
    }


@contextmanager
def watch_passes() -> Iterator[Watched]:
    """Record what the passes do."""
    seen = Watched()

    def watch(own: Pass, call: Callable[..., Any], is_active: Callable[[Any, Any], bool]) -> Callable[..., Any]:
        def watched(*args: Any) -> Any:
            started = process_time()
            result = call(*args)
            seen.seconds[own] += process_time() - started
            if is_active(result, args[0]):
                seen.fired.add(own)
            return result

        return watched

    def reader(each: parse_question.QuestionReader) -> parse_question.QuestionReader:
        read = watch(Pass("reader", each.name), lambda asked: list(each.read(asked)), lambda found, _: bool(found))
        return each._replace(read=read)

    def constraint(each: parse_question.Constraint) -> parse_question.Constraint:
        def drops(kept: list[Candidate], candidates: list[Candidate]) -> bool:
            return len(kept) < len(candidates) and (bool(kept) or each.is_law)

        return each._replace(keep=watch(Pass("constraint", each.name), each.keep, drops))

    def rewrite(each: parse_question.PlanRewrite) -> parse_question.PlanRewrite:
        own = Pass("rewrite", each.name)
        return each._replace(change=watch(own, each.change, lambda changed, before: changed != before))

    def traced_readings(*args: Any) -> Any:
        ranked, readings = best_readings(*args)
        seen.traces += [each.candidate.derivation.trace for each in ranked[:MAX_READINGS_RUN]]
        return ranked, readings

    profile = watch(PROFILE, profile_plan, lambda plan, _: plan is not None)
    answer_type = watch(ANSWER_TYPE, filter_by_answer_type, lambda match, candidates: len(match.kept) < len(candidates))
    with _replaced(
        (parse_question, "READERS", tuple(map(reader, parse_question.READERS))),
        (parse_question, "CONSTRAINTS", tuple(map(constraint, parse_question.CONSTRAINTS))),
        (parse_question, "REWRITES", tuple(map(rewrite, parse_question.REWRITES))),
        (understand, "best_readings", traced_readings),
        (understand, "profile_plan", profile),
        (understand, "filter_by_answer_type", answer_type),
    ):
        yield seen


@contextmanager
def leave_out(left: Pass) -> Iterator[None]:
    """Understand without one pass."""
    with _replaced(*_changes(left)):
        yield


@contextmanager
def derive_once() -> Iterator[None]:
    """Link and derive the same words once, and take enough time for it."""
    derived: dict[Any, list[Candidate]] = {}
    linked: dict[Any, Any] = {}
    scoped_links = understand.scoped_links

    def derive_cached(context: ParseContext, deadline: Deadline) -> list[Candidate]:
        key = context.question, tuple(context.links)
        if key not in derived:
            derived[key] = derive.derive_candidates(context, deadline)
        return derived[key]

    def link_cached(question: Any, *rest: Any) -> Any:
        if question not in linked:
            linked[question] = scoped_links(question, *rest)
        return linked[question]

    with _replaced(
        (parse_question, "derive_candidates", derive_cached),
        (understand, "scoped_links", link_cached),
        (understand, "UNDERSTANDING_SECONDS", ABLATION_SECONDS),
    ):
        yield


@contextmanager
def _replaced(*changes: Attribute) -> Iterator[None]:
    with ExitStack() as stack:
        for module, name, value in changes:
            stack.enter_context(patch.object(module, name, value))
        yield


def _changes(left: Pass) -> Sequence[Attribute]:
    """What differs without a pass."""
    if left == PROFILE:
        return ((understand, "profile_plan", lambda *_: None),)
    if left == ANSWER_TYPE:
        return ((understand, "filter_by_answer_type", lambda candidates, *_: AnswerTypeMatch(list(candidates))),)
    lists = {
        "reader": (parse_question, "READERS"),
        "constraint": (parse_question, "CONSTRAINTS"),
        "rewrite": (parse_question, "REWRITES"),
    }
    if left.kind in lists:
        module, name = lists[left.kind]
        return ((module, name, tuple(each for each in getattr(module, name) if each.name != left.name)),)
    add = derive._add
    return (
        (derive, "_add", lambda cell, state: None if left.name in state.trace else add(cell, state)),
        (derive, "finish_state", lambda *args: (each for each in finish_state(*args) if left.name not in each.trace)),
        # derivations that are kept were made with the rule
        (parse_question, "derive_candidates", derive.derive_candidates),
    )


def function_lines(function: Callable[..., Any]) -> int:
    """The lines of a function and of the functions of its module that nothing else there uses. A lambda counts as the
    functions that it calls."""
    own = inspect.unwrap(function)
    if own.__name__ == "<lambda>" or own.__closure__:
        called = [own.__globals__.get(name) for name in own.__code__.co_names]
        called += [cell.cell_contents for cell in own.__closure__ or ()]
        return sum(function_lines(each) for each in called if inspect.isfunction(each))
    file = Path(inspect.getfile(sys.modules[own.__module__]))
    functions = _functions(file)
    needed, waiting = {own.__name__}, [own.__name__]
    while waiting:
        for name in _names(functions[waiting.pop()]) & functions.keys() - needed:
            if not any(name in _names(node) for other, node in functions.items() if other not in {*needed, name}):
                needed.add(name)
                waiting.append(name)
    return sum(_length(functions[name]) for name in needed)


def rule_lines() -> dict[str, int]:
    """The rules of the parser with the lines of the functions that apply them, shared among the rules of a function."""
    lines: Counter[str] = Counter()
    root = Path(understanding.__path__[0])
    for file in sorted((root / "parsing").rglob("*.py")):
        module = ".".join(("nacre.understanding", *file.relative_to(root).with_suffix("").parts))
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for node in (each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)):
            calls = [_rule(each, module) for each in ast.walk(node) if isinstance(each, ast.Call)]
            rules = [each for each in calls if each]
            lines.update({rule: round(_length(node) / len(rules)) for rule in rules})
    return dict(sorted(lines.items()))


@cache
def _functions(file: Path) -> Mapping[str, ast.FunctionDef]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def _rule(call: ast.Call, module: str) -> str:
    """The name of the rule that a call applies; "" for other calls, and for names that are put together."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "apply_rule" or not call.args:
        return ""
    name = call.args[0]
    if isinstance(name, ast.Name):
        return str(getattr(import_module(module), name.id, ""))
    return str(name.value) if isinstance(name, ast.Constant) else ""


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _length(node: ast.FunctionDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


if __name__ == "__main__":
    main()
