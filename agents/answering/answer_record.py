"""The answer record of a finished turn: state + what was said -> Answer, and what later turns remember of it."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from langgraph.config import get_config

from agents.answering.draft import AnswerDraft
from agents.answering.grounding_gate import GroundingGate
from agents.answering.inherited_confidence import inheritable_confidence
from agents.answering.select_answer import plan_of
from agents.turn_view import TurnView
from graph.state import State, add_usage
from nacre.language.courtesy import is_greeting
from nacre.language.sanitize import escape_markup, strip_control_characters
from nacre.records.answer import Answer, Citation, Cost, Option, Place, QueryRecord, TableRecord
from nacre.records.derivation import AnswerDerivation
from nacre.records.evidence import BranchResult, Evidence, EvidenceSentence, Query, Rows, Table
from nacre.records.turn import EarlierTurn, Reading

REMEMBERED = 100
REMEMBERED_EVIDENCE = 3
REMEMBERED_ROWS = 20
ROWS_SHOWN = 50


def answer_record(
    state: State,
    told: AnswerDraft,
    gate: GroundingGate,
    cited: Sequence[Evidence],
    found: Sequence[BranchResult],
    derived: AnswerDerivation,
    first_token: float | None,
) -> Answer:
    """All fields of the record, read after the last word; `cited` is what [1], [2] ... stand for, in this order.

    Times count from the turn's first node.
    """
    queries = [query for part in found for query in part.queries]
    usage = state["usage"]
    here = get_config().get("configurable", {})
    # a thread is stored under its owner; the client knows it without
    thread = str(here.get("thread_id") or "").partition(":")[2] or here.get("thread_id")
    started = state["started"]
    return Answer(
        id=str(here.get("ask_id") or ""),
        graph=state["about"],
        version=state["version"],
        thread=thread,
        turn=state["turn"],
        question=state["asked"],
        standalone=state["rewrite"]["standalone"],
        answer=gate.answer,
        values=[
            strip_control_characters(value) if isinstance(value, str) else value for value in dict.fromkeys(told.values)
        ],
        table=_table(told),
        unit=told.unit,
        status=told.status,
        confidence=told.confidence,
        reason=escape_markup(told.reason) if told.reason else None,
        options=[Option(n=n, words=escape_markup(each.words)) for n, each in enumerate(told.options, 1)],
        caveats=[escape_markup(caveat) for caveat in (*state.get("caveats", []), *told.caveats)],
        strategy=state["strategy"],
        rounds=state.get("round", 0),
        enabled=state["enabled"],
        visited=state.get("visited", []),
        unavailable=state["unavailable"],
        by=state["by"],
        queries=[query_record(query, i) for i, query in enumerate(queries)],
        citations=[_citation(n, each, queries) for n, each in enumerate(cited, 1)],
        unsupported=gate.unsupported,
        seconds=round(time.time() - started, 4),
        first_token_seconds=None if first_token is None else round(first_token - started, 4),
        llm_calls=int(usage.get("calls", 0)),
        input_tokens=int(usage.get("input", 0)),
        cached_tokens=int(usage.get("cached", 0)),
        output_tokens=int(usage.get("output", 0)),
        price=_price(usage),
        language=state["rewrite"]["language"],
        standalone_own=state["rewrite"]["own"] or state["rewrite"]["standalone"],
        conversation=model_cost(add_usage(state.get("spent", {}), usage)),
        derivation=derived,
    )


def _table(told: AnswerDraft) -> TableRecord | None:
    """The rows of an answer of several columns."""
    if not told.columns:
        return None
    rows = [[strip_control_characters(cell) if isinstance(cell, str) else cell for cell in row] for row in told.rows]
    return TableRecord(columns=[strip_control_characters(name) for name in told.columns], rows=rows)


def model_cost(usage: Mapping[str, float]) -> Cost:
    """What models took, as the record shows it."""
    return Cost(
        llm_calls=int(usage.get("calls", 0)),
        input_tokens=int(usage.get("input", 0)),
        cached_tokens=int(usage.get("cached", 0)),
        output_tokens=int(usage.get("output", 0)),
        price=_price(usage),
    )


def _price(usage: Mapping[str, float]) -> float | None:
    return None if usage.get("unpriced") else round(usage.get("price", 0.0), 8)


def query_record(query: Query, i: int) -> QueryRecord:
    """One query as the record shows it."""
    return QueryRecord(
        i=i,
        tool=query.tool,
        round=query.round,
        text=query.text,
        params=list(query.params),
        words=query.words,
        rows=query.rows,
        truncated=query.truncated,
        error=None if query.error is None else {"kind": query.error.kind, "message": query.error.message},
        seconds=round(query.seconds, 5),
        by=query.by,
    )


def remembered_turns(
    view: TurnView, answer: str, told: AnswerDraft, cited: Mapping[int, Evidence], most: int = REMEMBERED
) -> tuple[EarlierTurn, ...]:
    """What later turns need of this one: its plan, at `most` so many keys and labels of its result, what it cited (as
    it was opened, by the evidence's index). Nothing where it asked nothing of the graph."""
    if view.rewrite.aside or is_greeting(view.question):
        return ()
    understanding = view.understanding
    used = view.evidence[told.table] if told.table is not None else None
    plan = plan_of(understanding, used) if used is not None else None
    result = cited.get(told.table, used) if told.table is not None else None
    if used is None and understanding.readings:
        plan = understanding.readings[0].plan
    labels = tuple(value for value in told.values if isinstance(value, str))
    turn = EarlierTurn(
        view.question,
        view.standalone,
        answer,
        plan=plan,
        keys=result.keys[:most] if result is not None else (),
        labels=labels[:most],
        options=told.options,
        confirm=_to_confirm(view, told),
        evidence=tuple(_remembered(view.evidence[index]) for index in list(cited)[:REMEMBERED_EVIDENCE]),
        confidence=inheritable_confidence(told, understanding),
    )
    return (turn,)


def older_turn(turn: Mapping[str, Any]) -> dict[str, Any]:
    """A turn before the last, in JSON: follow-ups rest on the evidence of the last one, and confirm it, alone."""
    return {**turn, "evidence": [], "confirm": None}


def _to_confirm(view: TurnView, told: AnswerDraft) -> Reading | None:
    """The reading that the answer asks to be confirmed, which a yes then chooses."""
    if not told.confirm and told.status != "not_understood":
        return None
    used = view.evidence[told.table] if told.table is not None else None
    place = used.reading if isinstance(used, Rows) else 0
    return view.understanding.readings[place] if place is not None and view.understanding.readings else None


def _remembered(evidence: Evidence) -> Evidence:
    """Evidence as a later turn may rest on it: no candidate for its answer any more."""
    evidence = replace(
        evidence, round=0, keys=evidence.keys[:REMEMBERED_ROWS], triples=evidence.triples[:REMEMBERED_ROWS]
    )
    if isinstance(evidence, EvidenceSentence):
        return evidence
    table = evidence.table
    table = replace(table, rows=table.rows[:REMEMBERED_ROWS], keys=table.keys[:REMEMBERED_ROWS])
    return replace(evidence, reading=None, table=table)


def _citation(n: int, evidence: Evidence, queries: Sequence[Query]) -> Citation:
    rows = evidence if isinstance(evidence, Rows) else None
    table = _whole(rows.table) if rows else None
    ran = [_index(query, queries) for query in (rows.query, *rows.beside) if query] if rows else []
    return Citation(
        n=n,
        tool=evidence.branch,
        source=escape_markup(_source(evidence)),
        text=escape_markup(evidence.text),
        query=ran[0] if ran else None,
        keys=list(evidence.keys[:REMEMBERED]),
        triples=[list(triple) for triple in evidence.triples],
        place=_place(evidence),
        columns=list(table.columns) if table else [],
        units=list(table.units) if table else [],
        rows=[list(row) for row in table.rows[:ROWS_SHOWN]] if table else [],
        contributing=table.contributing if table else None,
        queries=[i for i in ran if i is not None],
        basis=evidence.basis,
    )


def _source(evidence: Evidence) -> str:
    if isinstance(evidence, Rows):
        return evidence.title or evidence.words or "rows"
    return evidence.document or evidence.title or evidence.branch


def _place(evidence: Evidence) -> Place | None:
    if evidence.document is None:
        return None
    return {"document": evidence.document, "start": evidence.start, "end": evidence.end}


def _whole(table: Table) -> Table:
    """A table with what places its rows as a column of its own."""
    if len(table.measured) != len(table.rows) or not table.measured:
        return table
    return replace(
        table,
        columns=(*table.columns, table.measured_name),
        units=(*table.units, table.measured_unit),
        rows=tuple((*row, cell) for row, cell in zip(table.rows, table.measured, strict=True)),
    )


def _index(query: Query, queries: Sequence[Query]) -> int | None:
    wanted = (query.tool, query.round, query.text, query.params)
    return next(
        (i for i, each in enumerate(queries) if (each.tool, each.round, each.text, each.params) == wanted), None
    )
