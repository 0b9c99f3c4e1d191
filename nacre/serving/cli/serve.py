"""`nacre serve`: settings -> a listening server."""

import asyncio
import ipaddress
import logging
import os
import socket
import tempfile
import threading
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    import uvicorn

    from nacre.config.settings import Settings

# longer than clients and proxies keep an idle connection (httpx 5 s, nginx and load balancers 60 s): whoever closes it
# first must not be the server, whose end meets the next request on its way
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
) -> None:
    """Serve all graphs over HTTP.

    A page at /, the API at /api, LangServe at /ask. Without keys (nacre keys), only this machine has access.
    """
    import uvicorn
    from uvicorn.supervisors import Multiprocess

    from graph.app import load_settings
    from nacre.serving.http import logs
    from nacre.serving.http.metrics import SHARED_FOLDER_VARIABLE
    from nacre.serving.keys import open_keys
    from nacre.serving.prefill_schema import start_schema_prefill

    settings = load_settings()
    logs.configure(settings.log, logging.INFO)
    # uvicorn would report a configuration error as a traceback
    asyncio.run(_check_openable(settings))
    # once, for all worker processes
    start_schema_prefill(settings)
    has_keys = bool(open_keys(settings).all())
    host = host or _allowed_host(settings.host, has_keys)
    listening = bind_socket(host, settings.port if port is None else port, open_to_all=has_keys)
    address, number = listening.getsockname()[:2]
    url_host = f"[{address}]" if ":" in address else address
    access = "Keys are required." if has_keys else "There are no keys, so only this machine has access."
    words = f"Nacre listens on http://{url_host}:{number} (API: /api/docs). {access} Ctrl-C stops the server."
    threading.Thread(target=_announce, args=(listening, words), daemon=True).start()
    processes = workers or settings.workers
    with ExitStack() as stack:
        if processes > 1 and SHARED_FOLDER_VARIABLE not in os.environ:
            os.environ[SHARED_FOLDER_VARIABLE] = stack.enter_context(
                tempfile.TemporaryDirectory(prefix="nacre-metrics-")
            )
        config = _uvicorn_config(settings, processes)
        if processes > 1:
            supervisor = Multiprocess(config, [listening])
            # a closed terminal stops the server; uvicorn would restart the processes
            supervisor.handle_hup = supervisor.handle_term  # type: ignore[method-assign]
            supervisor.run()
        else:
            uvicorn.Server(config).run(sockets=[listening])


def _announce(listening: socket.socket, words: str) -> None:
    """Print the words as soon as a server process accepts connections on the socket, which it shares with this one."""
    while not listening.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
        time.sleep(POLL_SECONDS)
    typer.echo(words, err=True)


def _allowed_host(setting: str, has_keys: bool) -> str:
    """The address in the settings, or this machine if others could reach it and there are no keys: what restarts a
    server that ends, such as a container, would start it forever."""
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


def _uvicorn_config(settings: "Settings", processes: int) -> "uvicorn.Config":
    import uvicorn

    from nacre.serving.http.connection import MAX_HEAD_BYTES, BoundedConnection

    return uvicorn.Config(
        "nacre.serving.app:create_worker_app",
        factory=True,
        workers=processes,
        log_config=None,
        access_log=False,
        server_header=False,
        http=BoundedConnection,
        loop="nacre.serving.http.event_loop:new_event_loop",
        ws="none",
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        # only the named proxies are trusted to state the client's address
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=settings.trusted_proxies,
        timeout_graceful_shutdown=round(settings.stop_seconds) + 10,
    )


async def _check_openable(settings: "Settings") -> None:
    """Raises ConfigError if the data folder or another resource can't be opened."""
    from nacre.serving.turn_service import open_turn_service

    async with open_turn_service(settings, lasting=True, warm=False):
        pass


def bind_socket(host: str, port: int, *, open_to_all: bool) -> socket.socket:
    """A bound socket; raises ConfigError if the address is in use or not local, or if other machines can reach it and
    the server is not `open_to_all`."""
    from nacre.errors import ConfigError

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
