"""`/v1` as OpenAI's own client sees it: models, chat completions whole and streamed, errors in its form."""

import uuid
from typing import Any

import httpx
import openai
import pytest

QUESTION, FOLLOW = "How many pages does Granite have?", "And The Salt Road?"
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


def error_body(error: openai.APIStatusError) -> dict[str, Any]:
    assert isinstance(error.body, dict)
    return error.body


def user(content):
    return {"role": "user", "content": content}


@pytest.fixture(scope="module")
def client(server):
    with openai.OpenAI(base_url=f"{server}/v1", api_key="none", max_retries=0) as client:
        yield client


def asked(client, *messages, **more):
    return client.chat.completions.create(model="reading-room", messages=list(messages), **more)


def test_a_graph_is_a_model(client):
    assert [(model.id, model.owned_by) for model in client.models.list()] == [("reading-room", "nacre")]
    assert client.models.retrieve("reading-room").id == "reading-room"


def test_the_content_is_the_answer_and_then_its_footnotes(client, server):
    record = httpx.post(
        f"{server}/api/ask", json={"question": QUESTION}, headers={"Accept": "application/json"}, timeout=60
    ).json()
    reply = asked(client, user(QUESTION))
    content = reply.choices[0].message.content
    assert content.startswith(record["answer"])
    assert content[len(record["answer"]) :].startswith("\n\n- [1] the number of pages of Granite: ")
    assert reply.choices[0].finish_reason == "stop"
    assert reply.nacre["answer"] == record["answer"]
    assert reply.nacre["values"] == [540]
    # no model was asked
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens, reply.usage.total_tokens) == (0, 0, 0)


def test_a_stream_joins_to_the_same_content(client):
    whole = asked(client, user(QUESTION)).choices[0].message.content
    chunks = list(asked(client, user(QUESTION), stream=True, stream_options={"include_usage": True}))
    tokens = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
    assert len([token for token in tokens if token]) > 2
    assert "".join(tokens) == whole
    assert {chunk.id for chunk in chunks} == {chunks[0].id}
    assert chunks[0].choices[0].delta.role == "assistant"
    assert chunks[-2].choices[0].finish_reason == "stop"
    assert whole.startswith(chunks[-2].nacre["answer"])
    assert chunks[-1].choices == []
    assert chunks[-1].usage.total_tokens == 0
    without = list(asked(client, user(QUESTION), stream=True))
    assert all(chunk.usage is None for chunk in without)


def test_the_messages_are_the_conversation_and_nothing_is_kept(client, server):
    said = [
        {"role": "system", "content": "Answer as a pirate."},
        user(QUESTION),
        {"role": "assistant", "content": asked(client, user(QUESTION)).choices[0].message.content},
    ]
    follow = [*said, user([{"type": "text", "text": FOLLOW}])]
    assert asked(client, *follow).nacre["values"] == [312]
    # of a conversation that this process has not seen, the questions are asked once more
    other = [user("How many pages does Signal Box have?"), {"role": "assistant", "content": "Many."}, user(FOLLOW)]
    assert asked(client, *other).nacre["values"] == [312]
    assert asked(client, user(FOLLOW)).nacre["values"] != [312]
    kept = httpx.get(f"{server}/api/threads", params={"search": "Signal Box"}).json()
    assert other[0]["content"] not in [thread["title"] for thread in kept]


def test_a_thread_is_kept_where_a_header_names_one(client, server):
    thread = uuid.uuid4().hex
    header = {"X-Nacre-Thread": thread}
    asked(client, user(QUESTION), extra_headers=header)
    assert asked(client, user(FOLLOW), extra_headers=header).nacre["values"] == [312]
    assert len(httpx.get(f"{server}/api/threads/{thread}").json()["turns"]) == 2


@pytest.mark.parametrize(
    ("form", "reply"),
    [
        ('{ "title": "your concise title here" }', '{"title": "How many pages does Granite have?"}'),
        ('{ "tags": ["tag1", "tag2"] }', '{"tags": []}'),
        ('{\n  "queries": ["query1"]\n}', '{"queries": []}'),
        ("the title alone", QUESTION),
    ],
)
def test_what_a_client_asks_about_its_own_conversation_searches_no_graph(client, form, reply):
    prompt = f"### Task:\nGenerate it.\n### Output:\nJSON format: {form}\n### Chat History:\n<chat_history>\n"
    prompt += f"USER: {QUESTION}\nASSISTANT: {'540 pages. ' * 500}\n</chat_history>"
    whole = asked(client, user(prompt))
    assert whole.choices[0].message.content == reply
    # it rests on no version of a graph
    assert whole.nacre["version"] is None
    chunks = list(asked(client, user(prompt), stream=True))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == reply
    assert client.responses.create(model="reading-room", input=prompt).output_text == reply


