"""MCP as its official client sees it: over streamable HTTP in two versions of the protocol, and over standard input."""

import asyncio
import json
import sys
from contextlib import asynccontextmanager

import httpx
import pytest
from mcp import Client, StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

from tests.e2e.conftest import environment

QUESTION = "How many pages does Granite have?"
TOOLS = {"ask", "query_sql", "query_sparql", "search", "describe_graph", "describe_thing", "list_graphs"}
VERIFIED_TOOLS = {"list_verified", "confirm_answer", "confirm_query", "remove_verified", "teach_word"}
HEADERS = {"Accept": "application/json, text/event-stream"}
SCHEMA = "nacre://graphs/reading-room/schema"


def own(data, folder):
    """`nacre mcp`, started by the client."""
    arguments = ["-m", "nacre.serving.cli.main", "mcp"]
    return StdioServerParameters(command=sys.executable, args=arguments, env=environment(data), cwd=folder)


@pytest.fixture(params=["2026-07-28", "2025-11-25", "stdio"])
def connect(request, server, data, tmp_path):
    """Opens a client: a version of the protocol over HTTP, or a server of its own over standard input."""

    @asynccontextmanager
    async def connecting():
        if request.param == "stdio":
            target, mode = stdio_client(own(data, tmp_path)), "auto"
        else:
            target, mode = f"{server}/mcp", "auto" if request.param.startswith("2026") else "legacy"  # type: ignore[assignment]
        async with Client(target, mode=mode) as client:
            assert request.param in ("stdio", client.protocol_version)
            yield client

    return connecting


async def test_null_is_read_as_an_argument_that_is_left_out(connect):
    calls: dict[str, dict[str, object]] = {
        "query_sql": {"sql": "SELECT label FROM entity", "limit": None},
        "search": {"text": "Granite", "limit": None},
        "list_verified": {"search": None, "limit": None},
        "query_sparql": {"sparql": "SELECT * WHERE { ?s ?p ?o }", "limit": None},
    }
    async with connect() as client:
        for tool, arguments in calls.items():
            result = await client.call_tool(tool, {**arguments, "graph": None})
            # the graph has no triple store
            assert (result.is_error, "--sparql" in result.content[0].text) == (tool == "query_sparql",) * 2
        assert (await client.call_tool("search", {"text": "Granite", "limit": 0})).is_error


async def test_an_agent_uses_a_graph(connect):
    async with connect() as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == TOOLS | VERIFIED_TOOLS
        for tool in tools.values():
            assert tool.annotations.read_only_hint is (tool.name in TOOLS or tool.name.startswith("list"))
            assert tool.annotations.destructive_hint is tool.name.startswith("remove")
            assert tool.description
            assert tool.output_schema["properties"]

        async def called(tool, /, **arguments):
            result = await client.call_tool(tool, arguments)
            assert not result.is_error, result.content
            # those that read no structured output read the same as text
            assert json.loads(result.content[0].text) == result.structured_content
            return result.structured_content

        told = await called("ask", question=QUESTION)
        assert (told["values"], told["status"], told["graph"]) == ([540], "answered", "reading-room")
        assert told["answer"].endswith("[1].")
        assert told["citations"][0]["query"].startswith("SELECT")
        await called("ask", question=QUESTION, thread="mcp")
        assert (await called("ask", question="And The Salt Road?", thread="mcp"))["values"] == [312]

        confirmed = await called("confirm_answer", thread="mcp", turn=1)
        # an agent approves nothing, though this machine may
        assert (confirmed["question"], confirmed["approved"]) == (QUESTION, False)
        written = "SELECT pages FROM book WHERE label = 'Granite'"
        added = await called("confirm_query", question="How long is Granite?", language="sql", query=written)
        listed = (await called("list_verified"))["questions"]
        assert {each["id"] for each in listed} == {confirmed["id"], added["id"]}
        for each in listed:
            await called("remove_verified", id=each["id"])
        refused = await client.call_tool(
            "confirm_query", {"question": "All?", "language": "sql", "query": "DELETE FROM book"}
        )
        assert refused.is_error

        asked = "How many foliants are there?"
        proposed = await called("teach_word", word="foliants", question=asked)
        assert "There are 6 books." in [each["answer"] for each in proposed["proposals"]]
        assert (proposed["taught"], "“book”" in (await called("teach_word", word="book"))["problem"]) == ("", True)
        assert (await client.call_tool("teach_word", {"word": "foliants", "meaning": "sofa"})).is_error

        assert [each["name"] for each in (await called("list_graphs"))["graphs"]] == ["reading-room"]
        graph = await called("describe_graph", graph="reading-room")
        assert {each["table"] for each in graph["classes"]} == {"book", "author"}
        assert (graph["sql"], graph["sparql"], graph["search"], graph["truncated"]) == (True, False, True, False)
        assert next(each for each in graph["properties"] if each["label"] == "writer")["links_to"] == ["author"]

        rows = await called("query_sql", sql="SELECT label, pages FROM book ORDER BY pages DESC", limit=2)
        assert (rows["columns"], rows["rows"]) == (["label", "pages"], [["Granite", 540], ["Signal Box", 420]])
        assert rows["truncated"]
        found = (await called("search", text="who works at a railway station", limit=3))["found"]
        assert found[0]["source"] == "Signal Box"
        thing = await called("describe_thing", name="mira oake")
        assert (thing["label"], thing["kinds"]) == ("Mira Oake", ["author"])
        assert {each["label"] for each in thing["incoming"]} == {"The Salt Road", "Lamp Over Water"}
        assert await called("describe_thing", name=thing["iri"]) == thing

        assert SCHEMA in [str(each.uri) for each in (await client.list_resources()).resources]
        schema = (await client.read_resource(SCHEMA)).contents[0].text
        assert "CREATE TABLE book" in schema
        prompts = {prompt.name for prompt in (await client.list_prompts()).prompts}
        assert prompts == {"answer_from_graph", "explore_graph"}
        prompt = await client.get_prompt("answer_from_graph", {"question": QUESTION, "graph": "reading-room"})
        assert QUESTION in prompt.messages[0].content.text


