"""The answer record of a finished turn: state + what was said -> Answer, and what later turns remember of it."""

import time
from collections.abc import Sequence
from typing import Any

from langgraph.config import get_config

from agents.account import Account
from agents.plain import plain
from graph.gate import Gate
from graph.state import State
from records.answer import Answer, Citation, QueryRecord
from records.evidence import Evidence, Found, Query
from records.turn import Earlier, Rewrite, Understanding

REMEMBERED = 100


def answer_record(
    state: State, told: Account, gate: Gate, found: Sequence[Found], first_token: float | None
) -> Answer:
    """All fields of the record, read after the last word. Times count from the turn's first node."""
    evidence = [each for part in found for each in part.evidence]
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
        values=[plain(value) if isinstance(value, str) else value for value in dict.fromkeys(told.values)],
        unit=told.unit,
        status=told.status,
        reason=told.reason,
        options=[],
        caveats=[*state.get("caveats", []), *told.caveats],
        strategy=state["strategy"],
        rounds=state.get("round", 0),
        enabled=state["enabled"],
        visited=state.get("visited", []),
        unavailable=state["unavailable"],
        by=state["by"],
        queries=[query_record(query, i) for i, query in enumerate(queries)],
        citations=[_citation(n, evidence[index], queries) for n, index in enumerate(gate.cited, 1)],
        unsupported=gate.unsupported,
        seconds=round(time.time() - started, 4),
        first_token_seconds=None if first_token is None else round(first_token - started, 4),
        llm_calls=usage.get("calls", 0),
        input_tokens=usage.get("input", 0),
        cached_tokens=usage.get("cached", 0),
        output_tokens=usage.get("output", 0),
        price=None,
    )


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


def earlier_turn(
    rewrite: Rewrite, asked: str, answer: str, understanding: Understanding, told: Account, evidence: Sequence[Evidence]
) -> Earlier:
    """What later turns need of this one: its plan, and at most 100 keys and labels of its result."""
    used = evidence[told.table] if told.table is not None else None
    reading = used.reading if used is not None else None
    if used is None and understanding.readings:
        reading = 0
    labels = tuple(value for value in told.values if isinstance(value, str))
    return Earlier(
        asked,
        rewrite.standalone,
        answer,
        plan=None if reading is None else understanding.readings[reading].plan,
        keys=used.keys[:REMEMBERED] if used is not None else (),
        labels=labels[:REMEMBERED],
    )


def _citation(n: int, evidence: Evidence, queries: list[Query]) -> Citation:
    place: Any = None
    if evidence.document is not None:
        place = {"document": evidence.document, "start": evidence.start, "end": evidence.end}
    source = evidence.document or evidence.title or ("rows" if evidence.kind == "table" else evidence.branch)
    return Citation(
        n=n,
        tool=evidence.branch,
        source=plain(source),
        text=plain(evidence.text),
        query=None if evidence.query is None else _index(evidence.query, queries),
        keys=list(evidence.keys[:REMEMBERED]),
        triples=[list(triple) for triple in evidence.triples],
        place=place,
    )


def _index(query: Query, queries: list[Query]) -> int | None:
    wanted = (query.tool, query.round, query.text)
    return next((i for i, each in enumerate(queries) if (each.tool, each.round, each.text) == wanted), None)
