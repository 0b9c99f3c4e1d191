"""Network reads and writes that end at a deadline: httpx client -> the same client, whose exchanges can't be drawn out.
httpx's timeout holds for a single read, so a server that sends a byte now and then keeps within it for ever."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from ssl import SSLContext
from typing import Any

import httpcore
import httpx

_current = threading.local()


@contextmanager
def network_deadline(deadline: float) -> Iterator[None]:
    """Network operations of this thread end at `deadline` (seconds of time.monotonic)."""
    _current.deadline = deadline
    try:
        yield
    finally:
        _current.deadline = None


def bound_to_deadlines(client: httpx.Client) -> httpx.Client:
    """The client, whose connections, those through proxies too, keep `network_deadline`."""
    # httpx has no public way to set the network backend of a client that also uses the proxies of the environment
    for transport in (client._transport, *client._mounts.values()):
        pool = getattr(transport, "_pool", None)
        if pool is not None:
            pool._network_backend = _DeadlineBackend(pool._network_backend)
    return client


def _time_left(timeout: float | None, error: type[Exception]) -> float | None:
    deadline: float | None = getattr(_current, "deadline", None)
    if deadline is None:
        return timeout
    left = deadline - time.monotonic()
    if left <= 0:
        raise error("the deadline of the exchange has passed")
    return left if timeout is None else min(timeout, left)


class _DeadlineBackend(httpcore.NetworkBackend):
    def __init__(self, backend: httpcore.NetworkBackend) -> None:
        self._backend = backend

    def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, *given: Any, **options: Any
    ) -> httpcore.NetworkStream:
        left = _time_left(timeout, httpcore.ConnectTimeout)
        return _DeadlineStream(self._backend.connect_tcp(host, port, left, *given, **options))

    def sleep(self, seconds: float) -> None:
        self._backend.sleep(seconds)


class _DeadlineStream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _time_left(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _time_left(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        left = _time_left(timeout, httpcore.ConnectTimeout)
        return _DeadlineStream(self._stream.start_tls(ssl_context, server_hostname, left))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
