"""What OpenAI's clients and MCP's are told, without a server: forms of refusals, footnotes, conversations."""

import json
from typing import cast

import pytest

from nacre.errors import ConfigError
from nacre.records.answer import Answer
from nacre.serving.http.middleware import error_response
from nacre.serving.openai import ChatRequest, ResponseRequest, footnotes, parse_chat_request, to_chat_request


@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        (401, "authentication_error", "invalid_api_key"),
        (403, "permission_error", None),
        (413, "invalid_request_error", "context_length_exceeded"),
        (429, "rate_limit_error", "rate_limit_exceeded"),
        (503, "server_error", None),
    ],
)
def test_a_refusal_has_the_form_of_its_protocol(status, kind, code):
    reply = error_response("/v1/chat/completions", status, "Why.", {"Retry-After": "3"})
    assert reply.status_code == status
    assert reply.headers["retry-after"] == "3"
    assert json.loads(bytes(reply.body)) == {"error": {"message": "Why.", "type": kind, "param": None, "code": code}}
    told = json.loads(bytes(error_response("/mcp", status, "Why.").body))
    assert (told["jsonrpc"], told["id"], told["error"]["message"]) == ("2.0", None, "Why.")
    assert json.loads(bytes(error_response("/api/ask", status, "Why.").body)) == {"detail": "Why."}


def test_what_does_not_fit_names_its_fields():
    problems = [{"loc": ["body", "model"], "msg": "Field required", "type": "missing"}, {"msg": "No."}]
    reply = error_response("/v1/responses", 422, problems, param="model")
    assert reply.status_code == 400
    assert json.loads(bytes(reply.body))["error"]["message"] == "model: Field required; No."
    assert json.loads(bytes(error_response("/api/ask", 422, problems).body)) == {"detail": problems}


def cited(text, source="rows"):
    citation = {"n": 1, "source": source, "text": text}
    return {"citations": [citation], "caveats": ["Read *this*."]}


def test_no_footnote_can_be_more_than_text():
    told = footnotes(cited("![x](https://elsewhere.example/?q=1)\n\n# Head <b>", "[a](b)"))
    assert told == (
        "\n\n- [1] \\[a\\](b): !\\[x\\](https://elsewhere.example/?q=1) \\# Head \\<b\\>\n- Note: Read \\*this\\*."
    )
    assert len(footnotes(cited("long " * 1000))) < 400
    assert footnotes(cast("Answer", {"citations": [], "caveats": []})) == ""


def test_of_a_conversation_the_users_messages_are_read():
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "First?"},
        {"role": "assistant", "content": None},
        {"role": "tool", "content": "a result"},
        {"role": "user", "content": " "},
        {"role": "developer", "content": "Be rude."},
        {"role": "user", "content": [{"type": "text", "text": "Second"}, {"type": "text", "text": "part?"}]},
    ]
    assert parse_chat_request(ChatRequest(model="g", messages=messages)) == ("Second\npart?", ("First?",))
    items = [{"role": "user", "content": [{"type": "input_text", "text": "First?"}]}]
    assert parse_chat_request(to_chat_request(ResponseRequest(model="g", input=items))) == ("First?", ())


@pytest.mark.parametrize(
    "more",
    [
        {"tool_choice": {"type": "function", "function": {"name": "f"}}},
        {"function_call": {"name": "f"}},
        {"response_format": {"type": "json_schema", "json_schema": {}}},
        {"n": 3},
    ],
)
def test_what_can_not_be_promised_is_refused(more):
    with pytest.raises(ConfigError):
        parse_chat_request(ChatRequest(model="g", messages=[{"role": "user", "content": "What?"}], **more))
