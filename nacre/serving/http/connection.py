"""uvicorn's connection, bounded: a client that begins a request and does not finish it is cut off."""

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

# the head of a request, where uvicorn's other parser (httptools) takes any number of bytes
MAX_HEAD_BYTES = 65_536


class BoundedConnection(H11Protocol):
    """Closes the connection where a request that has begun, its body included, is not whole within `seconds`.

    uvicorn makes connections itself and sends the class to its workers by name, so that each process sets `seconds`.
    """

    seconds = 30.0
    _unfinished: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._settled()
        super().connection_lost(exc)

    def _watch(self) -> None:
        # IDLE: no whole head yet; SEND_BODY: no whole body. Between two requests uvicorn's own limit holds
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._settled()
        elif self._unfinished is None:
            self._unfinished = self.loop.call_later(self.seconds, self._cut)

    def _cut(self) -> None:
        self._unfinished = None
        if not self.transport.is_closing():
            self.transport.abort()

    def _settled(self) -> None:
        if self._unfinished is not None:
            self._unfinished.cancel()
            self._unfinished = None
