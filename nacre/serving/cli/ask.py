"""`nacre ask` and `nacre chat`: questions, or commands that start with "/" -> answers on the terminal."""

import asyncio
import json
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from nacre.errors import ConfigError, NacreError
from nacre.extension import service as extension_service
from nacre.records.threads import fast_imports
from nacre.serving.cli import options
from nacre.serving.cli.turn_display import DisplayOptions, adapt_commands, print_line, show_turn

if TYPE_CHECKING:
    from graph.context import Context
    from nacre.config.settings import Settings
    from nacre.records.answer import Answer
    from nacre.serving.turn_service import TurnService
    from nacre.stores.state.conversations import Conversation, Turn

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
    reasoner: options.ReasonerOption = None,
    branches: options.BranchesOption = None,
    show_sources: SourcesOption = False,
    timings: TimingsOption = False,
    query_only: Annotated[bool, typer.Option("--query-only", help="Print the query and do not run it.")] = False,
    format: Annotated[
        str | None,
        typer.Option("--format", metavar="F", help="Print a file alone: xlsx, csv, json, md, ttl or geojson."),
    ] = None,
) -> int:
    """Ask one question and stream the cited answer."""
    with fast_imports():
        from nacre.config.models import model_address
        from nacre.config.settings import Settings
        from nacre.serving.turn_service import TurnInput, open_turn_service

    settings = Settings()
    context = options.turn_context(settings, reasoner, branches)
    if format not in (None, "xlsx", "csv", "json", "md", "ttl", "geojson"):
        raise ConfigError(f"--format can't be {format!r}. Use xlsx, csv, json, md, ttl or geojson.")
    write = extension_service("downloads", "write", "--format") if format else None
    if query_only:
        asyncio.run(_print_query(settings, question, graph, thread, as_json=as_json))
        return 0

    async def turn() -> "Answer":
        async with open_turn_service(settings, lasting=thread is not None) as service:
            if as_json or write:
                record = await service.answer(question, graph, thread, context)
                if write:
                    sys.stdout.buffer.write(write(record, format))
                else:
                    sys.stdout.write(json.dumps(record, ensure_ascii=False) + "\n")
                return record
            display = DisplayOptions(show_sources, timings, model_address(settings))
            return await show_turn(service.events(TurnInput(question, graph, thread, context)), display)

    return 1 if asyncio.run(turn())["status"] == "failed" else 0


async def _print_query(
    settings: "Settings", question: str, graph: str | None, thread: str | None, *, as_json: bool
) -> None:
    from dataclasses import asdict

    from nacre.access.queries import write_query
    from nacre.serving.turn_service import TurnInput, open_turn_service

    if thread:
        raise ConfigError("--query-only reads a question on its own. Leave out --thread.")
    async with open_turn_service(settings, lasting=False, warm=False) as service:
        name = await service.check_question(TurnInput(question, graph))
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
    reasoner: options.ReasonerOption = None,
    branches: options.BranchesOption = None,
    show_sources: SourcesOption = False,
    timings: TimingsOption = False,
) -> None:
    """Ask questions interactively, in one conversation.

    /help lists the commands for other graphs, sources, export and the reasoner. Ctrl-D ends.
    """
    with fast_imports():
        from nacre.config.models import model_address
        from nacre.config.settings import Settings
        from nacre.serving.turn_service import open_turn_service

    settings = Settings()
    context = options.turn_context(settings, reasoner, branches)
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


class ChatSession(NamedTuple):
    """The graph, thread and options of the next question, and how its answer is shown."""

    runner: asyncio.Runner
    service: "TurnService"
    graph: str
    thread: str
    context: "Context"
    display: DisplayOptions


ChatCommand = Callable[[ChatSession, str], ChatSession]


def run_chat(session: ChatSession) -> None:
    """Answer line by line until /quit or the end of the input."""
    interactive = sys.stdin.isatty()
    if interactive:
        _welcome(session)
    while (line := _next_line(interactive)) is not None:
        name, _, rest = line.partition(" ")
        if name == "/quit":
            break
        name = "/reasoner" if name == "/mind" else name
        if name in CHAT_COMMANDS:
            session = _run_command(CHAT_COMMANDS[name][0], session, rest.strip())
        elif line.startswith("/"):
            print_line(f"No command {name}. Type /help.")
        elif line:
            _answer_line(session, line)
    resume_hint = f"To resume this conversation: nacre chat --graph {session.graph} --thread {session.thread}"
    print_line(adapt_commands(resume_hint), "2")


def _run_command(command: ChatCommand, session: ChatSession, rest: str) -> ChatSession:
    try:
        return command(session, rest)
    except (NacreError, OSError) as error:
        print_line(adapt_commands(str(error)), "33")
        return session


def _print_help(session: ChatSession, _: str) -> ChatSession:
    for name, (_command, words) in CHAT_COMMANDS.items():
        print_line(f"{name:<10} {words}")
    print_line(f"{'/quit':<10} end, like Ctrl-D; Ctrl-C stops an answer")
    return session


