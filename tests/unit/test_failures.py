import errno

import pytest

from nacre.config.settings import Settings
from nacre.errors import ConfigError, IngestionError, ToolError
from nacre.serving.cli.main import explain_error


def raised(callable_, *arguments, **named):
    with pytest.raises(Exception) as caught:  # noqa: PT011
        callable_(*arguments, **named)
    return caught.value


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (ConfigError("No graph named 'x'.\nRun: nacre graphs"), 2, "No graph named 'x'. Run: nacre graphs"),
        (IngestionError("a.ttl, line 3: not RDF"), 2, "a.ttl, line 3: not RDF"),
        (ToolError("timeout", "took too long"), 2, "took too long"),
        (KeyboardInterrupt(), 130, "Stopped."),
        (SystemExit(3), 3, ""),
        (PermissionError(errno.EACCES, "Permission denied", "data/x"), 2, "No permission to use data/x"),
        (OSError(errno.EROFS, "Read-only file system", "data/x"), 2, "No permission to use data/x"),
        (OSError(errno.ENOSPC, "No space left on device"), 2, "No space left on the disk"),
        (FileNotFoundError(errno.ENOENT, "No such file", "q.jsonl"), 2, "No file q.jsonl"),
        (OSError(errno.EIO, "Input/output error"), 2, "nacre doctor"),
        (ZeroDivisionError("division by zero"), 70, "ZeroDivisionError: division by zero"),
    ],
)
def test_each_error_has_one_line_and_a_code(error, code, told):
    message, given = explain_error(error)
    assert given == code
    assert told in message
    assert "\n" not in message


def test_a_setting_that_cannot_be_used_is_named():
    error = raised(Settings, max_rounds="many", port=-1, _env_file=None)
    message, code = explain_error(error)
    assert code == 2
    assert "NACRE_MAX_ROUNDS" in message
    assert "NACRE_PORT" in message
