"""Logging of the server: settings -> one line per event on stderr, as text or JSON, each with its request's id."""

import json
import logging
import time

from nacre.serving.http.limits import request_id


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
        # text from a client must not start a line of its own
        return super().format(record).replace("\r", "\\r") if record.exc_info else _one_line(super().format(record))


class JsonFormatter(logging.Formatter):
    """One JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        """Time (UTC), level, logger, request, message; the fields of an access; a traceback if there is one."""
        entry = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{record.msecs:03.0f}Z",
            "level": record.levelname,
            "logger": record.name,
            "request": request_id.get(),
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            entry["traceback"] = self.formatException(record.exc_info)
        return json.dumps(entry, ensure_ascii=False, default=str)


def _one_line(text: str) -> str:
    return text.replace("\r", "\\r").replace("\n", "\\n")
