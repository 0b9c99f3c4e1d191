"""The command line: arguments -> a command, whose packages are imported when it runs; exceptions -> an exit code."""

import atexit
import errno
import io
import logging
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from typing import Annotated

from nacre.records.threads import fast_imports

with fast_imports():
    import typer
    import typer.main

    from nacre.errors import GraphNotFound, NacreError
    from nacre.extension import provided, services
    from nacre.serving.cli import ask, graphs, ingest, serve
    from nacre.serving.cli.options import check_packages
    from nacre.serving.cli.serve import keys_app
    from nacre.serving.cli.turn_display import adapt_commands

# set by the completion script that `nacre --install-completion` adds to a shell
COMPLETION_VARIABLE = "_NACRE_COMPLETE"

app = typer.Typer(name="nacre", no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False)


def _version(requested: bool) -> None:
    if requested:
        from importlib.metadata import version

        sys.stdout.write(f"nacre {version('nacre')}\n")
        raise typer.Exit


@app.callback()
def root(
    debug: Annotated[bool, typer.Option("--debug", help="Log to stderr, including tracebacks.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Ask questions about your own RDF graphs and get cited answers."""
    # errors of a turn are in its record; tracebacks are logged only with --debug
    level = logging.DEBUG if debug else logging.CRITICAL
    logging.basicConfig(level=level, format="%(asctime)s %(name)s %(levelname)s %(message)s")


_COMMANDS = (
    ingest.ingest,
    ingest.attach,
    graphs.graphs,
    graphs.report,
    graphs.export,
    graphs.remove,
    ingest.index,
    graphs.doctor,
    ask.ask,
    ask.chat,
    serve.serve,
    serve.mcp,
)

_FURTHER = ("keys",)

# groups of commands that are listed before the others
_FIRST = ("examples", "keys", "layer")

# those of an extension that are listed after the others'
_LAST = ("eval", "compare", "calibrate")

for command in _COMMANDS:
    app.command()(command)


def _is_command(command: object) -> bool:
    """Whether it is a command or a group of commands. Raises what Typer does if its parameters can't be read."""
    if isinstance(command, typer.Typer):
        typer.main.get_command(command)
    elif callable(command):
        alone = typer.Typer()
        alone.command()(command)
        typer.main.get_command(alone)
    return callable(command)


_added = provided("commands", {*_FURTHER, *(command.__name__ for command in _COMMANDS)}, _is_command)

for name, command in sorted(_added.items(), key=lambda added: added[0] in _LAST):
    if not isinstance(command, typer.Typer):
        app.command(name)(command)

_groups = [(name, group) for name, group in _added.items() if isinstance(group, typer.Typer)]
_groups.append(("keys", keys_app))

for name, group in sorted(_groups, key=lambda each: _FIRST.index(each[0]) if each[0] in _FIRST else len(_FIRST)):
    app.add_typer(group, name=name)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit code (see `terminal.error_messages`). Users never see a traceback."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    code: object = 0
    if arguments is None and words[:1] == ["ask"]:

        def leave() -> None:
            with suppress(OSError):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(code if isinstance(code, int) else 0)

        # what was registered later runs before this; to free all objects takes a twentieth of the time of a question
        atexit.register(leave)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # characters that the terminal can't encode are replaced, so that output continues
            stream.reconfigure(errors="replace")
    if COMPLETION_VARIABLE in os.environ:
        # the shell requests completions
        app(prog_name="nacre")
    try:
        check_packages()
        # not app(), which handles Ctrl-C and closed pipes itself
        command = typer.main.get_command(app)
        spread = spread_option(spread_option(words, "--texts"), "--loader-args")
        with ExitStack() as stack:
            for around in services("around"):
                stack.enter_context(around(words[0] if words else "-"))
            code = command.invoke(stack.enter_context(command.make_context("nacre", spread)))
        sys.stdout.flush()
    except BrokenPipeError:
        # the reader closed the pipe (`nacre export | head`); without this Python reports it again on exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 141
    except BaseException as error:
        message, code = explain_error(error)
        if message:
            sys.stderr.write(adapt_commands(message) + "\n")
    return code if isinstance(code, int) else 0


def spread_option(arguments: Sequence[str], option: str) -> list[str]:
    """Repeat `option` before each of its values up to the next option, since shells expand a glob to several values.

    >>> spread_option(["ingest", "a.ttl", "--texts", "x.md", "y.md", "--graph", "g"], "--texts")
    ['ingest', 'a.ttl', '--texts', 'x.md', '--texts', 'y.md', '--graph', 'g']
    """
    repeated: list[str] = []
    taking, first = False, False
    for argument in arguments:
        if argument == option:
            taking, first = True, True
        elif argument.startswith("-") and argument != "-":
            taking = False
        elif taking and not first:
            repeated.append(option)
        else:
            first = False
        repeated.append(argument)
    return repeated


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


if __name__ == "__main__":
    sys.exit(main())
