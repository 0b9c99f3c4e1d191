"""The command line: arguments -> the command of that name, and an exit code; nothing heavy is imported too early."""

import io
import logging
import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer
import typer.main

from nacre.serving import (
    cli_ask,
    cli_attach,
    cli_calibrate,
    cli_complete,
    cli_eval,
    cli_extract,
    cli_graphs,
    cli_ingest,
    cli_serve,
)
from nacre.serving.cli_keys import keys
from nacre.serving.cli_model import model
from nacre.serving.failures import explain

app = typer.Typer(
    name="nacre",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.callback()
def root(
    debug: Annotated[
        bool, typer.Option("--debug", help="Log to stderr what happens, tracebacks of faults included.")
    ] = False,
) -> None:
    """Talk with your own knowledge graph: cited, streamed answers over RDF."""
    # what goes wrong in a turn is in its record; a log with tracebacks is for those who ask for it
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
    cli_extract.extract,
    cli_complete.complete,
):
    app.command()(command)
app.command("eval")(cli_eval.evaluate)
app.command()(cli_calibrate.calibrate)
app.add_typer(keys, name="keys")
app.add_typer(model, name="model")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code (see `serving.failures`); a traceback never reaches the user."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # a terminal that can't show a character shows another, and the answer goes on
            stream.reconfigure(errors="replace")
    try:
        # not app(): it would answer Ctrl-C and a closed pipe in its own way
        command = typer.main.get_command(app)
        with command.make_context("nacre", spread(given, "--texts")) as context:
            code = command.invoke(context)
        sys.stdout.flush()
    except BrokenPipeError:
        # the reader has left (`nacre export | head`): Python must not complain once more when it closes stdout
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except BaseException as error:
        message, code = explain(error)
        if message:
            sys.stderr.write(message + "\n")
    return code if isinstance(code, int) else 0


def spread(arguments: Sequence[str], option: str) -> list[str]:
    """Let one `option` take several values, as shells write them for a glob: up to the next option.

    >>> spread(["ingest", "a.ttl", "--texts", "x.md", "y.md", "--graph", "g"], "--texts")
    ['ingest', 'a.ttl', '--texts', 'x.md', '--texts', 'y.md', '--graph', 'g']
    """
    spread_out: list[str] = []
    taking, first = False, False
    for argument in arguments:
        if argument == option:
            taking, first = True, True
        elif argument.startswith("-") and argument != "-":
            taking = False
        elif taking and not first:
            spread_out.append(option)
        else:
            first = False
        spread_out.append(argument)
    return spread_out


if __name__ == "__main__":
    sys.exit(main())
