"""A2A as its SDK's own client sees it: the card, messages whole and streamed, tasks, clarification, errors, keys."""

import asyncio
import json
import uuid
from contextlib import asynccontextmanager

import httpx
import pytest
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.helpers.proto_helpers import new_data_part, new_text_part
from a2a.types import a2a_pb2 as types
from a2a.utils.errors import (
    A2AError,
    ContentTypeNotSupportedError,
    InvalidParamsError,
    PushNotificationNotSupportedError,
    TaskNotCancelableError,
    TaskNotFoundError,
    UnsupportedOperationError,
)
from google.protobuf.json_format import MessageToDict

QUESTION = "How many painters are there?"
# two links fit as well, and neither is named
UNSURE, OTHER = "Where did Mira Holt live?", "towns that Mira Holt died in"
CARD = "/.well-known/agent-card.json"


@asynccontextmanager
async def connected(arts, key="ann", *, streaming=False):
    address, keys = arts
    async with httpx.AsyncClient(headers=keys[key], timeout=60) as http:
        card = await A2ACardResolver(http, address).get_agent_card()
        yield ClientFactory(ClientConfig(httpx_client=http, streaming=streaming)).create(card)


def request(*parts, graph="arts", **fields):
    content = [new_text_part(part) if isinstance(part, str) else part for part in parts]
    message = types.Message(message_id=uuid.uuid4().hex, role=types.Role.ROLE_USER, parts=content, **fields)
    if graph:
        message.metadata.update({"graph": graph})
    return types.SendMessageRequest(message=message)


async def sent(client, *parts, **fields):
    """The task at the end of a message."""
    (reply,) = [reply async for reply in client.send_message(request(*parts, **fields))]
    return reply.task


def data(task):
    (part,) = [part for part in task.artifacts[0].parts if part.WhichOneof("content") == "data"]
    return MessageToDict(part.data)


def test_the_card_names_the_graphs_that_the_key_may_read(arts):
    address, keys = arts
    public = httpx.get(f"{address}{CARD}")
    assert [skill["id"] for skill in public.json()["skills"]] == ["ask"]
    assert "painter" not in public.text
    assert public.json()["securitySchemes"]["key"]["httpAuthSecurityScheme"]["scheme"] == "bearer"
    # a wrong key learns no more
    wrong = httpx.get(f"{address}{CARD}", headers={"Authorization": "Bearer none"})
    assert wrong.json()["skills"] == public.json()["skills"]
    for key, names in (("ann", ["arts", "other"]), ("bo", ["other"])):
        card = httpx.get(f"{address}{CARD}", headers=keys[key]).json()
        assert [skill["id"] for skill in card["skills"]] == names
        assert "painter (3)" in card["skills"][0]["description"]
        assert {each["url"] for each in card["supportedInterfaces"]} == {f"{address}/a2a"}


@pytest.mark.parametrize(("key", "names"), [("ann", ["arts", "other"]), ("bo", ["other"])])
async def test_the_extended_card_is_that_of_the_key(arts, key, names):
    async with connected(arts, key) as client:
        extended = await client.get_extended_agent_card(types.GetExtendedAgentCardRequest())
        assert [skill.id for skill in extended.skills] == names


async def test_a_message_is_a_task_and_its_context_a_conversation(arts):
    async with connected(arts) as client:
        task = await sent(client, QUESTION)
        assert task.status.state == types.TASK_STATE_COMPLETED
        assert "3" in task.artifacts[0].parts[0].text
        told = data(task)
        assert (told["values"], told["status"], told["graph"]) == ([3], "answered", "arts")
        assert told["citations"][0]["query"].startswith("SELECT")
        follow = await sent(client, "Which ones?", context_id=task.context_id, graph=None)
        assert set(data(follow)["values"]) == {"Mira Holt", "Otto Brand", "Lena Fox"}
        got = await client.get_task(types.GetTaskRequest(id=task.id))
        assert (got.id, got.artifacts[0].parts[0].text) == (task.id, task.artifacts[0].parts[0].text)
        listed = await client.list_tasks(types.ListTasksRequest(context_id=task.context_id))
        assert [each.id for each in listed.tasks] == [follow.id, task.id]
        first = await client.list_tasks(types.ListTasksRequest(context_id=task.context_id, page_size=1))
        assert ([each.id for each in first.tasks], first.next_page_token, first.total_size) == ([follow.id], "1", 2)


async def test_a_stream_joins_to_the_answer(arts):
    async with connected(arts, streaming=True) as client:
        events = [event async for event in client.send_message(request(QUESTION))]
        kinds = [event.WhichOneof("payload") for event in events]
        assert (kinds[0], kinds[-1]) == ("task", "status_update")
        assert set(kinds[1:-1]) == {"artifact_update"}
        updates = [event.artifact_update for event in events[1:-1]]
        assert [update.append for update in updates] == [False] + [True] * (len(updates) - 1)
        assert updates[-1].last_chunk
        text = "".join(part.text for update in updates for part in update.artifact.parts)
        assert events[-1].status_update.status.state == types.TASK_STATE_COMPLETED
        task = await client.get_task(types.GetTaskRequest(id=events[0].task.id))
        assert task.artifacts[0].parts[0].text == text


