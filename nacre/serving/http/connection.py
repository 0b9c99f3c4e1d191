"""uvicorn's connection with a time limit: a client that starts a request and does not finish it is disconnected.

The event loop of the server is uvloop if it is installed, on which a turn takes an eighth less time.
"""

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

MAX_HEAD_BYTES = 65_536  # limit for the head of a request; uvicorn's other parser (httptools) has none


class BoundedConnection(H11Protocol):
    """Closes the connection if a request is not complete, body included, within `seconds` of its first byte.

    uvicorn creates connections itself and passes the class to its workers by name, so each process sets `seconds`.
    """

    seconds = 30.0
    _unfinished: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        # the address that the connection comes from, whatever its headers say: `request.state.peer`
        self.app_state = {**self.app_state, "peer": self.client[0] if self.client else ""}
        self._update_timer()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._update_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_timer()
        super().connection_lost(exc)

    def _update_timer(self) -> None:
        # IDLE: incomplete head; SEND_BODY: incomplete body. Between requests uvicorn's own limit applies
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._cancel_timer()
        elif self._unfinished is None:
            self._unfinished = self.loop.call_later(self.seconds, self._abort)

    def _abort(self) -> None:
        self._unfinished = None
        if not self.transport.is_closing():
            self.transport.abort()

    def _cancel_timer(self) -> None:
        if self._unfinished is not None:
            self._unfinished.cancel()
            self._unfinished = None


def new_event_loop() -> asyncio.AbstractEventLoop:
    """A new event loop; Python's own without uvloop, as on Windows."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()
