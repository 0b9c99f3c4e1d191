"""`nacre serve`: settings -> a listening server; `nacre mcp`: one for a single agent, on stdio; `nacre keys`."""

import asyncio
import ipaddress
import logging
import os
import socket
import tempfile
import threading
import time
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from nacre.errors import ConfigError
from nacre.extension import service
from nacre.serving.cli.options import split_names
from nacre.serving.cli.turn_display import adapt_commands, print_line

if TYPE_CHECKING:
    import uvicorn
    from anyio.streams.memory import MemoryObjectSendStream
    from mcp.shared._stream_protocols import ReadStream, WriteStream
    from mcp.shared.message import SessionMessage

    from nacre.config.settings import Settings
    from nacre.serving.keys import KeyStore

# longer than clients and proxies keep an idle connection (httpx 5 s, nginx 60 s): the server must not close it first
KEEP_ALIVE_SECONDS = 75

POLL_SECONDS = 0.05


def serve(
    host: Annotated[str | None, typer.Option("--host", metavar="H", help="Address; 127.0.0.1 by default.")] = None,
    port: Annotated[
        int | None, typer.Option("--port", min=0, max=65535, metavar="P", help="Port; 8200 by default.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, max=64, metavar="N", help="Worker processes; 1 by default.")
    ] = None,
    root_path: Annotated[
        str | None, typer.Option("--root-path", metavar="/PATH", help="Path under which a proxy serves everything.")
    ] = None,
) -> None:
    """Serve all graphs over HTTP.

    A page at /, the API at /api, LangServe at /ask. Without keys (nacre keys), only this machine has access.
    """
    import uvicorn
    from uvicorn.supervisors import Multiprocess

    from graph.builder import load_settings
    from nacre.serving.http import middleware
    from nacre.serving.keys import open_keys
    from nacre.serving.telemetry import SHARED_FOLDER_VARIABLE

    settings = load_settings()
    root = _checked_root_path(settings.root_path if root_path is None else root_path)
    middleware.configure(settings.log, logging.INFO)
    # uvicorn would report a configuration error as a traceback
    asyncio.run(_check_openable(settings))
    # once, for all worker processes
    start_schema_prefill(settings)
    has_keys = bool(open_keys(settings).all())
    if settings.has_login:
        service("login", "check")(settings)
    is_locked = has_keys or settings.has_login
    host = host or _allowed_host(settings.host, is_locked)
    listening = bind_socket(host, settings.port if port is None else port, open_to_all=is_locked)
    address, number = listening.getsockname()[:2]
    url_host = f"[{address}]" if ":" in address else address
    access = "A login is required." if settings.has_login else "Keys are required."
    access = access if is_locked else "There are no keys, so only this machine has access."
    words = f"Nacre listens on http://{url_host}:{number} (API: /api/docs). {access} Ctrl-C stops the server."
    threading.Thread(target=_announce, args=(listening, words), daemon=True).start()
    processes = workers or settings.workers
    with ExitStack() as stack:
        if processes > 1 and SHARED_FOLDER_VARIABLE not in os.environ:
            os.environ[SHARED_FOLDER_VARIABLE] = stack.enter_context(
                tempfile.TemporaryDirectory(prefix="nacre-metrics-")
            )
        config = _uvicorn_config(settings, processes, root)
        if processes > 1:
            supervisor = Multiprocess(config, [listening])
            # a closed terminal stops the server; uvicorn would restart the processes
            supervisor.handle_hup = supervisor.handle_term  # type: ignore[method-assign]
            supervisor.run()
        else:
            uvicorn.Server(config).run(sockets=[listening])


PREFILL_SECONDS = 600.0  # no user waits for it, so it may take longer than a model call of a turn


def start_schema_prefill(settings: "Settings", graph: str | None = None) -> None:
    """Start prefilling the schema of `graph` (default: the newest), without waiting; only on the user's own server."""
    from nacre.config.models import is_own_server

    if settings.model and is_own_server(settings):
        threading.Thread(target=lambda: asyncio.run(_prefill(settings, graph)), daemon=True).start()


async def _prefill(settings: "Settings", graph: str | None) -> None:
    from agents.model_priors import model_limits, query_model_size
    from graph.builder import compose
    from nacre.config.models import chat_model
    from nacre.stores.sqlite.schema_sql import schema_sql

    patient = settings.model_copy(update={"model_seconds": max(PREFILL_SECONDS, settings.model_seconds)})
    model = chat_model(patient, "sql")
    library = compose(settings).library
    try:
        name = graph or max(library.names(), key=library.current, default=None)
        if model is not None and name is not None:
            with library.open(name) as opened:
                if opened.stored is None:
                    return
                describe = partial(schema_sql, opened.tables)
                prefill = service("model_agents", "prefill")
                await prefill(model, opened.schema, describe, model_limits(patient), query_model_size(patient))
    finally:
        library.close()


def _announce(listening: socket.socket, words: str) -> None:
    """Print the words as soon as a server process accepts connections on the socket, which it shares with this one."""
    while not listening.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
        time.sleep(POLL_SECONDS)
    typer.echo(words, err=True)


def _allowed_host(setting: str, has_keys: bool) -> str:
    """This machine instead, if others could reach it without keys: a container would restart it forever."""
    try:
        address = socket.getaddrinfo(setting, None, type=socket.SOCK_STREAM)[0][4][0]
    except OSError:
        return setting  # binding says what is wrong with it
    if has_keys or ipaddress.ip_address(address).is_loopback:
        return setting
    typer.echo(
        f"NACRE_HOST is {setting}, and there are no keys, so only this machine (in a container, only the container) is"
        " served. Run: nacre keys add NAME, and start the server again.",
        err=True,
    )
    return "127.0.0.1"


def _checked_root_path(text: str) -> str:
    from nacre.serving.http.middleware import OWN_PATHS, ROOT_PATH

    root = text.rstrip("/")
    # the server could not tell a path of its own from one that a proxy has left whole
    if root and (not ROOT_PATH.fullmatch(root) or OWN_PATHS.match(root)):
        raise ConfigError(f"The root path can't be {text[:100]!r}. Use one that is not the server's own, such as /kg.")
    return root


def _uvicorn_config(settings: "Settings", processes: int, root_path: str) -> "uvicorn.Config":
    import uvicorn

    from nacre.serving.http.middleware import MAX_HEAD_BYTES, BoundedConnection

    return uvicorn.Config(
        "nacre.serving.app:create_worker_app",
        factory=True,
        workers=processes,
        log_config=None,
        access_log=False,
        server_header=False,
        http=BoundedConnection,
        loop="nacre.serving.http.middleware:new_event_loop",
        ws="none",
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        # those of trusted proxies are read by ProxyMiddleware
        proxy_headers=False,
        root_path=root_path,
        timeout_graceful_shutdown=round(settings.stop_seconds) + 10,
    )


async def _check_openable(settings: "Settings") -> None:
    """Raises ConfigError if the data folder or another resource can't be opened."""
    from nacre.serving.turn_service import open_turn_service

    async with open_turn_service(settings, lasting=True, warm=False):
        pass


def bind_socket(host: str, port: int, *, open_to_all: bool) -> socket.socket:
    """Raises ConfigError if in use, not local, or reachable from other machines without `open_to_all`."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        if not open_to_all and not ipaddress.ip_address(address[0]).is_loopback:
            raise ConfigError(
                f"Other machines can reach {host}, and there are no keys. Run: nacre keys add NAME, or omit --host."
            )
        listening = socket.socket(family, kind)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
    except OSError as error:
        raise ConfigError(
            f"Can't listen on {host}:{port} ({error.strerror}). Run: nacre serve --port N with a free port."
        ) from error
    return listening


def mcp() -> None:
    """Serve all graphs to an agent, over MCP on standard input and output.

    For clients that start MCP servers themselves, with the command `nacre mcp`. `nacre serve` offers it at /mcp.
    """
    asyncio.run(_serve())


async def _serve() -> None:
    import anyio
    from mcp.server.stdio import stdio_server

    from graph.builder import load_settings
    from nacre.serving.mcp.ask import ToolContext
    from nacre.serving.mcp.server import create_mcp_server
    from nacre.serving.turn_service import open_turn_service

    async with open_turn_service(load_settings(), lasting=True) as service, stdio_server() as (incoming, outgoing):
        context = ToolContext(service)
        sender, receiver = anyio.create_memory_object_stream["SessionMessage | Exception"](0)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_forward_valid, incoming, sender, outgoing)
            # like the SDK's `run_stdio_async`, which does not accept streams
            server = create_mcp_server(lambda _: context)._lowlevel_server
            await server.run(receiver, outgoing, server.create_initialization_options())
            tasks.cancel_scope.cancel()


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


keys_app = typer.Typer(
    help="Create, list and revoke keys for nacre serve.", no_args_is_help=True, rich_markup_mode=None
)

KeyNameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Owner of the key; threads belong to this name.")]


@keys_app.command()
def add(
    name: KeyNameArgument,
    graphs: Annotated[
        list[str] | None,
        typer.Option("--graphs", metavar="a,b,...", help="Graphs that the key may read; all by default."),
    ] = None,
    may: Annotated[
        list[str] | None,
        typer.Option("--may", metavar="write,approve,share", help="Rights besides asking; none by default."),
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace the existing key of this name.")] = False,
) -> None:
    """Create a key; it is shown only once."""
    graph_names = split_names(*graphs) if graphs else None
    rights = split_names(*(may or ()))
    token = _key_store().add(name, graph_names, may=rights, replace=replace)
    print_line(token)
    typer.echo("Save it now: only its hash is stored. Clients send it as 'Authorization: Bearer KEY'.", err=True)


@keys_app.command("list")
def list_keys() -> None:
    """List all keys by name."""
    stored = _key_store().all()
    if not stored:
        from nacre.config.settings import Settings

        who = "people who log in" if Settings().has_login else "requests from this machine"
        print_line(adapt_commands(f"No keys: nacre serve accepts only {who}. Run: nacre keys add NAME"))
    width = max((len(key.name) for key in stored), default=0)
    for key in sorted(stored, key=lambda key: key.name):
        graphs = "all graphs" if key.graphs is None else ", ".join(key.graphs) or "no graph"
        state = "" if key.revoked is None else f"  revoked {_format_date(key.revoked)}"
        rights = f"  may {', '.join(key.may)}" if key.may else ""
        print_line(f"{key.name:<{width}}  created {_format_date(key.created)}  {graphs}{rights}{state}")


@keys_app.command()
def revoke(name: KeyNameArgument) -> None:
    """Revoke a key, from the next request on."""
    store = _key_store()
    store.revoke(name)
    print_line(f"Revoked '{name}'. Its threads stay.")
    if all(key.revoked is not None for key in store.all()):
        hint = (
            "No valid key is left, so nacre serve refuses every request, also from this machine. Run: nacre keys add"
            f" NAME. For access without keys, stop the server, remove the keys ({store.place}) and start it again."
        )
        typer.echo(adapt_commands(hint), err=True)


def _key_store() -> "KeyStore":
    from nacre.config.settings import Settings
    from nacre.serving.keys import open_keys

    return open_keys(Settings())


def _format_date(seconds: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(seconds))
