"""Lines of the log: one each, not too long, and nothing in them that a terminal obeys."""

import json
import logging

import pytest

from nacre.serving.http.middleware import MAX_LINE, MAX_LOGGED_PATH, JsonFormatter, TextFormatter, loggable


def record(message: str) -> logging.LogRecord:
    return logging.LogRecord("nacre", logging.INFO, "f.py", 1, "%s", (message,), None)


@pytest.mark.parametrize("formatter", [TextFormatter(), JsonFormatter()])
def test_a_line_has_no_controls_and_an_end(formatter: logging.Formatter) -> None:
    line = formatter.format(record("a\r\nb \x1b[2J \x9b31m \u202e" + "x" * 100_000))
    assert line.isprintable()
    assert len(line) < MAX_LINE + 500
    if isinstance(formatter, JsonFormatter):
        assert json.loads(line)["message"].startswith("a\\r\\nb \\x1b[2J")


def test_a_traceback_keeps_its_lines() -> None:
    try:
        raise ValueError("\x1b[2J")
    except ValueError as error:
        failed = record("failed")
        failed.exc_info = (type(error), error, error.__traceback__)
    line = TextFormatter().format(failed)
    assert "\n" in line
    assert "\x1b" not in line


def test_a_path_is_cut_and_escaped() -> None:
    assert loggable("/a\x1bb") == "/a\\x1bb"
    assert len(loggable("/" * 60_000)) == MAX_LOGGED_PATH + 3