@pytest.mark.parametrize("connect", ["2026-07-28", "2025-11-25"], indirect=True)
async def test_what_cannot_be_done_is_told(connect):
    async with connect() as client:
        for name, arguments, told in (
            ("ask", {"question": ""}, "question is empty"),
            ("ask", {"question": "x" * 5000}, "4000"),
            ("ask", {"question": QUESTION, "graph": "no-such"}, "No graph named 'no-such'"),
            ("ask", {}, "question"),
            ("query_sql", {"sql": "DELETE FROM book"}, "Only SELECT"),
            ("query_sql", {"sql": "SELECT 1; DROP TABLE book"}, "One SELECT"),
            ("query_sql", {"sql": "SELECT readfile('/etc/passwd')"}, "readfile"),
            ("query_sql", {"sql": "SELECT label FROM quark"}, "quark"),
            ("query_sql", {"sql": "SELECT label FROM book", "limit": 10**9}, "limit"),
            ("query_sparql", {"sparql": "SELECT * { ?s ?p ?o }"}, "--sparql"),
            ("describe_thing", {"name": "Zebulon Quark"}, "No thing of this graph"),
        ):
            result = await client.call_tool(name, arguments)
            assert result.is_error, name
            assert told in result.content[0].text
        with pytest.raises(MCPError) as unknown:
            await client.call_tool("delete_graph", {})
        assert unknown.value.error.code == -32602
        with pytest.raises(MCPError):
            await client.read_resource("nacre://graphs/no-such/schema")
        # and it still answers
        assert (await client.call_tool("ask", {"question": QUESTION})).structured_content["values"] == [540]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b'{"jsonrpc":', 400, -32700),
        (b"\xff\xfe", 400, -32700),
        (b"[" * 100_000, 400, -32700),
        (b'{"jsonrpc": "2.0", "id": 1}', 400, -32602),
        (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', 400, -32602),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "no/such"}', 200, -32601),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 3}}', 200, -32602),
        (b'"' + b"x" * 2_000_000 + b'"', 413, -32600),
    ],
)
def test_malformed_messages_get_the_protocols_error(server, body, status, code):
    reply = httpx.post(f"{server}/mcp", content=body, headers={**HEADERS, "Content-Type": "application/json"})
    data = reply.text.partition("data: ")[2] if reply.headers["content-type"].startswith("text/event") else reply.text
    error = json.loads(data)
    assert (reply.status_code, error["jsonrpc"], error["error"]["code"]) == (status, "2.0", code)


def test_pages_of_other_origins_and_other_methods_are_refused(server):
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    refused = httpx.post(f"{server}/mcp", json=body, headers={**HEADERS, "Origin": "https://elsewhere.example"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, -32600)
    assert httpx.post(f"{server}/mcp", json=body, headers={**HEADERS, "Origin": server}).status_code == 200
    for method in ("GET", "DELETE"):
        # there is neither a stream of the server's own nor a session
        assert httpx.request(method, f"{server}/mcp", headers=HEADERS, timeout=5).status_code == 405
    version = {"MCP-Protocol-Version": "1999-01-01"}
    assert httpx.post(f"{server}/mcp", json=body, headers={**HEADERS, **version}).status_code == 400


async def test_standard_output_has_messages_alone_and_every_line_is_answered(data, tmp_path):
    process = await asyncio.create_subprocess_exec(
        *[sys.executable, "-m", "nacre.serving.cli.main", "--debug", "mcp"],
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=tmp_path,
        env=environment(data),
    )
    hello = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    call = {"name": "ask", "arguments": {"question": QUESTION}}
    lines = [
        ("{bad", None),
        ("[1]", None),
        (json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}), 1),
        (json.dumps({"jsonrpc": "2.0", "id": 2, "method": "no/such"}), 2),
        (json.dumps({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": call}), 3),
    ]
    told = []
    for line, id in lines:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{line}\n".encode())
        told.append(json.loads(await asyncio.wait_for(process.stdout.readline(), 60)))
        assert told[-1]["id"] == id
        if id == 1:
            process.stdin.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
    assert [each["error"]["code"] for each in told if "error" in each] == [-32700, -32600, -32601]
    assert told[2]["result"]["protocolVersion"] == "2025-03-26"
    assert told[-1]["result"]["structuredContent"]["values"] == [540]
    assert process.stdin is not None
    process.stdin.close()
    rest, log = await asyncio.wait_for(process.communicate(), 30)
    assert rest == b""
    assert process.returncode == 0
    # the log goes to stderr
    assert b"DEBUG" in log
