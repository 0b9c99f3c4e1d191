"""The command line: arguments -> a command and an exit code. Commands import their packages when they run."""

import io
import logging
import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer
import typer.main

from nacre.serving.cli import (
    ask as cli_ask,
)
from nacre.serving.cli import (
    attach as cli_attach,
)
from nacre.serving.cli import (
    calibrate as cli_calibrate,
)
from nacre.serving.cli import (
    compare as cli_compare,
)
from nacre.serving.cli import (
    complete as cli_complete,
)
from nacre.serving.cli import (
    eval as cli_eval,
)
from nacre.serving.cli import (
    extract as cli_extract,
)
from nacre.serving.cli import (
    graphs as cli_graphs,
)
from nacre.serving.cli import (
    ingest as cli_ingest,
)
from nacre.serving.cli import (
    mcp as cli_mcp,
)
from nacre.serving.cli import (
    migrate as cli_migrate,
)
from nacre.serving.cli import (
    serve as cli_serve,
)
from nacre.serving.cli.groups.examples import examples_app
from nacre.serving.cli.groups.keys import keys_app
from nacre.serving.cli.groups.layer import layer_app
from nacre.serving.cli.groups.model import model_app
from nacre.serving.cli.groups.shares import shares_app
from nacre.serving.fleet.share_graphs import shared_graphs
from nacre.serving.terminal.command_names import adapt_commands
from nacre.serving.terminal.error_messages import explain_error
from nacre.serving.terminal.package_collisions import check_packages

# set by the completion script that `nacre --install-completion` adds to a shell
COMPLETION_VARIABLE = "_NACRE_COMPLETE"

app = typer.Typer(
    name="nacre",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


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


for command in (
    cli_ingest.ingest,
    cli_attach.attach,
    cli_graphs.graphs,
    cli_graphs.report,
    cli_graphs.export,
    cli_graphs.remove,
    cli_ingest.index,
    cli_graphs.doctor,
    cli_ask.ask,
    cli_ask.chat,
    cli_serve.serve,
    cli_mcp.mcp,
    cli_migrate.migrate,
    cli_extract.extract,
    cli_complete.complete,
):
    app.command()(command)
app.command("eval")(cli_eval.evaluate)
app.command()(cli_compare.compare)
app.command()(cli_calibrate.calibrate)
app.add_typer(examples_app, name="examples")
app.add_typer(keys_app, name="keys")
app.add_typer(layer_app, name="layer")
app.add_typer(model_app, name="model")
app.add_typer(shares_app, name="shares")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit code (see `terminal.error_messages`). Users never see a traceback."""
    words = list(sys.argv[1:] if arguments is None else arguments)
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
        with shared_graphs(words[0] if words else "-"), command.make_context("nacre", spread) as context:
            code = command.invoke(context)
        sys.stdout.flush()
    except BrokenPipeError:
        # the reader closed the pipe (`nacre export | head`); without this Python reports it again on exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
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


if __name__ == "__main__":
    sys.exit(main())
