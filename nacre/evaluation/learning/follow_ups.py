"""Judge the readings of follow-ups: a conversation with gold answers -> JudgedTurns after correct turns.

The context of a turn is the plan with the gold answer of the turn before: of its readings, else of the readings of its
`standalone` wording if the line has one. The conversation ends if neither has such a plan.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nacre.evaluation.gold_values import same_values
from nacre.evaluation.learning.plan_values import plan_values
from nacre.records.cancellation import start_deadline
from nacre.records.evidence import Cell
from nacre.records.plan import Body, Plan
from nacre.records.turn import EarlierTurn, Rewrite, Scope
from nacre.stores.catalog import Graph
from nacre.understanding.dialogue.revisions.follow_up import changed_plans
from nacre.understanding.dialogue.rewrite import rewrite_question
from nacre.understanding.linking.linker import Linker, prepare_question
from nacre.understanding.parse_question import parse_question
from nacre.understanding.parsing.constraints.answer_type import filter_by_answer_type
from nacre.understanding.parsing.state import Candidate
from nacre.understanding.question.types import Link, Question
from nacre.understanding.ranking.calibrate import table_outcome
from nacre.understanding.understand import answering_candidates, question_text, scoped_links
from nacre.wording.run_plan import run_plan

# things and labels of a turn that the next turn may refer to
MAX_REMEMBERED = 100
MAX_PARSE_SECONDS = 2.0


@dataclass(frozen=True)
class JudgedTurn:
    """A turn with its candidates, the plans that it makes of the turn before, and the result of running each."""

    line: Mapping[str, Any]
    rewritten: Rewrite
    question: Question
    links: list[Link]
    candidates: list[Candidate]
    values: list[tuple[Cell, ...] | None]
    changed: list[Body]
    right: list[bool]
    changed_right: list[bool]
    seconds: float


def judge_turns(
    lines: Sequence[Mapping[str, Any]], graph: Graph, linker: Linker, ran: dict[Any, tuple[Cell, ...] | None]
) -> Iterator[JudgedTurn]:
    """The turns of one conversation in their order; `ran` caches the values of plans."""
    earlier: list[EarlierTurn] = []
    for line in lines:
        rewrite = rewrite_question(line["question"], tuple(earlier), graph.schema, graph.lexicon)
        turn = _judge_turn(line, rewrite, graph, linker, ran)
        yield turn
        body = _right_plan(turn)
        if body is None and line.get("standalone"):
            body = _right_plan(_judge_turn(line, Rewrite(line["standalone"]), graph, linker, ran))
        if body is None:
            return
        earlier.append(_earlier_turn(line["question"], rewrite.standalone, body, graph))


def _judge_turn(
    line: Mapping[str, Any], rewrite: Rewrite, graph: Graph, linker: Linker, ran: dict[Any, tuple[Cell, ...] | None]
) -> JudgedTurn:
    started = time.monotonic()
    question = prepare_question(question_text(rewrite), linker)
    links = scoped_links(question, rewrite.scope, linker)
    parsed = parse_question(question, links, linker, start_deadline(MAX_PARSE_SECONDS))
    match = filter_by_answer_type(parsed, question, linker.index.graph)
    candidates = answering_candidates(match, question, rewrite.scope)
    changed = _changed_plans(question, links, candidates, rewrite.scope, linker)
    seconds = time.monotonic() - started
    bodies: list[Body] = [*(c.body for c in candidates), *changed]
    for body in bodies:
        if body not in ran:
            ran[body] = plan_values(body, graph.tables)
    values = [ran[body] for body in bodies]
    right = [v is not None and same_values(line["answers"], v) for v in values]
    count = len(candidates)
    return JudgedTurn(
        line, rewrite, question, links, candidates, values[:count], changed, right[:count], right[count:], seconds
    )


def _changed_plans(
    question: Question, links: Sequence[Link], candidates: Sequence[Candidate], scope: Scope | None, linker: Linker
) -> list[Body]:
    if scope is None or not scope.how:
        return []
    return changed_plans(question, links, [c.body for c in candidates], scope, linker.index.graph)


def _right_plan(turn: JudgedTurn) -> Body | None:
    """The first plan with the gold answer."""
    bodies = [*turn.changed, *(c.body for c in turn.candidates)]
    right = [*turn.changed_right, *turn.right]
    return next((body for body, good in zip(bodies, right, strict=True) if good), None)


def _earlier_turn(question: str, standalone: str, body: Body, graph: Graph) -> EarlierTurn:
    table, _, _ = run_plan(Plan(body), graph.tables, round=1)
    cell_keys = [] if table is None else [key for row in table.keys for key in row]
    keys = tuple(dict.fromkeys(cell_keys))[:MAX_REMEMBERED]
    values = table_outcome(table).values or ()
    labels = tuple(value for value in values if isinstance(value, str))[:MAX_REMEMBERED]
    return EarlierTurn(question, standalone, "", Plan(body), keys, labels, confidence=1.0)
