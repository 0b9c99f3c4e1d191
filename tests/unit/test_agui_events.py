"""Events of a turn as events of AG-UI: their order, whatever happens in the turn."""

import json
from typing import Any, cast

import pytest
from ag_ui.core import RunAgentInput, UserMessage

from nacre.extensions.agui.routes import MAX_STATE_ROWS, RunEvents
from nacre.records.answer import Answer
from tests.support.agui_order import order_problems

REWRITER = ("rewriter", {"standalone": "Who?", "depends": False, "language": "en", "own": "Who?"})
UNDERSTAND = ("understand", {"mentions": [], "readings": [], "expected": "", "unknown": []})
QUERY = ("query", {"tool": "sql", "round": 1, "text": "SELECT 1", "params": [], "words": "", "rows": 1,
                   "truncated": False, "error": None, "seconds": 0.1, "by": "rules"})  # fmt: skip
ERROR = ("error", {"message": "It failed.", "status": 500})


def route(*branches: str) -> tuple[str, Any]:
    return "route", {"round": 1, "branches": list(branches)}


def answer(**fields: Any) -> tuple[str, Answer]:
    record = {
        "id": "run", "graph": "arts", "version": "1", "thread": "t", "turn": 1, "answer": "It is.", "values": [],
        "table": None, "unit": None, "status": "answered", "confidence": 0.9, "reason": None, "options": [],
        "caveats": [], "citations": [], "queries": [], "input_tokens": 0, "output_tokens": 0, "cached_tokens": 0,
    }  # fmt: skip
    return "answer", cast(Answer, {**record, **fields})


def events(*turn: tuple[str, Any], state: Any = None) -> list[dict[str, Any]]:
    asked = RunAgentInput(thread_id="t", run_id="r", messages=[UserMessage(id="m", content="Who?")], state=state)
    run = RunEvents(asked, "run", "arts")
    made = [*run.opening(), *run.first_step()]
    for kind, payload in turn:
        made += run.events(kind, payload)
    return [json.loads(event.model_dump_json(by_alias=True)) for event in made]


@pytest.mark.parametrize(
    "turn",
    [
        (REWRITER, UNDERSTAND, route("sql"), QUERY, QUERY, route(), ("token", "It"), ("token", " is."), answer()),
        (REWRITER, UNDERSTAND, route("sql"), QUERY, route("vector"), route(), ("token", "It is."), answer()),
        # without retrieval, without text, or without the events before
        (REWRITER, UNDERSTAND, route(), ("token", "Hello."), answer()),
        (REWRITER, UNDERSTAND, route("sql"), answer(answer="")),
        (("token", "Hello."), answer()),
        (REWRITER, UNDERSTAND, route("sql"), QUERY, ("token", "It"), ERROR),
        (ERROR,),
    ],
)
def test_the_order_is_the_prescribed_one_and_a_run_ends_once(turn: tuple[tuple[str, Any], ...]) -> None:
    made = events(*turn)
    assert order_problems(made) == []
    assert [event["type"] for event in made].count("RUN_STARTED") == 1
    assert made[-1]["type"] == ("RUN_ERROR" if turn[-1] is ERROR else "RUN_FINISHED")


def test_only_a_question_back_is_an_interrupt() -> None:
    options = [{"n": 1, "words": "boats"}]
    outcome = events(answer(status="clarify", options=options))[-1]["outcome"]
    assert outcome["interrupts"][0]["id"] == "run"
    # a sure answer may have other readings too, and one that is to be confirmed has none
    assert events(answer(options=options))[-1]["outcome"] == {"type": "success"}
    assert events(answer(status="clarify"))[-1]["outcome"] == {"type": "success"}


def test_the_state_has_the_first_rows_and_what_the_client_keeps_there() -> None:
    rows = [[number] for number in range(MAX_STATE_ROWS + 1)]
    made = events(answer(table={"columns": ["n"], "rows": rows}), state={"panel": "left"})
    assert made[1]["snapshot"]["panel"] == "left"
    fields = {change["path"]: change["value"] for event in made if event["type"] == "STATE_DELTA"
              for change in event["delta"]}  # fmt: skip
    assert fields["/nacre/table"]["rows"] == rows[:-1]
    assert fields["/nacre/table_rows"] == len(rows)
    # a state that is no object is replaced
    assert list(events(state=[1])[1]["snapshot"]) == ["nacre"]


def test_the_check_finds_what_is_wrong() -> None:
    start, end = {"type": "RUN_STARTED"}, {"type": "RUN_FINISHED"}
    step = {"type": "STEP_STARTED", "stepName": "a"}
    for wrong in ([end], [start], [start, start, end], [start, step, end], [start, step, step, end],
                  [start, end, end], [start, {"type": "TEXT_MESSAGE_END", "messageId": "m"}, end]):  # fmt: skip
        assert order_problems(wrong), wrong