@pytest.mark.parametrize("reply", ["1", {"option": 1}])
async def test_a_question_with_two_meanings_waits_for_a_reply(arts, reply):
    async with connected(arts) as client:
        task = await sent(client, UNSURE)
        assert task.status.state == types.TASK_STATE_INPUT_REQUIRED
        assert OTHER in task.status.message.parts[0].text
        with pytest.raises(InvalidParamsError):
            await sent(client, new_data_part({"option": 9}), task_id=task.id, graph=None)
        part = new_data_part(reply) if isinstance(reply, dict) else reply
        second = await sent(client, part, task_id=task.id, context_id=task.context_id, graph=None)
        assert (second.id, second.status.state) == (task.id, types.TASK_STATE_COMPLETED)
        assert (data(second)["values"], data(second)["status"]) == (["Visby"], "answered")
        assert (await client.get_task(types.GetTaskRequest(id=task.id))).status.state == types.TASK_STATE_COMPLETED
        with pytest.raises(UnsupportedOperationError):
            await sent(client, part, task_id=task.id, graph=None)


async def test_a_task_that_has_ended_cannot_be_cancelled(arts):
    async with connected(arts) as client:
        task = await sent(client, QUESTION)
        with pytest.raises(TaskNotCancelableError):
            await client.cancel_task(types.CancelTaskRequest(id=task.id))


async def test_what_cannot_be_asked_has_the_protocols_error(arts):
    async with connected(arts) as client:
        image = types.Part(url="https://pictures.example/1.png", media_type="image/png")
        cases: tuple[tuple[type[A2AError], str, tuple[object, ...], dict[str, object]], ...] = (
            (InvalidParamsError, "question is empty", ("",), {}),
            (InvalidParamsError, "4000", ("x" * 5000,), {}),
            (InvalidParamsError, "no-such", (QUESTION,), {"graph": "no-such"}),
            (InvalidParamsError, "Which graph", (QUESTION,), {"graph": None}),
            (InvalidParamsError, "slash", (QUESTION,), {"context_id": "a/b"}),
            (ContentTypeNotSupportedError, "text", (image,), {}),
            (TaskNotFoundError, "Task not found", (QUESTION,), {"task_id": "none"}),
        )
        for error, told, parts, fields in cases:
            with pytest.raises(error, match=told):
                await sent(client, *parts, **fields)
        hook = types.TaskPushNotificationConfig(url="http://169.254.169.254/", task_id="none")
        with pytest.raises(PushNotificationNotSupportedError):
            await client.create_task_push_notification_config(hook)
        hooked = request(QUESTION)
        hooked.configuration.task_push_notification_config.url = "http://169.254.169.254/"
        with pytest.raises(PushNotificationNotSupportedError):
            [_ async for _ in client.send_message(hooked)]


async def test_a_key_sees_only_its_own_tasks_and_graphs(arts):
    async with connected(arts) as ann, connected(arts, "bo") as bo:
        task = await sent(ann, QUESTION, graph="other")
        for method, question in (
            (bo.get_task, types.GetTaskRequest(id=task.id)),
            (bo.cancel_task, types.CancelTaskRequest(id=task.id)),
        ):
            with pytest.raises(TaskNotFoundError):
                await method(question)
        assert not (await bo.list_tasks(types.ListTasksRequest())).tasks
        with pytest.raises(InvalidParamsError, match="No graph named 'arts'"):
            await sent(bo, QUESTION, graph="arts")
        # a conversation of the same name is another one
        assert data(await sent(bo, "Which ones?", context_id=task.context_id, graph=None))["values"] != [3]


def post(address, body, headers=None, version="1.0"):
    return httpx.post(f"{address}/a2a", headers={"A2A-Version": version, **(headers or {})}, **body)


def test_malformed_calls_and_calls_without_a_key_are_refused(arts):
    address, keys = arts
    call = {"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "none"}}
    refused = post(address, {"json": call})
    assert (refused.status_code, refused.json()["error"]["code"]) == (401, -32600)
    elsewhere = post(address, {"json": call}, {**keys["ann"], "Origin": "https://elsewhere.example"})
    assert elsewhere.status_code == 403
    for body, status, code in (
        ({"content": b"{"}, 400, -32700),
        ({"json": [call]}, 200, -32600),
        ({"json": {**call, "method": "Explode"}}, 200, -32601),
        ({"json": {**call, "params": {"id": {"a": 1}}}}, 200, -32602),
        ({"json": call}, 200, -32001),
    ):
        reply = post(address, body, keys["ann"])
        assert (reply.status_code, reply.json()["error"]["code"]) == (status, code), body


def test_clients_of_the_version_before_are_served(arts):
    address, keys = arts
    message = {"kind": "message", "messageId": "m", "role": "user", "parts": [{"kind": "text", "text": QUESTION}],
               "metadata": {"graph": "arts"}}  # fmt: skip
    call = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": message}}
    task = post(address, {"json": call}, keys["ann"], "0.3").json()["result"]
    assert (task["kind"], task["status"]["state"]) == ("task", "completed")
    with httpx.stream("POST", f"{address}/a2a", json={**call, "method": "message/stream"},
                      headers=keys["ann"], timeout=60) as reply:  # fmt: skip
        events = [json.loads(line[5:])["result"] for line in reply.iter_lines() if line.startswith("data:")]
    assert (events[0]["kind"], events[-1]["status"]["state"]) == ("task", "completed")


async def test_tasks_of_two_graphs_at_once_do_not_mix(arts):
    async with connected(arts) as ann, connected(arts, "bo") as bo:
        tasks = await asyncio.gather(sent(ann, QUESTION), sent(bo, QUESTION, graph="other"))
        assert [data(task)["graph"] for task in tasks] == ["arts", "other"]
