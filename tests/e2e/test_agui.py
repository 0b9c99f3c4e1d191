"""AG-UI over HTTP: the order of events, clarification and resumption, errors, and whose conversation is whose."""

import json
import uuid

import httpx
import pytest

from tests.support.agui_order import order_problems

QUESTION = "How many pages does Granite have?"
# two links fit as well, and neither is named
UNSURE, OTHER = "Where did Mira Holt live?", "towns that Mira Holt died in"


def agent_input(question=None, thread=None, **more):
    messages = [{"id": uuid.uuid4().hex, "role": "user", "content": question}] if question is not None else []
    return {"threadId": thread or uuid.uuid4().hex, "runId": uuid.uuid4().hex, "messages": messages, **more}


def run(address, body, headers=None, **parameters):
    """The events of a run, which come in the prescribed order."""
    with httpx.stream("POST", f"{address}/agui", json=body, params=parameters, headers=headers, timeout=60) as reply:
        assert reply.status_code == 200, reply.read()
        assert reply.headers["content-type"].startswith("text/event-stream")
        lines = [line for line in reply.iter_lines() if line.startswith("data:")]
    events = [json.loads(line.removeprefix("data:")) for line in lines]
    assert order_problems(events) == []
    return events


def of_kind(events, kind):
    return [event for event in events if event["type"] == kind]


def text(events):
    return "".join(event["delta"] for event in of_kind(events, "TEXT_MESSAGE_CONTENT"))


def state(events):
    (snapshot,) = of_kind(events, "STATE_SNAPSHOT")
    shared = snapshot["snapshot"]
    for event in of_kind(events, "STATE_DELTA"):
        for change in event["delta"]:
            _, ours, name = change["path"].split("/")
            shared[ours][name] = change["value"]
    return shared


def test_a_turn_is_a_run_with_steps_queries_text_and_state(server):
    body = agent_input(QUESTION, state={"panel": "left"})
    events = run(server, body)
    assert events[0] == {"type": "RUN_STARTED", "threadId": body["threadId"], "runId": body["runId"],
                         "protocolVersion": "1.0"}  # fmt: skip
    steps = [event["stepName"] for event in of_kind(events, "STEP_STARTED")]
    assert steps[:4] == ["rewriter", "understand", "tool_selector", "retrieval"]
    assert steps[-1] == "fuser"
    assert len(of_kind(events, "TEXT_MESSAGE_CONTENT")) > 2
    assert "540" in text(events)
    sql = next(event for event in of_kind(events, "TOOL_CALL_START") if event["toolCallName"] == "sql")["toolCallId"]
    call, result = (next(each for each in of_kind(events, kind) if each["toolCallId"] == sql)
                    for kind in ("TOOL_CALL_ARGS", "TOOL_CALL_RESULT"))  # fmt: skip
    assert json.loads(call["delta"])["query"].startswith("SELECT")
    assert json.loads(result["content"])["rows"] == 1
    shared = state(events)
    # what a front end keeps in the state of its own stays
    assert shared["panel"] == "left"
    assert (shared["nacre"]["values"], shared["nacre"]["status"]) == ([540], "answered")
    assert shared["nacre"]["citations"][0]["query"].startswith("SELECT")
    assert events[-1]["outcome"] == {"type": "success"}
    assert (events[-1]["runId"], events[-1]["usage"][0]["totalTokens"]) == (body["runId"], 0)


def test_a_thread_is_a_conversation_and_can_be_edited(server):
    thread = uuid.uuid4().hex
    run(server, agent_input(QUESTION, thread))
    assert state(run(server, agent_input("And The Salt Road?", thread)))["nacre"]["values"] == [312]
    turns = httpx.get(f"{server}/api/threads/{thread}").json()["turns"]
    assert [turn["record"]["values"] for turn in turns] == [[540], [312]]
    edited = agent_input("And Signal Box?", thread, forwardedProps={"instead_of": 2, "theme": "dark"})
    assert state(run(server, edited))["nacre"]["values"] == [420]
    assert len(httpx.get(f"{server}/api/threads/{thread}").json()["turns"]) == 2


