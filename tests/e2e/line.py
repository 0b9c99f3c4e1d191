"""A line between a client and a server on this machine, which can be held up, cut and joined again: port -> Line."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress


class Line:
    """Forwards connections to `port`. While it is held, nothing that the server says gets through; `seen` is given what
    does."""

    def __init__(self, port: int, seen: Callable[[bytes], None] = lambda data: None) -> None:
        self.to = port
        self._seen = seen
        self._free = threading.Event()
        self._free.set()
        self._open: list[socket.socket] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def hold(self) -> None:
        self._free.clear()

    def release(self) -> None:
        self._free.set()

    def cut(self) -> None:
        """Break all connections that are open; new ones are taken."""
        for each in self._open:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self._open.clear()

    def close(self) -> None:
        self.release()
        self._listening.close()
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listening.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(("127.0.0.1", self.to))
            except OSError:
                near.close()
                continue
            self._open += [near, far]
            threading.Thread(target=self._pass, args=(near, far), daemon=True).start()
            threading.Thread(target=self._pass, args=(far, near, self._free), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, free: threading.Event | None = None) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if free is not None:
                    free.wait()
                    self._seen(data)
                target.sendall(data)
        for each in (source, target):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()


@contextmanager
def line_to(port: int, seen: Callable[[bytes], None] = lambda data: None) -> Iterator[Line]:
    """A line that ends with the block."""
    line = Line(port, seen)
    try:
        yield line
    finally:
        line.close()
