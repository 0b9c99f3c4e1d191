"""`nacre serve`: settings -> a listening server."""

import ipaddress
import logging
import socket
from typing import Annotated

import typer


def serve(
    host: Annotated[str | None, typer.Option("--host", metavar="H", help="Address; 127.0.0.1 by default.")] = None,
    port: Annotated[
        int | None, typer.Option("--port", min=0, max=65535, metavar="P", help="Port; 8200 by default.")
    ] = None,
) -> None:
    """Serve all graphs over HTTP.

    LangServe at /ask, server-sent events at /api/ask.
    """
    import uvicorn

    from config.settings import Settings
    from serving.app import create_app

    settings = Settings()
    if not logging.getLogger().isEnabledFor(logging.WARNING):
        logging.getLogger().setLevel(logging.WARNING)
    listening = listen(host or settings.host, settings.port if port is None else port)
    address, number = listening.getsockname()[:2]
    typer.echo(f"Nacre listens on http://{address}:{number} (LangServe: /ask/playground/). Ctrl-C stops it.", err=True)
    if not ipaddress.ip_address(address).is_loopback:
        typer.echo(
            "Whoever reaches this address can ask: there are no keys yet. Put a proxy that checks before it.", err=True
        )
    server = uvicorn.Server(uvicorn.Config(create_app(settings), log_level="warning"))
    server.run(sockets=[listening])


def listen(host: str, port: int) -> socket.socket:
    """A bound socket; raises ConfigError where the address is taken or is not this machine's."""
    from records.errors import ConfigError

    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
    except OSError as error:
        raise ConfigError(
            f"Can't listen on {host}:{port} ({error.strerror}). Run: nacre serve --port N with a free port."
        ) from error
    return listening
