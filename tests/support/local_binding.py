"""A binding that answers from a queue, as llama.cpp's server does: chat completions, and a slot's state on disk."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from nacre.extensions.local_model.local_engine import EngineOptions, RunningServer
from tests.support.model_servers import Reply, Server, _OpenAI


class Answering:
    """A server that was started; `listening_address` is what the engine asks for."""

    def __init__(self, listening_address: str) -> None:
        self.listening_address = listening_address


@dataclass
class Binding:
    """Starts servers whose answers are `replies`; `slots` are the actions on the slot, `most` answers at once."""

    replies: list[Reply]
    asked: list[dict[str, Any]] = field(default_factory=list)
    slots: list[str] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)
    loads: int = 0
    now: int = 0
    most: int = 0
    servers: list[ThreadingHTTPServer] = field(default_factory=list)

    def start(self, load: EngineOptions, home: str, key: str) -> RunningServer:
        """Stands for `llama_server`."""
        self.loads += 1
        http = ThreadingHTTPServer(("127.0.0.1", 0), _Llama)
        http.state = Server("", self.replies, self.asked)  # type: ignore[attr-defined]
        http.takes, http.ignores = ("json_schema",), ()  # type: ignore[attr-defined]
        http.binding, http.key, http.states = self, key, load.states  # type: ignore[attr-defined]
        threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}).start()
        self.servers.append(http)
        return Answering(f"http://127.0.0.1:{http.server_address[1]}")


@contextmanager
def binding(*replies: Reply) -> Iterator[Binding]:
    """A binding whose servers end with the block."""
    made = Binding(list(replies))
    try:
        yield made
    finally:
        for http in made.servers:
            http.shutdown()
            http.server_close()


class _Llama(_OpenAI):
    def do_POST(self) -> None:
        made: Binding = self.server.binding  # type: ignore[attr-defined]
        if self.headers["authorization"] != f"Bearer {self.server.key}":  # type: ignore[attr-defined]
            self.begin(401, "application/json", Reply())
            return
        if not self.path.startswith("/slots/0"):
            made.now += 1
            made.most = max(made.most, made.now)
            super().do_POST()
            made.now -= 1
            return
        action = parse_qs(urlsplit(self.path).query)["action"][0]
        filename = json.loads(self.rfile.read(int(self.headers["content-length"])))["filename"]
        made.slots.append(action)
        if action == "save":
            Path(self.server.states, filename).write_bytes(b"state")  # type: ignore[attr-defined]
        self.begin(400 if action in made.broken else 200, "application/json", Reply())
        self.wfile.write(b"{}")