def test_tools_that_may_be_left_aside_are(client):
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
    reply = asked(client, user(QUESTION), tools=[tool], tool_choice="auto", temperature=0.7, seed=1)
    assert reply.choices[0].message.tool_calls is None
    assert reply.nacre["values"] == [540]


@pytest.mark.parametrize(
    ("messages", "more", "told"),
    [
        ([], {}, "messages is empty"),
        ([user("")], {}, "question is empty"),
        ([user([{"type": "text", "text": "What is it?"}, IMAGE])], {}, "image_url"),
        ([user("a"), {"role": "assistant", "content": "b"}], {}, "last message"),
        ([{"role": "system", "content": "a"}], {}, "last message"),
        ([{"role": "wizard", "content": "a"}], {}, "role"),
        ([user("x" * 4001)], {}, "4000"),
        ([user("a")] * 4001, {}, "4000"),
        ([user("a")], {"tool_choice": "required"}, "tool_choice"),
        ([user("a")], {"n": 2}, "n must be 1"),
        ([user("a")], {"response_format": {"type": "json_object"}}, "json_object"),
        ([user("a")], {"modalities": ["audio"]}, "modalities"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_openais_form(client, messages, more, told):
    for streamed in (False, True):
        with pytest.raises(openai.BadRequestError) as refused:
            asked(client, *messages, stream=streamed, **more)
        assert told in error_body(refused.value)["message"]
        assert error_body(refused.value)["type"] == "invalid_request_error"


def test_an_unknown_model_is_not_found(client):
    with pytest.raises(openai.NotFoundError) as refused:
        client.chat.completions.create(model="gpt-4o", messages=[user(QUESTION)])
    assert refused.value.code == "model_not_found"
    assert "reading-room" in error_body(refused.value)["message"]
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("gpt-4o")


def test_a_context_beyond_all_bounds_is_too_large(client):
    with pytest.raises(openai.APIStatusError) as refused:
        asked(client, user("x" * 1_500_000))
    assert (refused.value.status_code, refused.value.code) == (413, "context_length_exceeded")


def test_what_else_openai_has_is_refused_in_its_form(client, server):
    with pytest.raises(openai.NotFoundError) as refused:
        client.embeddings.create(model="reading-room", input="x")
    assert "/v1/embeddings" in error_body(refused.value)["message"]
    for method, path, body in (("PUT", "models", b""), ("POST", "chat/completions", b'{"model":')):
        reply = httpx.request(method, f"{server}/v1/{path}", content=body)
        assert reply.status_code in (400, 405)
        assert set(reply.json()["error"]) == {"message", "type", "param", "code"}


def test_a_conversation_of_long_standing_is_answered(client):
    said = []
    for n in range(40):
        said += [user(f"{QUESTION} ({n})"), {"role": "assistant", "content": "540 [1]."}]
    assert asked(client, *said, user(FOLLOW)).nacre["values"] == [312]


def test_a_response_is_the_same_in_the_newer_form(client):
    content = asked(client, user(QUESTION)).choices[0].message.content
    whole = client.responses.create(model="reading-room", input=QUESTION)
    assert whole.output_text == content
    assert (whole.status, whole.usage.total_tokens, whole.nacre["values"]) == ("completed", 0, [540])
    events = list(client.responses.create(model="reading-room", input=[user(QUESTION)], stream=True))
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert "".join(event.delta for event in events if event.type == "response.output_text.delta") == content
    assert (events[0].type, events[-1].type) == ("response.created", "response.completed")
    assert events[-1].response.output_text == content
    follow = client.responses.create(model="reading-room", input=[user(QUESTION), whole.output[0], user(FOLLOW)])
    assert follow.nacre["values"] == [312]


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"input": ""}, "question is empty"),
        ({"input": []}, "messages is empty"),
        ({"input": "a", "previous_response_id": "resp_1"}, "Responses are not stored"),
        ({"input": [{"type": "function_call_output", "call_id": "1", "output": "x"}]}, "function_call_output"),
        ({"input": [user([{"type": "input_image", "image_url": "data:x"}])]}, "input_image"),
        ({"input": "a", "text": {"format": {"type": "json_object"}}}, "json_object"),
    ],
)
def test_what_no_response_can_be_made_of_is_refused(client, more, told):
    with pytest.raises(openai.BadRequestError) as refused:
        client.responses.create(model="reading-room", **more)
    assert told in error_body(refused.value)["message"]
