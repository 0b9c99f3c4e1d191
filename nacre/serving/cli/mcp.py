"""`nacre mcp`: serve all graphs to one agent, over MCP on standard input and output."""

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectSendStream
    from mcp.server.mcpserver import MCPServer
    from mcp.shared._stream_protocols import ReadStream, WriteStream
    from mcp.shared.message import SessionMessage


def mcp() -> None:
    """Serve all graphs to an agent, over MCP on standard input and output.

    For clients that start MCP servers themselves, with the command `nacre mcp`. `nacre serve` offers it at /mcp.
    """
    asyncio.run(_serve())


async def _serve() -> None:
    import anyio
    from mcp.server.stdio import stdio_server

    from graph.app import load_settings
    from nacre.serving.mcp.ask import ToolContext
    from nacre.serving.mcp.server import create_mcp_server
    from nacre.serving.turn_service import open_turn_service

    async with open_turn_service(load_settings(), lasting=True) as service, stdio_server() as (incoming, outgoing):
        context = ToolContext(service)
        sender, receiver = anyio.create_memory_object_stream["SessionMessage | Exception"](0)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_forward_valid, incoming, sender, outgoing)
            await _run_server(create_mcp_server(lambda _: context), receiver, outgoing)
            tasks.cancel_scope.cancel()


async def _run_server(
    mcp: "MCPServer", incoming: "ReadStream[SessionMessage | Exception]", outgoing: "WriteStream[SessionMessage]"
) -> None:
    # like the SDK's `run_stdio_async`, which does not accept streams
    server = mcp._lowlevel_server
    await server.run(incoming, outgoing, server.create_initialization_options())


async def _forward_valid(
    incoming: "ReadStream[SessionMessage | Exception]",
    valid: "MemoryObjectSendStream[SessionMessage | Exception]",
    outgoing: "WriteStream[SessionMessage]",
) -> None:
    """Forward valid messages; reply to other lines with JSON-RPC's error, which the SDK does not do."""
    from mcp.shared.message import SessionMessage
    from mcp.types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
    from pydantic import ValidationError

    async with valid:
        async for message in incoming:
            if not isinstance(message, Exception):
                await valid.send(message)
                continue
            kinds = {each["type"] for each in message.errors()} if isinstance(message, ValidationError) else set()
            is_json_error = "json_invalid" in kinds or not kinds
            error = ErrorData(
                code=PARSE_ERROR if is_json_error else INVALID_REQUEST,
                message="The line can't be read as JSON." if is_json_error else "The line is not a JSON-RPC message.",
            )
            await outgoing.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=None, error=error)))
