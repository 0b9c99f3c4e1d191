"""`nacre ask` and `nacre chat`: questions on the command line -> answers on the terminal."""

import asyncio
import json
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nacre.serving import options
from nacre.serving.terminal import Shown, say, show

if TYPE_CHECKING:
    from graph.context import Context
    from nacre.config.settings import Settings
    from nacre.records.answer import Answer
    from nacre.serving.asking import Asking

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
    from nacre.config.settings import Settings
    from nacre.serving.asking import opened

    settings = Settings()
    context = options.context(settings, mind, branches)

    async def turn() -> "Answer":
        async with opened(settings, lasting=thread is not None) as asking:
            if as_json:
                record = await asking.answer(question, graph, thread, context)
                sys.stdout.write(json.dumps(record, ensure_ascii=False) + "\n")
                return record
            return await show(asking.events(question, graph, thread, context), Shown(show_sources, timings))

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

    /sources shows or hides derivations, /graph names the graph, /quit or Ctrl-D ends.
    """
    from nacre.config.settings import Settings
    from nacre.serving.asking import opened

    settings = Settings()
    context = options.context(settings, mind, branches)
    lasting = opened(settings, lasting=True)
    with asyncio.Runner() as runner:
        asking = runner.run(lasting.__aenter__())
        try:
            name = asking.library.resolve(graph)
            with _history(settings.data / "history"):
                _converse(runner, asking, name, thread or uuid.uuid4().hex[:12], context, Shown(show_sources, timings))
        finally:
            runner.run(lasting.__aexit__(None, None, None))


def _converse(
    runner: asyncio.Runner, asking: "Asking", graph: str, thread: str, context: "Context", shown: Shown
) -> None:
    by_hand = sys.stdin.isatty()
    if by_hand:
        _welcome(asking.composition.settings, graph, context)
    while (line := _next_line(by_hand)) is not None:
        if line == "/quit":
            break
        if line == "/graph":
            say(f"{graph}, version {asking.library.current(graph)}")
        elif line == "/sources":
            shown = shown._replace(sources=not shown.sources)
            say(f"Derivations are {'shown' if shown.sources else 'hidden'}.")
        elif line.startswith("/"):
            say(f"No command {line.split()[0]}. There are /sources, /graph and /quit.")
        elif line:
            _turn(runner, asking, line, graph, thread, context, shown)
    say(f"This conversation goes on with: nacre chat --graph {graph} --thread {thread}", "2")


def _welcome(settings: "Settings", graph: str, context: "Context") -> None:
    """The first lines; while they are read, a model of one's own reads the schema."""
    from nacre.serving.ahead import begin_reading
    from nacre.serving.model_advice import model_advice

    say(f"Talking with '{graph}'. /sources, /graph, /quit; Ctrl-C stops an answer.")
    if advice := model_advice(settings):
        say(f"{advice}.", "2")
    if context.mind != "rules":
        begin_reading(settings, graph)


def _turn(
    runner: asyncio.Runner, asking: "Asking", line: str, graph: str, thread: str, context: "Context", shown: Shown
) -> None:
    from nacre.records.errors import NacreError

    try:
        runner.run(show(asking.events(line, graph, thread, context), shown))
    except KeyboardInterrupt:
        say("\n(stopped)")
    except NacreError as error:
        say(str(error), "33")
    say("")


def _next_line(by_hand: bool) -> str | None:
    """The next line, None at the end; lines of a file are echoed, so that the transcript reads as a conversation."""
    if by_hand:
        try:
            return input("> ").strip()
        except EOFError:
            say("")
            return None
        except KeyboardInterrupt:
            say("")
            return ""
    line = sys.stdin.readline()
    if not line:
        return None
    if line.strip():
        say(f"> {line.strip()}", "1")
    return line.strip()


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
