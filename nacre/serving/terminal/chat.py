"""A conversation at the keyboard: lines -> turns, and commands that begin with "/"."""

import asyncio
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from nacre.errors import ConfigError, NacreError
from nacre.serving.terminal.command_names import adapt_commands
from nacre.serving.terminal.turn_display import DisplayOptions, print_line, show_turn

if TYPE_CHECKING:
    from graph.context import Context
    from nacre.serving.turn_service import TurnService


class ChatSession(NamedTuple):
    """What the next line is asked of, and how its answer is shown."""

    runner: asyncio.Runner
    service: "TurnService"
    graph: str
    thread: str
    context: "Context"
    shown: DisplayOptions


ChatCommand = Callable[[ChatSession, str], ChatSession]


def run_chat(session: ChatSession) -> None:
    """Answer line by line until /quit or the end of the input."""
    by_hand = sys.stdin.isatty()
    if by_hand:
        _welcome(session)
    while (line := _next_line(by_hand)) is not None:
        name, _, rest = line.partition(" ")
        if name == "/quit":
            break
        if name in CHAT_COMMANDS:
            session = _commanded(CHAT_COMMANDS[name][0], session, rest.strip())
        elif line.startswith("/"):
            print_line(f"No command {name}. Type /help.")
        elif line:
            _turn(session, line)
    goes_on = f"This conversation goes on with: nacre chat --graph {session.graph} --thread {session.thread}"
    print_line(adapt_commands(goes_on), "2")


def _commanded(command: ChatCommand, session: ChatSession, rest: str) -> ChatSession:
    try:
        return command(session, rest)
    except (NacreError, OSError) as error:
        print_line(adapt_commands(str(error)), "33")
        return session


def _help(session: ChatSession, _: str) -> ChatSession:
    for name, (_command, words) in CHAT_COMMANDS.items():
        print_line(f"{name:<10} {words}")
    print_line(f"{'/quit':<10} ends, as Ctrl-D does; Ctrl-C stops an answer")
    return session


def _graph(session: ChatSession, name: str) -> ChatSession:
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
    print_line(f"Talking with '{graph}' from here on, in a new conversation.")
    return session._replace(graph=graph, thread=new_thread_id())


def _sources(session: ChatSession, _: str) -> ChatSession:
    shown = session.shown._replace(sources=not session.shown.sources)
    print_line(f"Derivations are {'shown' if shown.sources else 'hidden'}.")
    return session._replace(shown=shown)


def _mind(session: ChatSession, name: str) -> ChatSession:
    from nacre.serving.terminal.options import check_mind

    settings = session.service.composition.settings
    if name not in ("", "rules", "model"):
        raise ConfigError(f"There is no reasoner {name!r}. There are rules and model.")
    mind = check_mind(settings, name) or session.context.mind or ("model" if settings.model else "rules")
    print_line(f"{'The model' if mind == 'model' else 'Rules'} answer{'s' if mind == 'model' else ''}.")
    return session._replace(context=session.context.model_copy(update={"mind": mind}))


def _export(session: ChatSession, name: str) -> ChatSession:
    from nacre.serving.http.errors import NotFound
    from nacre.serving.keys import LOCAL_CALLER
    from nacre.serving.transcript import conversation_markdown

    threads = session.service.threads
    try:
        if threads is None:
            raise NotFound("nothing is kept")
        conversation = session.runner.run(threads.get(LOCAL_CALLER, session.thread))
        turns = session.runner.run(threads.turns(LOCAL_CALLER, session.thread))
    except NotFound:
        raise ConfigError("There is nothing to export: ask something first.") from None
    file = Path(name or f"{session.thread}.md").expanduser()
    if file.exists():
        raise ConfigError(f"{file} exists. Give another name: /export FILE.md")
    file.write_text(conversation_markdown(conversation, turns), encoding="utf-8", errors="replace")
    print_line(f"Wrote {file}.")
    return session


CHAT_COMMANDS: dict[str, tuple[ChatCommand, str]] = {
    "/help": (_help, "lists the commands"),
    "/graph": (_graph, "names the graph; /graph NAME talks with another one"),
    "/sources": (_sources, "shows or hides queries, keys and triples"),
    "/export": (_export, "writes this conversation as Markdown; /export FILE.md"),
    "/mind": (_mind, "names who answers; /mind rules or /mind model chooses"),
}


def new_thread_id() -> str:
    """The name of a conversation that nobody has begun."""
    return uuid.uuid4().hex[:12]


def _welcome(session: ChatSession) -> None:
    """The first lines; while they are read, a model of one's own reads the schema."""
    from nacre.serving.prefill_schema import start_schema_prefill
    from nacre.serving.terminal.model_advice import model_advice

    settings = session.service.composition.settings
    print_line(f"Talking with '{session.graph}'. /help lists commands; Ctrl-C stops an answer, Ctrl-D ends.")
    if advice := model_advice(settings):
        print_line(f"{adapt_commands(advice)}.", "2")
    if session.context.mind != "rules":
        start_schema_prefill(settings, session.graph)


def _turn(session: ChatSession, line: str) -> None:
    try:
        events = session.service.events(line, session.graph, session.thread, session.context)
        session.runner.run(show_turn(events, session.shown))
    except KeyboardInterrupt:
        print_line("\n(stopped)")
    except NacreError as error:
        print_line(adapt_commands(str(error)), "33")
    print_line("")


def _next_line(by_hand: bool) -> str | None:
    """The next line, None at the end; lines of a file are echoed, so that the transcript reads as a conversation."""
    if by_hand:
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