def _switch_graph(session: ChatSession, name: str) -> ChatSession:
    library = session.service.library
    if not name:
        others = ", ".join(each for each in library.names() if each != session.graph)
        print_line(
            f"{session.graph}, version {library.current(session.graph)}{f'; others: {others}' if others else ''}"
        )
        return session
    graph = library.resolve(name)
    if graph == session.graph:
        return session
    print_line(f"Talking with '{graph}' now, in a new conversation.")
    return session._replace(graph=graph, thread=new_thread_id())


def _toggle_sources(session: ChatSession, _: str) -> ChatSession:
    display = session.display._replace(sources=not session.display.sources)
    print_line(f"Derivations are {'shown' if display.sources else 'hidden'}.")
    return session._replace(display=display)


def _select_reasoner(session: ChatSession, name: str) -> ChatSession:
    from agents.model_priors import model_worth

    settings = session.service.composition.settings
    if name not in ("", "rules", "model"):
        raise ConfigError(f"There is no reasoner {name!r}. There are rules and model.")
    reasoner = (
        options.check_reasoner(settings, name) or session.context.mind or ("model" if settings.model else "rules")
    )
    worth = model_worth(settings)
    answers = f"The model answers ({worth})." if worth else "The model answers."
    print_line(answers if reasoner == "model" else "The rules answer.")
    return session._replace(context=session.context.model_copy(update={"mind": reasoner}))


def _start_conversation(session: ChatSession, _: str) -> ChatSession:
    print_line("This is a new conversation.")
    return session._replace(thread=new_thread_id())


def _teach_word(session: ChatSession, text: str) -> ChatSession:
    word, _, meaning = (each.strip() for each in text.partition("="))
    last = _stored(session, "teach")[1][-1].record
    question = last["standalone" if last["derivation"]["depends"] else "question"]
    teach = extension_service("layer_patterns", "teach_word", "Teaching")
    if teach(word, meaning, question, session.graph, f"/teach {word} = NUMBER"):
        _answer_line(session, question)
    return session


def _stored(session: ChatSession, purpose: str) -> "tuple[Conversation, list[Turn]]":
    from nacre.serving.errors import NotFound
    from nacre.serving.keys import LOCAL_CALLER

    if (threads := session.service.threads) is not None:
        with suppress(NotFound):
            if turns := session.runner.run(threads.turns(LOCAL_CALLER, session.thread)):
                return session.runner.run(threads.get(LOCAL_CALLER, session.thread)), turns
    raise ConfigError(f"There is nothing to {purpose}. Ask a question first.")


def _export_conversation(session: ChatSession, name: str) -> ChatSession:
    from nacre.serving.transcript import conversation_markdown

    conversation, turns = _stored(session, "export")
    file = Path(name or f"{session.thread}.md").expanduser()
    if file.exists():
        raise ConfigError(f"{file} exists. Choose another name: /export FILE.md")
    file.write_text(conversation_markdown(conversation, turns), encoding="utf-8", errors="replace")
    print_line(f"Wrote {file}.")
    return session


CHAT_COMMANDS: dict[str, tuple[ChatCommand, str]] = {
    "/help": (_print_help, "list the commands"),
    "/new": (_start_conversation, "start a new conversation"),
    "/graph": (_switch_graph, "show the graph; /graph NAME switches to another one"),
    "/sources": (_toggle_sources, "show or hide queries, keys and triples"),
    "/teach": (_teach_word, "show what a word of the last question may mean; /teach WORD = NAME teaches it"),
    "/export": (_export_conversation, "write this conversation as Markdown; /export FILE.md"),
    "/reasoner": (_select_reasoner, "show who answers; /reasoner rules or /reasoner model selects it"),
}


def new_thread_id() -> str:
    """A name for a new conversation."""
    return uuid.uuid4().hex[:12]


def _welcome(session: ChatSession) -> None:
    """Print the first lines; meanwhile a local model prefills the schema."""
    from nacre.config.models import model_advice
    from nacre.serving.cli.serve import start_schema_prefill

    settings = session.service.composition.settings
    print_line(f"Talking with '{session.graph}'. /help lists commands; Ctrl-C stops an answer, Ctrl-D ends.")
    if advice := model_advice(settings):
        print_line(f"{adapt_commands(advice)}.", "2")
    if session.context.mind != "rules":
        start_schema_prefill(settings, session.graph)


def _answer_line(session: ChatSession, line: str) -> None:
    from nacre.serving.turn_service import TurnInput

    turn = TurnInput(line, session.graph, session.thread, session.context)
    try:
        session.runner.run(show_turn(session.service.events(turn), session.display))
    except KeyboardInterrupt:
        print_line("\n(stopped)")
    except NacreError as error:
        print_line(adapt_commands(str(error)), "33")
    print_line("")


def _next_line(interactive: bool) -> str | None:
    """The next line, None at the end of input. Lines from a file are echoed, so that questions appear in the output."""
    if interactive:
        try:
            return input("> ").strip()
        except EOFError:
            print_line("")
            return None
        except KeyboardInterrupt:
            print_line("")
            return ""
    line = sys.stdin.readline()
    if not line:
        return None
    if line.strip():
        print_line(f"> {line.strip()}", "1")
    return line.strip()
