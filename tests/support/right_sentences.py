"""Sentences that are right, with their evidence: what the rules answer to questions, and what plans give."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from random import Random

from langgraph.checkpoint.memory import InMemorySaver

from agents.answering.grounding_gate import GroundingGate, table_claims
from agents.turn_view import AnswerDraft, Result, TurnView
from graph.builder import Composition, build_graph
from graph.context import Resources
from graph.stream import stream_turn
from nacre.records.evidence import Evidence
from nacre.records.plan import Aggregate, Ask, Attribute, Compute, Edge, Itself, Plan, Select, Variable
from nacre.records.schema import Predicate, Schema
from nacre.records.turn import Reading
from nacre.stores.sqlite.tables import Tables
from nacre.wording.answer import verbalise_result
from nacre.wording.plan_phrases import verbalise_plan
from tests.support.read_yaml import read_yaml
from tools.sql import run_reading


@dataclass(frozen=True)
class Right:
    """A sentence, all evidence that is shown with it, and the indexes of what it rests on."""

    graph: str
    text: str
    evidence: tuple[Evidence, ...]
    cited: tuple[int, ...]


def answered(composition: Composition, graphs: Sequence[str], questions: Path) -> Iterator[Right]:
    """What the rules say to the questions, where the values are those of the fixture."""
    rules = composition.agents["rules"]
    told: list[tuple[TurnView, AnswerDraft]] = []

    async def listening(view: TurnView, schema: Schema, gate: GroundingGate) -> Result[AnswerDraft]:
        result = await rules.fuser(view, schema, gate)
        told.append((view, result.value))
        return result

    agents_by_reasoner = {"rules": replace(rules, fuser=listening)}
    app = build_graph(Resources(composition.library, agents_by_reasoner, composition.settings), InMemorySaver())

    async def ask(question: str, graph: str, thread: str) -> tuple[TurnView, AnswerDraft]:
        async for _ in stream_turn(app, question, graph=graph, thread=thread):
            pass
        return told[-1]

    for name in graphs:
        for number, case in enumerate(read_yaml(questions / f"{name}.yaml")):
            for turn in (case, *case.get("then", ())):
                view, account = asyncio.run(ask(turn["ask"], name, f"{name}{number}"))
                if account.values and sorted(map(str, account.values)) == sorted(map(str, turn["values"])):
                    # a sentence that cites nothing only leads to others
                    for text, cited in filter(itemgetter(1), account.sentences):
                        yield Right(name, whole(text), view.evidence, cited)


def whole(text: str) -> str:
    """A sentence with its table as one claim about all the rows."""
    lead, *lines = table_claims(text)
    return f"{lead} {'; '.join(line[:-1] for line in lines)}." if lines else lead


def templated(composition: Composition, graphs: Sequence[str], random: Random) -> Iterator[Right]:
    """What plans over all properties give, in words; the plans before and after give the other evidence."""
    for name in graphs:
        tables = composition.library.open(name).tables
        told: list[tuple[str, Evidence]] = []
        for plan in plans(tables, random):
            reading = Reading(plan, 1.0, 1.0, verbalise_plan(plan, tables.schema))
            for rows in run_reading(reading, 0, tables, round=1).rows:
                text = verbalise_result(plan, rows.table, tables.schema, "").text
                if text:
                    told.append((whole(text), rows))
        for number, (text, rows) in enumerate(told):  # type: ignore[assignment]
            beside = [other for _, other in told[max(0, number - 3) : number + 4] if other.text != rows.text]
            yield Right(name, text, (rows, *beside), (0,))


def plans(tables: Tables, random: Random) -> Iterator[Plan]:
    """Single values, several, aggregates, comparisons, links and yes or no, for every property."""
    for predicate in tables.schema.predicates:
        if predicate.role == "fact":
            owner = max((c for c in predicate.domains if c), key=lambda c: predicate.domains[c], default="")
            things = _members(tables, owner)
            if predicate.has_literals:
                yield from _of_values(predicate, owner, random.sample(things, min(4, len(things))))
            if predicate.has_links:
                yield from _of_links(predicate, owner, things, random)


def _of_values(predicate: Predicate, owner: str, things: list[str]) -> Iterator[Plan]:
    value = Attribute("x", predicate.iri)
    own = [Select((Itself("x"), value), (Variable("x", (owner,), keys=(key,)),)) for key in things]
    yield from map(Plan, own)
    yield Plan(Select((Itself("x"), value), (Variable("x", (owner,), keys=tuple(things)),)))
    if predicate.minimum is not None and len(things) > 1:
        left, right = (replace(each, answers=(value,)) for each in own[:2])
        yield from (Plan(Compute(">", left, right)), Plan(Compute("-", left, right)))
        for function in ("avg", "max"):
            yield Plan(Select((Aggregate(function, value),), (Variable("x", (owner,)),)))


def _of_links(predicate: Predicate, owner: str, things: list[str], random: Random) -> Iterator[Plan]:
    link = Edge("x", predicate.iri, "y")
    for key in things[:2]:
        subject = Variable("x", (owner,), keys=(key,), label=key.rpartition("/")[2])
        target = random.choice(things)
        other = Variable("y", keys=(target,), label=target.rpartition("/")[2])
        yield Plan(Select((Itself("y"),), (subject, Variable("y")), (link,)))
        yield Plan(Select((Aggregate("count", Itself("y")),), (subject, Variable("y")), (link,)))
        yield Plan(Ask(Select((Itself("x"),), (subject, other), (link,))))


def _members(tables: Tables, kind: str) -> list[str]:
    relation = tables.schema.relation_of[tables.schema.class_of[kind].relation] if kind else None
    of = f'WHERE id IN (SELECT "{relation.key}" FROM "{relation.name}")' if relation else ""
    return [str(row[0]) for row in tables.run(f"SELECT iri FROM entity {of} ORDER BY iri").rows]
