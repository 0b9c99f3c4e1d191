"""`nacre ask` and `nacre chat`: questions on the command line -> answers on the terminal."""

import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nacre.serving.http.startup_memory import uncollected
from nacre.serving.terminal import options
from nacre.serving.terminal.turn_display import Shown, show

if TYPE_CHECKING:
    from nacre.records.answer import Answer

Thread = Annotated[str | None, typer.Option("--thread", metavar="ID", help="Continue or begin this conversation.")]
Sources = Annotated[bool, typer.Option("--show-sources", help="Also show queries, keys and triples.")]
Timings = Annotated[bool, typer.Option("--timings", help="Also show the standalone question and each step's time.")]


def ask(
    question: Annotated[str, typer.Argument(metavar="QUESTION")],
    graph: options.Graph = None,
    thread: Thread = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer record and nothing else.")] = False,
    mind: options.Mind = None,
    branches: options.Branches = None,
    show_sources: Sources = False,
    timings: Timings = False,
) -> int:
    """Ask one question; the cited answer streams."""
    with uncollected():
        from nacre.config.models import model_address
        from nacre.config.settings import Settings
        from nacre.serving.turn_service import opened

    settings = Settings()
    context = options.context(settings, mind, branches)

    async def turn() -> "Answer":
        async with opened(settings, lasting=thread is not None) as asking:
            if as_json:
                record = await asking.answer(question, graph, thread, context)
                sys.stdout.write(json.dumps(record, ensure_ascii=False) + "\n")
                return record
            shown = Shown(show_sources, timings, model_address(settings))
            return await show(asking.events(question, graph, thread, context), shown)

    return 1 if asyncio.run(turn())["status"] == "failed" else 0


def chat(
    graph: options.Graph = None,
    thread: Thread = None,
    mind: options.Mind = None,
    branches: options.Branches = None,
    show_sources: Sources = False,
    timings: Timings = False,
) -> None:
    """Talk with a graph, line by line.

    /help lists the commands: other graphs, sources, export, who answers. Ctrl-D ends.
    """
    with uncollected():
        from nacre.config.models import model_address
        from nacre.config.settings import Settings
        from nacre.serving.terminal.chat import Talk, converse, new_thread
        from nacre.serving.turn_service import opened

    settings = Settings()
    context = options.context(settings, mind, branches)
    lasting = opened(settings, lasting=True)
    with asyncio.Runner() as runner:
        asking = runner.run(lasting.__aenter__())
        try:
            name = asking.library.resolve(graph)
            with _history(settings.data / "history"):
                shown = Shown(show_sources, timings, model_address(settings))
                converse(Talk(runner, asking, name, thread or new_thread(), context, shown))
        finally:
            runner.run(lasting.__aexit__(None, None, None))


@contextmanager
def _history(path: Path) -> Iterator[None]:
    """Arrow keys and a history that outlives the process, where there is readline and a folder to write to."""
    try:
        import readline
    except ImportError:
        yield
        return
    with suppress(OSError):
        readline.read_history_file(path)
    readline.set_history_length(1000)
    try:
        yield
    finally:
        with suppress(OSError):
            readline.write_history_file(path)
