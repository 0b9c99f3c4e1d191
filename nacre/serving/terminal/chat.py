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
    asking: "TurnService"
    graph: str
    thread: str
    context: "Context"
    shown: DisplayOptions


ChatCommand = Callable[[ChatSession, str], ChatSession]


def run_chat(talk: ChatSession) -> None:
    """Answer line by line until /quit or the end of the input."""
    by_hand = sys.stdin.isatty()
    if by_hand:
        _welcome(talk)
    while (line := _next_line(by_hand)) is not None:
        name, _, rest = line.partition(" ")
        if name == "/quit":
            break
        if name in CHAT_COMMANDS:
            talk = _commanded(CHAT_COMMANDS[name][0], talk, rest.strip())
        elif line.startswith("/"):
            print_line(f"No command {name}. Type /help.")
        elif line:
            _turn(talk, line)
    goes_on = f"This conversation goes on with: nacre chat --graph {talk.graph} --thread {talk.thread}"
    print_line(adapt_commands(goes_on), "2")


def _commanded(command: ChatCommand, talk: ChatSession, rest: str) -> ChatSession:
    try:
        return command(talk, rest)
    except (NacreError, OSError) as error:
        print_line(adapt_commands(str(error)), "33")
        return talk


def _help(talk: ChatSession, _: str) -> ChatSession:
    for name, (_command, words) in CHAT_COMMANDS.items():
        print_line(f"{name:<10} {words}")
    print_line(f"{'/quit':<10} ends, as Ctrl-D does; Ctrl-C stops an answer")
    return talk


def _graph(talk: ChatSession, name: str) -> ChatSession:
    library = talk.asking.library
    if not name:
        others = ", ".join(each for each in library.names() if each != talk.graph)
        print_line(f"{talk.graph}, version {library.current(talk.graph)}{f'; others: {others}' if others else ''}")
        return talk
    graph = library.resolve(name)
    if graph == talk.graph:
        return talk
    print_line(f"Talking with '{graph}' from here on, in a new conversation.")
    return talk._replace(graph=graph, thread=new_thread_id())


def _sources(talk: ChatSession, _: str) -> ChatSession:
    shown = talk.shown._replace(sources=not talk.shown.sources)
    print_line(f"Derivations are {'shown' if shown.sources else 'hidden'}.")
    return talk._replace(shown=shown)


def _mind(talk: ChatSession, name: str) -> ChatSession:
    from nacre.serving.terminal.options import check_mind

    settings = talk.asking.composition.settings
    if name not in ("", "rules", "model"):
        raise ConfigError(f"There is no reasoner {name!r}. There are rules and model.")
    mind = check_mind(settings, name) or talk.context.mind or ("model" if settings.model else "rules")
    print_line(f"{'The model' if mind == 'model' else 'Rules'} answer{'s' if mind == 'model' else ''}.")
    return talk._replace(context=talk.context.model_copy(update={"mind": mind}))


def _export(talk: ChatSession, name: str) -> ChatSession:
    from nacre.serving.http.error_status import NotFound
    from nacre.serving.keys import LOCAL_CALLER
    from nacre.serving.transcript import conversation_markdown

    threads = talk.asking.threads
    try:
        if threads is None:
            raise NotFound("nothing is kept")
        conversation = talk.runner.run(threads.get(LOCAL_CALLER, talk.thread))
        turns = talk.runner.run(threads.turns(LOCAL_CALLER, talk.thread))
    except NotFound:
        raise ConfigError("There is nothing to export: ask something first.") from None
    file = Path(name or f"{talk.thread}.md").expanduser()
    if file.exists():
        raise ConfigError(f"{file} exists. Give another name: /export FILE.md")
    file.write_text(conversation_markdown(conversation, turns), encoding="utf-8", errors="replace")
    print_line(f"Wrote {file}.")
    return talk


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


def _welcome(talk: ChatSession) -> None:
    """The first lines; while they are read, a model of one's own reads the schema."""
    from nacre.serving.prefill_schema import start_schema_prefill
    from nacre.serving.terminal.model_advice import model_advice

    settings = talk.asking.composition.settings
    print_line(f"Talking with '{talk.graph}'. /help lists commands; Ctrl-C stops an answer, Ctrl-D ends.")
    if advice := model_advice(settings):
        print_line(f"{adapt_commands(advice)}.", "2")
    if talk.context.mind != "rules":
        start_schema_prefill(settings, talk.graph)


def _turn(talk: ChatSession, line: str) -> None:
    try:
        events = talk.asking.events(line, talk.graph, talk.thread, talk.context)
        talk.runner.run(show_turn(events, talk.shown))
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
