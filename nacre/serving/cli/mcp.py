"""`nacre mcp`: all graphs for one agent, over MCP on standard input and output."""

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectSendStream
    from mcp.server.mcpserver import MCPServer
    from mcp.shared._stream_protocols import ReadStream, WriteStream
    from mcp.shared.message import SessionMessage


def mcp() -> None:
    """Let an agent use all graphs, over MCP on standard input and output.

    For clients that start their servers themselves, with the command `nacre mcp`. `nacre serve` has the same at /mcp.
    """
    asyncio.run(_serve())


async def _serve() -> None:
    import anyio
    from mcp.server.stdio import stdio_server

    from graph.app import load_settings
    from nacre.serving.mcp.server import create_mcp_server
    from nacre.serving.mcp.tools import ToolContext
    from nacre.serving.turn_service import open_turn_service

    async with open_turn_service(load_settings(), lasting=True) as service, stdio_server() as (incoming, outgoing):
        place = ToolContext(service)
        told, heard = anyio.create_memory_object_stream["SessionMessage | Exception"](0)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_sift, incoming, told, outgoing)
            await _run(create_mcp_server(lambda _: place), heard, outgoing)
            tasks.cancel_scope.cancel()


async def _run(
    mcp: "MCPServer", incoming: "ReadStream[SessionMessage | Exception]", outgoing: "WriteStream[SessionMessage]"
) -> None:
    # as its `run_stdio_async`, which takes no streams
    server = mcp._lowlevel_server
    await server.run(incoming, outgoing, server.create_initialization_options())


async def _sift(
    incoming: "ReadStream[SessionMessage | Exception]",
    told: "MemoryObjectSendStream[SessionMessage | Exception]",
    outgoing: "WriteStream[SessionMessage]",
) -> None:
    """Hand on the messages; a line that is none is answered with JSON-RPC's error, which the SDK leaves out."""
    from mcp.shared.message import SessionMessage
    from mcp.types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
    from pydantic import ValidationError

    async with told:
        async for message in incoming:
            if not isinstance(message, Exception):
                await told.send(message)
                continue
            kinds = {each["type"] for each in message.errors()} if isinstance(message, ValidationError) else set()
            broken = "json_invalid" in kinds or not kinds
            error = ErrorData(
                code=PARSE_ERROR if broken else INVALID_REQUEST,
                message="The line can't be read as JSON." if broken else "The line is no JSON-RPC message.",
            )
            await outgoing.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=None, error=error)))
