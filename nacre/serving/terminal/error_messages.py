"""Error messages of commands: exception -> one line for stderr and an exit code."""

import errno
import logging
import sys

from nacre.errors import GraphNotFound, NacreError

EXIT_BAD_INPUT = 2
EXIT_INTERNAL_ERROR = 70
EXIT_INTERRUPTED = 130

log = logging.getLogger(__name__)


def explain_error(error: BaseException) -> tuple[str, int]:
    """One line for stderr ("" if there is nothing to report) and the exit code."""
    if isinstance(error, SystemExit):
        return "", error.code if isinstance(error.code, int) else 1
    if isinstance(error, KeyboardInterrupt):
        return str(error) or "Stopped.", EXIT_INTERRUPTED
    if isinstance(error, GraphNotFound):
        add = f" Add: {error.option}." if error.option else ""
        return one_line(f"{error}{add} The data folder is {error.folder}/."), EXIT_BAD_INPUT
    if isinstance(error, NacreError):
        return one_line(str(error)), EXIT_BAD_INPUT
    if isinstance(error, OSError):
        return _os_error_message(error), EXIT_BAD_INPUT
    if (usage := _usage_error(error)) is not None:
        return usage
    if (settings := _settings_error_message(error)) is not None:
        return settings, EXIT_BAD_INPUT
    if isinstance(error, MemoryError):
        return "There is not enough memory for this. Give it less at once.", EXIT_BAD_INPUT
    log.debug("unexpected", exc_info=error)
    kind = f"{type(error).__name__}: {error}"
    return one_line(
        f"Internal error ({kind}). Run it again as nacre --debug ... and report the output."
    ), EXIT_INTERNAL_ERROR


def one_line(text: str) -> str:
    """All of `text` on one line.

    >>> one_line("No graph.\\n  Run: nacre ingest")
    'No graph. Run: nacre ingest'
    """
    return " ".join(text.split())


def _os_error_message(error: OSError) -> str:
    reason = error.strerror or str(error)
    where = f" {error.filename}" if error.filename else ""
    if isinstance(error, PermissionError) or error.errno == errno.EROFS:
        return f"No permission to use{where} ({reason}). Change the permissions, or set NACRE_DATA to another folder."
    if error.errno == errno.ENOSPC:
        return f"No space left on the disk{where}. Free some, or set NACRE_DATA to a folder on another disk."
    if isinstance(error, FileNotFoundError):
        return f"No file{where}. Check the path."
    return one_line(f"The operating system reports an error{where}: {reason}. Run: nacre doctor")


def _usage_error(error: BaseException) -> tuple[str, int] | None:
    from typer.exceptions import Abort, Exit, TyperException

    if isinstance(error, Exit):
        return "", error.exit_code
    if isinstance(error, Abort):
        return "Stopped.", EXIT_INTERRUPTED
    if not isinstance(error, TyperException):
        return None
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        return error.format_message(), EXIT_BAD_INPUT
    command = context.command_path if context is not None else "nacre"
    return one_line(f"{error.format_message().rstrip('.')}. Run: {command} --help"), EXIT_BAD_INPUT


def _settings_error_message(error: BaseException) -> str | None:
    # if pydantic was not imported, it did not raise the error
    pydantic = sys.modules.get("pydantic")
    if pydantic is None or not isinstance(error, pydantic.ValidationError):
        return None
    problems = []
    for problem in error.errors(include_url=False, include_input=False, include_context=False):
        name = "_".join(str(part) for part in problem["loc"])
        problems.append(f"{name if name.isupper() else 'NACRE_' + name.upper()}: {problem['msg']}")
    return one_line(f"A setting is not valid: {'; '.join(problems)}. Change it in the environment or in .env.")
