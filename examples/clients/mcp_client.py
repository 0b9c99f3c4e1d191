"""MCP's client, as any agent uses it.  python mcp_client.py [ADDRESS or stdio] [GRAPH] [QUESTION]"""

import asyncio
import os
import sys

import httpx2
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

argument = dict(enumerate(sys.argv))
ADDRESS = argument.get(1, "http://127.0.0.1:8200")
GRAPH = argument.get(2, "bmw")
QUESTION = argument.get(3, "Which BMW X5 variants are there?")


def server():
    if ADDRESS == "stdio":
        # the client starts the server itself, as desktop agents do
        arguments = ["-m", "nacre.serving.cli.main", "mcp"]
        return stdio_client(StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ)))
    key = os.environ.get("NACRE_KEY")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return streamable_http_client(f"{ADDRESS}/mcp", http_client=httpx2.AsyncClient(headers=headers, timeout=60))


async def main():
    async with Client(server()) as client:
        print("tools:", [tool.name for tool in (await client.list_tools()).tools])
        answer = (await client.call_tool("ask", {"question": QUESTION, "graph": GRAPH})).structured_content
        print(answer["answer"])
        print(answer["values"], answer["status"], answer["confidence"])
        description = (await client.call_tool("describe_graph", {"graph": GRAPH})).structured_content
        table = description["classes"][0]["table"]
        rows = await client.call_tool("query_sql", {"sql": f'SELECT count(*) AS n FROM "{table}"', "graph": GRAPH})
        print(table, rows.structured_content["rows"])


asyncio.run(main())
