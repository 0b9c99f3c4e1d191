"""`nacre ask` and `nacre chat`: questions on the command line -> answers on the terminal."""

import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nacre.serving.garbage_collection import pause_collection
from nacre.serving.terminal import options
from nacre.serving.terminal.turn_display import DisplayOptions, show_turn

if TYPE_CHECKING:
    from nacre.config.settings import Settings
    from nacre.records.answer import Answer

ThreadOption = Annotated[
    str | None, typer.Option("--thread", metavar="ID", help="Continue or start this conversation.")
]
SourcesOption = Annotated[bool, typer.Option("--show-sources", help="Also show queries, keys and triples.")]
TimingsOption = Annotated[
    bool, typer.Option("--timings", help="Also show the standalone question and each step's time.")
]


def ask(
    question: Annotated[str, typer.Argument(metavar="QUESTION")],
    graph: options.GraphOption = None,
    thread: ThreadOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print only the answer record.")] = False,
    mind: options.MindOption = None,
    branches: options.BranchesOption = None,
    show_sources: SourcesOption = False,
    timings: TimingsOption = False,
    query_only: Annotated[bool, typer.Option("--query-only", help="Print the query and do not run it.")] = False,
) -> int:
    """Ask one question and stream the cited answer."""
    with pause_collection():
        from nacre.config.models import model_address
        from nacre.config.settings import Settings
        from nacre.serving.turn_service import open_turn_service

    settings = Settings()
    context = options.turn_context(settings, mind, branches)
    if query_only:
        asyncio.run(_print_query(settings, question, graph, thread, as_json=as_json))
        return 0

    async def turn() -> "Answer":
        async with open_turn_service(settings, lasting=thread is not None) as service:
            if as_json:
                record = await service.answer(question, graph, thread, context)
                sys.stdout.write(json.dumps(record, ensure_ascii=False) + "\n")
                return record
            display = DisplayOptions(show_sources, timings, model_address(settings))
            return await show_turn(service.events(question, graph, thread, context), display)

    return 1 if asyncio.run(turn())["status"] == "failed" else 0


async def _print_query(
    settings: "Settings", question: str, graph: str | None, thread: str | None, *, as_json: bool
) -> None:
    """Print the query of a question. The rules write it."""
    from dataclasses import asdict

    from nacre.access.write_query import write_query
    from nacre.errors import ConfigError
    from nacre.serving.turn_service import open_turn_service

    if thread:
        raise ConfigError("--query-only reads a question on its own. Leave out --thread.")
    async with open_turn_service(settings, lasting=False, warm=False) as service:
        name = await service.check_question(question, graph)
        with await service.open_graph(name) as opened:
            written = await write_query(question, opened)
    if as_json:
        sys.stdout.write(json.dumps(asdict(written), ensure_ascii=False) + "\n")
        return
    lines = [f"Read as: {written.words}"]
    for statement in written.sql:
        lines += ["", statement.text, *([f"with: {', '.join(map(str, statement.params))}"] if statement.params else [])]
    lines += ["", written.sparql] if written.sparql else []
    sys.stdout.write("\n".join(lines) + "\n")


def chat(
    graph: options.GraphOption = None,
    thread: ThreadOption = None,
    mind: options.MindOption = None,
    branches: options.BranchesOption = None,
    show_sources: SourcesOption = False,
    timings: TimingsOption = False,
) -> None:
    """Ask questions interactively, in one conversation.

    /help lists the commands for other graphs, sources, export and the reasoner. Ctrl-D ends.
    """
    with pause_collection():
        from nacre.config.models import model_address
        from nacre.config.settings import Settings
        from nacre.serving.terminal.chat import ChatSession, new_thread_id, run_chat
        from nacre.serving.turn_service import open_turn_service

    settings = Settings()
    context = options.turn_context(settings, mind, branches)
    lasting = open_turn_service(settings, lasting=True)
    with asyncio.Runner() as runner:
        service = runner.run(lasting.__aenter__())
        try:
            name = service.library.resolve(graph)
            with _history(settings.data / "history"):
                display = DisplayOptions(show_sources, timings, model_address(settings))
                run_chat(ChatSession(runner, service, name, thread or new_thread_id(), context, display))
        finally:
            runner.run(lasting.__aexit__(None, None, None))


@contextmanager
def _history(path: Path) -> Iterator[None]:
    """Arrow keys and a stored history, if readline is available and the folder is writable."""
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
