"""Hostile requests of the protocols that clients of other vendors speak: protocol -> requests with their statuses."""

from typing import Any

from benchmarks.abuse.case import GRAPH, RequestCase

QUESTION = "Which car has the highest price?"
LONG = "A" * 60_000
JSON = {"Content-Type": "application/json"}
ASKED = {"question": QUESTION, "graph": GRAPH}


def _agui(*, messages: int = 1, **fields: Any) -> dict[str, Any]:
    """The input of a run whose last message is the question."""
    said = [{"id": str(number), "role": "user", "content": QUESTION} for number in range(messages)]
    return {"threadId": "abuse", "runId": "abuse", "messages": said, "forwardedProps": {"graph": GRAPH}, **fields}


def _a2a(method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def _a2a_message(parts: int = 1, **fields: Any) -> dict[str, Any]:
    text = [{"text": QUESTION} for _ in range(parts)]
    message = {"messageId": "abuse", "role": "ROLE_USER", "parts": text, "metadata": {"graph": GRAPH}}
    return {"message": message, **fields}


A2A_VERSION = {"A2A-Version": "1.0"}
INTERRUPT = {"interruptId": "abuse", "status": "resolved", "payload": {"option": 1}}
# the address that gives a machine of a cloud its credentials
PUSH: dict[str, Any] = {"configuration": {"taskPushNotificationConfig": {"url": "http://169.254.169.254/"}}}
# agents of other vendors; JSON-RPC reports errors with HTTP status 200
AGENT_CASES = (
    RequestCase("AG-UI: 5,000 messages", "/agui", _agui(messages=5000)),
    RequestCase("AG-UI: a state of 40,000 values", "/agui", _agui(state={"a": [0] * 40_000}), (200,)),
    RequestCase("AG-UI: a tool whose description is 500 KB", "/agui",
                _agui(tools=[{"name": "t", "description": "Obey. " * 83_000}]), (200,)),
    RequestCase("AG-UI: an interrupt that nobody raised", "/agui", _agui(resume=[INTERRUPT]), (404,)),
    RequestCase("AG-UI: 9,000 resumed interrupts", "/agui", _agui(resume=[INTERRUPT] * 9000)),
    RequestCase("A2A: 9,000 parts", "/a2a", _a2a("SendMessage", _a2a_message(9000)), (200,), headers=A2A_VERSION),
    RequestCase("A2A: a message that asks to call an address", "/a2a",
                _a2a("SendMessage", _a2a_message(**PUSH)), (200,), headers=A2A_VERSION),
    RequestCase("A2A: a page token of 5,000 digits", "/a2a",
                _a2a("ListTasks", {"pageToken": "9" * 5000}), (200,), headers=A2A_VERSION),
    RequestCase("A2A: the card with a host of 3,000 letters", "/.well-known/agent-card.json", None, (200, 400), "GET",
                headers={"Host": "h" * 3000}),
)  # fmt: skip
RUN = {"assistant_id": GRAPH, "input": {"question": QUESTION}}
LANGGRAPH_CASES = (
    RequestCase("LangGraph: a webhook", "/langgraph/runs/wait", {**RUN, "webhook": "http://127.0.0.1:1/"}),
    RequestCase("LangGraph: a delay of a year", "/langgraph/runs", {**RUN, "after_seconds": 3e7}),
    RequestCase("LangGraph: 33 runs in a batch", "/langgraph/runs/batch", [RUN] * 33),
    RequestCase("LangGraph: an image", "/langgraph/runs/wait", {**RUN, "input": {"messages": [["user", [{}]]]}}),
    RequestCase("LangGraph: the thread of another key", "/langgraph/threads/ann:t/runs/wait", RUN, (404,)),
    RequestCase("LangGraph: values of a state", "/langgraph/threads/t/state", {"values": {"turn": 9}}, (404, 422)),
    RequestCase("LangGraph: metadata of 60 KB", "/langgraph/threads", {"metadata": {"a": LONG}}),
    RequestCase(
        "LangGraph: 5,000 filters", "/langgraph/threads/search", {"metadata": {str(n): n for n in range(5000)}}
    ),
    RequestCase("LangGraph: a history of a billion", "/langgraph/threads/t/history", {"limit": 10**9}),
)


def _chat(*, messages: int = 1, **fields: Any) -> dict[str, Any]:
    return {"model": GRAPH, "messages": [{"role": "user", "content": QUESTION}] * messages, **fields}


OBEY: list[dict[str, Any]] = [
    {"role": "system", "content": "Obey. " * 10_000},
    {"role": "tool", "tool_call_id": "t", "content": "Obey. " * 10_000},
    {"role": "user", "content": QUESTION},
]
OPENAI_CASES = (
    RequestCase("OpenAI: 5,000 messages", "/v1/chat/completions", _chat(messages=5000), (400,)),
    RequestCase("OpenAI: a conversation of 3,999 questions", "/v1/chat/completions", _chat(messages=3999), (200,)),
    RequestCase("OpenAI: instructions of 120 KB", "/v1/chat/completions", {"model": GRAPH, "messages": OBEY}, (200,)),
    RequestCase("OpenAI: an image to fetch", "/v1/chat/completions", {"model": GRAPH, "messages": [{
        "role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://169.254.169.254/"}}]}]}, (400,)),
    RequestCase("OpenAI: a response with a file to read", "/v1/responses", {"model": GRAPH, "input": [{
        "role": "user", "content": [{"type": "input_file", "file_url": "file:///etc/passwd"}]}]}, (400,)),
    RequestCase("OpenAI: a model that is a path", "/v1/chat/completions", _chat(model="../../keys"), (404,)),
)  # fmt: skip
LANGSERVE_CASES = (
    RequestCase("config null", "/ask/invoke", {"input": ASKED, "config": None}),
    RequestCase("a list of null as config", "/ask/batch", {"inputs": [ASKED], "config": [None]}),
    RequestCase("LangServe: 33 questions in a batch", "/ask/batch", {"inputs": [ASKED] * 33}),
    RequestCase("LangServe: a config with a thread, an owner and callbacks", "/ask/invoke", {"input": ASKED, "config": {
        "configurable": {"thread_id": "local:t", "owner": "bo", "asked_from": {}}, "recursion_limit": 10**9}}, (200,)),
    RequestCase("LangServe: a configuration in the path", "/ask/c/N4XyA/invoke", {"input": ASKED}, (404, 405)),
    RequestCase("LangServe: a file above the playground", "/ask/playground/..%2f..%2f..%2f__init__.py", None,
                (404,), "GET"),
)  # fmt: skip
MCP_HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}


def _mcp(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


# JSON-RPC reports errors with HTTP status 200
MCP_CASES = tuple(
    RequestCase(f"MCP: {what}", "/mcp", body, (200, 400), headers=MCP_HEADERS)
    for what, body in {
        "a question of 60 KB": _mcp("tools/call", name="ask", arguments={**ASKED, "question": LONG}),
        "a tool that is not there": _mcp("tools/call", name="../ask", arguments={}),
        "a resource above its folder": _mcp("resources/read", uri="nacre://graphs/../../keys/schema"),
        "a file as a resource": _mcp("resources/read", uri="file:///etc/passwd"),
        "a reply that nobody asked for": _mcp(
            "tools/call", name="ask", arguments=ASKED, inputResponses={"n": {}}, requestState=LONG
        ),
        "10,000 arguments": _mcp("tools/call", name="ask", arguments={str(n): n for n in range(10_000)}),
    }.items()
)
PROTOCOL_CASES = (*AGENT_CASES, *LANGGRAPH_CASES, *OPENAI_CASES, *LANGSERVE_CASES, *MCP_CASES)
