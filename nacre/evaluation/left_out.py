"""Watch the passes of understanding, and leave one out: Pass -> a context in which `understand` works without it.

A pass is a reader, a constraint, a rewrite, or a rule of the beam by its name.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from time import process_time
from typing import Any, NamedTuple
from unittest.mock import patch

from nacre.records.cancellation import Deadline
from nacre.understanding import constrain, parse_question, rewrite_plans, understand
from nacre.understanding.parsing import beam, derive
from nacre.understanding.parsing.completion.finish import finish_state
from nacre.understanding.parsing.constraints.answer_type import AnswerTypeMatch, filter_by_answer_type
from nacre.understanding.parsing.profile_questions import profile_plan
from nacre.understanding.parsing.state import Candidate, ParseContext
from nacre.understanding.ranking.best_readings import best_readings
from nacre.understanding.ranking.calibrate import MAX_READINGS_RUN

# processor time for one question, instead of UNDERSTANDING_SECONDS: so much that no reading is cut off (given)
ABLATION_SECONDS = 20.0
# an attribute of a module and its value
Attribute = tuple[Any, str, Any]


class Pass(NamedTuple):
    """A pass that can be left out."""

    kind: str
    name: str


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
        **{Pass("constraint", each.name): each.keep for each in constrain.CONSTRAINTS},
        ANSWER_TYPE: filter_by_answer_type,
        **{Pass("rewrite", each.name): each.change for each in rewrite_plans.REWRITES},
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

    def constraint(each: constrain.Constraint) -> constrain.Constraint:
        def drops(kept: list[Candidate], candidates: list[Candidate]) -> bool:
            return len(kept) < len(candidates) and (bool(kept) or each.is_law)

        return each._replace(keep=watch(Pass("constraint", each.name), each.keep, drops))

    def rewrite(each: rewrite_plans.PlanRewrite) -> rewrite_plans.PlanRewrite:
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
        (constrain, "CONSTRAINTS", tuple(map(constraint, constrain.CONSTRAINTS))),
        (rewrite_plans, "REWRITES", tuple(map(rewrite, rewrite_plans.REWRITES))),
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
        "constraint": (constrain, "CONSTRAINTS"),
        "rewrite": (rewrite_plans, "REWRITES"),
    }
    if left.kind in lists:
        module, name = lists[left.kind]
        return ((module, name, tuple(each for each in getattr(module, name) if each.name != left.name)),)
    add = beam._add
    return (
        (beam, "_add", lambda cell, state: None if left.name in state.trace else add(cell, state)),
        (derive, "finish_state", lambda *args: (each for each in finish_state(*args) if left.name not in each.trace)),
        # derivations that are kept were made with the rule
        (parse_question, "derive_candidates", derive.derive_candidates),
    )