def test_a_question_with_two_meanings_is_interrupted_and_resumed(arts):
    address, keys = arts
    ann = keys["ann"]
    thread = uuid.uuid4().hex
    first = run(address, agent_input(UNSURE, thread), ann, graph="arts")
    (interrupt,) = first[-1]["outcome"]["interrupts"]
    assert interrupt["responseSchema"]["properties"]["option"]["oneOf"] == [{"const": 1, "title": OTHER}]

    def resumed(status, payload=None, question=None, headers=ann, within=thread):
        entry = {"interruptId": interrupt["id"], "status": status, "payload": payload}
        return agent_input(question, within, resume=[entry]), headers

    for body, headers, status in (
        (*resumed("resolved", {"option": 9}), 422),
        (*resumed("resolved", True), 422),
        (*resumed("resolved", {"option": 1}, within=uuid.uuid4().hex), 404),
        # another key knows nothing of it
        (*resumed("resolved", {"option": 1}, headers=keys["bo"]), 404),
        (agent_input(None, thread, resume=[]), ann, 422),
    ):
        assert httpx.post(f"{address}/agui", json=body, headers=headers).status_code == status
    second = run(address, *resumed("resolved", {"option": 1}))
    # one start, and the chosen reading is answered without a model
    assert len(of_kind(second, "RUN_STARTED")) == 1
    told = state(second)["nacre"]
    assert (told["values"], told["status"], told["standalone"]) == (["Visby"], "answered", OTHER)
    assert second[-1]["outcome"] == {"type": "success"}
    # it is answered once
    assert httpx.post(f"{address}/agui", json=resumed("resolved", 1)[0], headers=ann).status_code == 404


def test_an_interrupt_can_be_given_up(arts):
    address, keys = arts
    thread = uuid.uuid4().hex
    first = run(address, agent_input(UNSURE, thread), keys["ann"], graph="arts")
    entry = {"interruptId": first[-1]["outcome"]["interrupts"][0]["id"], "status": "cancelled"}
    kinds = [event["type"] for event in run(address, agent_input(None, thread, resume=[entry]), keys["ann"])]
    assert kinds == ["RUN_STARTED", "STATE_SNAPSHOT", "RUN_FINISHED"]
    other = run(address, agent_input("How many painters are there?", thread, resume=[entry]), keys["ann"])
    assert state(other)["nacre"]["values"] == [3]


def test_keys_and_graphs_are_those_of_the_server(arts):
    address, keys = arts
    body = agent_input(UNSURE)
    assert httpx.post(f"{address}/agui", json=body).status_code == 401
    assert httpx.post(f"{address}/agui", json=body, headers=keys["ann"]).status_code == 422
    unreadable = httpx.post(f"{address}/agui?graph=arts", json=body, headers=keys["bo"])
    assert (unreadable.status_code, "'arts'" in unreadable.json()["detail"]) == (422, True)
    assert "other" in unreadable.json()["detail"]
    named = agent_input("How many painters are there?", forwardedProps={"graph": "other"})
    assert state(run(address, named, keys["bo"]))["nacre"]["values"] == [3]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"messages": []}, "last message"),
        ({"messages": [{"id": "1", "role": "assistant", "content": "a"}]}, "last message"),
        ({"messages": [{"id": "1", "role": "wizard", "content": "a"}]}, "wizard"),
        ({"messages": [{"id": "1", "role": "user", "content": ""}]}, "question is empty"),
        ({"messages": [{"id": "1", "role": "user", "content": "x" * 4001}]}, "4000"),
        ({"messages": [{"id": "1", "role": "user", "content": "x"}] * 4001}, "4000"),
        ({"threadId": "a/b"}, "slash"),
        ({"threadId": "t" * 300}, "200"),
        ({"forwardedProps": {"mind": "telepathy"}}, "mind"),
        ({"forwardedProps": {"instead_of": "all"}}, "instead_of"),
        ({"forwardedProps": [1]}, "forwardedProps"),
        ({"resume": [{"interruptId": "none", "status": "resolved"}]}, "no longer open"),
    ],
)
def test_what_cannot_be_asked_is_refused(server, change, told):
    refused = httpx.post(f"{server}/agui", json={**agent_input(QUESTION), **change})
    assert refused.status_code in (404, 422)
    assert told in refused.text


def test_an_error_ends_the_run(server):
    # the turn to replace is looked up when the turn begins
    body = agent_input(QUESTION, forwardedProps={"instead_of": 7})
    events = run(server, body)
    assert (events[-1]["type"], events[-1]["code"]) == ("RUN_ERROR", "404")
    assert not of_kind(events, "RUN_FINISHED")
