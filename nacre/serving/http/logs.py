"""Logging of the server: settings -> one line per event on stderr, as text or JSON, each with its request's id."""

import json
import logging
import time

from nacre.language.sanitize import escape_controls
from nacre.serving.http.limits import request_id

# characters of a line (given); tracebacks are not shortened
MAX_LINE = 2000


def configure(form: str, level: int) -> None:
    """Send all logs to stderr in one format; libraries log warnings and errors only."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter() if form == "json" else TextFormatter())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    for package in ("nacre", "graph", "agents", "tools"):
        logging.getLogger(package).setLevel(level)


class TextFormatter(logging.Formatter):
    """Plain text for a terminal."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s [%(request)s] %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        """The line, with the id of its request."""
        record.request = request_id.get() or "-"
        # text from a client must neither start a line of its own nor be obeyed by a terminal
        text = escape_controls(super().format(record), keep="\n" if record.exc_info else "")
        return text if record.exc_info else _shorten(text)


class JsonFormatter(logging.Formatter):
    """One JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        """Time (UTC), level, logger, request, message; the fields of an access; a traceback if there is one."""
        entry = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{record.msecs:03.0f}Z",
            "level": record.levelname,
            "logger": record.name,
            "request": request_id.get(),
            "message": _shorten(escape_controls(record.getMessage())),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            entry["traceback"] = self.formatException(record.exc_info)
        return json.dumps(entry, ensure_ascii=False, default=str)


def _shorten(text: str) -> str:
    return text if len(text) <= MAX_LINE else f"{text[:MAX_LINE]}..."
