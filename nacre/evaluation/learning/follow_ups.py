"""Judge the readings of follow-ups: a conversation with gold answers -> Turns, each after turns that are right.

What a turn leans on is the plan that gave the gold answer of the turn before it, where a reading gave it; else the one
that its `standalone` wording gives, where a line has one. A conversation ends where neither is right.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nacre.evaluation.gold_values import same_values
from nacre.evaluation.learning.run_reading import run_values
from nacre.records.cancellation import within
from nacre.records.evidence import Cell
from nacre.records.plan import Body, Plan
from nacre.records.turn import Earlier, Rewrite, Scope
from nacre.stores.catalog import Graph
from nacre.understanding.dialogue.conversation import rewrite
from nacre.understanding.dialogue.revisions.follow_up import changes
from nacre.understanding.linking.linker import Linker
from nacre.understanding.parsing.candidate import Candidate
from nacre.understanding.question.types import Link, Question
from nacre.understanding.ranking.calibrate import outcome
from nacre.understanding.understand import derived, in_conversation, links_of, read, text_of
from nacre.wording.run_plan import run_plan

REMEMBERED = 100
SECONDS = 2.0


@dataclass(frozen=True)
class Turn:
    """A turn as it was read: its candidates, and the plans that it makes of the turn before it, each with what running
    it gave."""

    line: Mapping[str, Any]
    rewritten: Rewrite
    question: Question
    candidates: list[Candidate]
    values: list[tuple[Cell, ...] | None]
    changed: list[Body]
    right: list[bool]
    changed_right: list[bool]
    seconds: float


def turns(
    lines: Sequence[Mapping[str, Any]], graph: Graph, linker: Linker, ran: dict[Any, tuple[Cell, ...] | None]
) -> Iterator[Turn]:
    """The turns of one conversation, in their order."""
    earlier: list[Earlier] = []
    for line in lines:
        said = rewrite(line["question"], tuple(earlier), graph.schema, graph.lexicon)
        turn = _read(line, said, graph, linker, ran)
        yield turn
        body = _right(turn)
        if body is None and line.get("standalone"):
            body = _right(_read(line, Rewrite(line["standalone"]), graph, linker, ran))
        if body is None:
            return
        earlier.append(_earlier(line["question"], said.standalone, body, graph))


def _read(
    line: Mapping[str, Any], said: Rewrite, graph: Graph, linker: Linker, ran: dict[Any, tuple[Cell, ...] | None]
) -> Turn:
    started = time.monotonic()
    question = read(text_of(said), linker)
    links = links_of(question, said.scope, linker)
    candidates = in_conversation(derived(question, links, linker, within(SECONDS)), question, said.scope)
    changed = _changed(question, links, candidates, said.scope, linker)
    seconds = time.monotonic() - started
    bodies: list[Body] = [*(c.body for c in candidates), *changed]
    for body in bodies:
        if body not in ran:
            ran[body] = run_values(body, graph.tables)
    values = [ran[body] for body in bodies]
    right = [v is not None and same_values(line["answers"], v) for v in values]
    many = len(candidates)
    return Turn(line, said, question, candidates, values[:many], changed, right[:many], right[many:], seconds)


def _changed(
    question: Question, links: Sequence[Link], candidates: Sequence[Candidate], scope: Scope | None, linker: Linker
) -> list[Body]:
    if scope is None or not scope.how:
        return []
    return changes(question, links, [c.body for c in candidates], scope, linker.index.graph)


def _right(turn: Turn) -> Body | None:
    """The first plan that gives the gold answer."""
    bodies = [*turn.changed, *(c.body for c in turn.candidates)]
    right = [*turn.changed_right, *turn.right]
    return next((body for body, good in zip(bodies, right, strict=True) if good), None)


def _earlier(question: str, standalone: str, body: Body, graph: Graph) -> Earlier:
    table, _, _ = run_plan(Plan(body), graph.tables, round=1)
    found = [] if table is None else [key for row in table.keys for key in row]
    keys = tuple(dict.fromkeys(found))[:REMEMBERED]
    values = outcome(table).values or ()
    labels = tuple(value for value in values if isinstance(value, str))[:REMEMBERED]
    return Earlier(question, standalone, "", Plan(body), keys, labels, confidence=1.0)
