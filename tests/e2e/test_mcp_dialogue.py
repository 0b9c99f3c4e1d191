"""MCP beyond single calls, as its official client sees it: questions back, progress, resources of a layer, keys."""

import json
import sys
from pathlib import Path

import httpx
import pytest
from mcp import Client, StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError
from mcp.types import ElicitResult

from tests.e2e.conftest import command, environment, serving

ARTS = Path(__file__).parents[1] / "fixtures/graphs/painters.ttl"
LAYER = """
# written by someone who wants to stay unknown
classes:
  Painter: {also: [artist]}
"""
# two links fit as well, and neither is named
UNSURE, OTHER = "Where did Mira Holt live?", "towns that Mira Holt died in"


@pytest.fixture(scope="module")
def arts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("arts")
    (folder / "arts.yaml").write_text(LAYER, encoding="utf-8")
    made = command(folder / "data", folder)(
        "ingest", ARTS, "--graph", "arts", "--no-vectors", "--layer", folder / "arts.yaml"
    )
    assert made.returncode == 0, made.stderr
    with serving(folder / "data", folder) as (address, _):
        yield address, folder


@pytest.fixture
def connect(arts):
    """Opens a client over HTTP."""
    return lambda **more: Client(f"{arts[0]}/mcp", **more)


def replying(*replies):
    """A client's form, which gives these replies in turn, and the questions that it was shown."""
    shown = []

    async def show(context, params):
        shown.append(params)
        action, content = replies[len(shown) - 1]
        return ElicitResult(action=action, content=content)

    return show, shown


async def ask(client, question, **arguments):
    result = await client.call_tool("ask", {"question": question, **arguments})
    assert not result.is_error, result.content
    return result.structured_content


@pytest.mark.parametrize("thread", [None, "trip"])
async def test_a_client_that_shows_forms_is_asked_which_reading_was_meant(connect, thread):
    show, shown = replying(("accept", {"option": OTHER}))
    async with connect(elicitation_callback=show) as client:
        answer = await ask(client, UNSURE, thread=thread)
        assert shown[0].requested_schema["properties"]["option"]["enum"] == [OTHER]
        assert "Or did you mean" in shown[0].message
        assert (answer["values"], answer["status"], answer["thread"]) == (["Visby"], "answered", thread)
        # a sure answer asks nothing
        assert (await ask(client, "How many painters are there?"))["values"] == [3]
        assert len(shown) == 1


async def test_who_chooses_nothing_gets_the_first_answer(connect):
    for action in ("decline", "cancel"):
        show, shown = replying((action, None))
        async with connect(elicitation_callback=show) as client:
            answer = await ask(client, UNSURE)
            assert (answer["values"], answer["status"]) == (["Lund"], "clarify")
            assert [option["words"] for option in answer["options"]] == [OTHER]
            assert len(shown) == 1


async def test_a_client_without_forms_gets_the_options(connect):
    async with connect() as client:
        answer = await ask(client, UNSURE)
        assert (answer["status"], answer["options"]) == ("clarify", [{"n": 1, "words": OTHER}])


async def test_a_reply_that_names_no_option_is_an_error(connect):
    show, _ = replying(("accept", {"colour": "blue"}))
    async with connect(elicitation_callback=show) as client:
        result = await client.call_tool("ask", {"question": UNSURE})
        assert result.is_error
        assert "option" in result.content[0].text


async def test_progress_is_reported_while_a_turn_runs(connect):
    seen = []

    async def report(progress, total, message):
        seen.append((progress, message))

    async with connect() as client:
        result = await client.call_tool("ask", {"question": "How many painters are there?"}, progress_callback=report)
        assert result.structured_content["values"] == [3]
    assert [number for number, _ in seen] == list(range(1, len(seen) + 1))
    words = [message for _, message in seen]
    assert words[0].startswith("Understood as: ")
    assert any(each.startswith("Asking sql") for each in words)
    assert any(each.startswith("sql: ") for each in words)


async def test_a_server_over_standard_input_asks_while_the_call_runs(arts):
    _, folder = arts
    seen = []

    async def report(progress, total, message):
        seen.append(message)

    show, shown = replying(("accept", {"option": OTHER}), ("decline", None))
    arguments = ["-m", "nacre.serving.cli.main", "mcp"]
    server = StdioServerParameters(command=sys.executable, args=arguments, env=environment(folder / "data"), cwd=folder)
    async with Client(stdio_client(server), mode="legacy", elicitation_callback=show) as client:
        result = await client.call_tool("ask", {"question": UNSURE}, progress_callback=report)
        assert (result.structured_content["values"], result.structured_content["status"]) == (["Visby"], "answered")
        assert seen
        answer = await ask(client, UNSURE, thread="trip")
        assert (answer["values"], answer["status"], len(shown)) == (["Lund"], "clarify", 2)


async def test_schema_and_layer_are_resources(connect):
    async with connect() as client:
        uris = [str(each.uri) for each in (await client.list_resources()).resources]
        assert uris == [f"nacre://graphs/arts/{kind}" for kind in ("schema", "layer", "verified")]
        templates = {each.uri_template for each in (await client.list_resource_templates()).resource_templates}
        assert templates == {f"nacre://graphs/{{graph}}/{kind}" for kind in ("schema", "layer", "verified")}
        layer = (await client.read_resource(uris[1])).contents[0].text
        assert "artist" in layer
        assert "unknown" not in layer
        with pytest.raises(MCPError):
            await client.read_resource("nacre://graphs/no-such/layer")


def call_ask(address, replies=None, key=""):
    """The result of one call of the tool, with the replies of a form."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    }
    params = {"name": "ask", "arguments": {"question": UNSURE, "graph": "arts"}, "_meta": meta}
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "ask"}
    reply = httpx.post(
        f"{address}/mcp",
        json={
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": params | ({"inputResponses": replies} if replies else {}),
        },
        headers=headers
        | {"Accept": "application/json, text/event-stream"}
        | ({"Authorization": f"Bearer {key}"} if key else {}),
        timeout=60,
    )
    data = reply.text.partition("data: ")[2] if reply.headers["content-type"].startswith("text/ev") else reply.text
    return json.loads(data)["result"]


def test_a_reply_is_asked_like_any_question(arts):
    """The reply of a client is not trusted: it has the bounds of a question, and reaches no other graph."""
    for words, told in (("x" * 5000, "4000"), ("", "question is empty")):
        result = call_ask(arts[0], {"which": {"action": "accept", "content": {"option": words}}})
        assert result["isError"]
        assert told in result["content"][0]["text"]


def test_who_declines_gets_no_answer_about_a_graph_that_the_key_has_lost(arts):
    address, folder = arts
    run = command(folder / "data", folder)
    try:
        key = run("keys", "add", "carol", "--graphs", "arts").stdout.strip()
        assert "which" in call_ask(address, key=key)["inputRequests"]
        decline = {"which": {"action": "decline"}}
        assert "Lund" in str(call_ask(address, decline, key))
        key = run("keys", "add", "carol", "--replace", "--graphs", "cars").stdout.strip()
        lost = call_ask(address, decline, key)
        assert lost["isError"]
        assert "Lund" not in str(lost)
    finally:
        run("keys", "revoke", "carol")
