"""A conversation at the keyboard: lines -> turns, and commands that begin with "/"."""

import asyncio
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from nacre.errors import ConfigError, NacreError
from nacre.serving.terminal.command_names import as_started
from nacre.serving.terminal.turn_display import Shown, say, show

if TYPE_CHECKING:
    from graph.context import Context
    from nacre.serving.turn_service import Asking


class Talk(NamedTuple):
    """What the next line is asked of, and how its answer is shown."""

    runner: asyncio.Runner
    asking: "Asking"
    graph: str
    thread: str
    context: "Context"
    shown: Shown


Command = Callable[[Talk, str], Talk]


def converse(talk: Talk) -> None:
    """Answer line by line until /quit or the end of the input."""
    by_hand = sys.stdin.isatty()
    if by_hand:
        _welcome(talk)
    while (line := _next_line(by_hand)) is not None:
        name, _, rest = line.partition(" ")
        if name == "/quit":
            break
        if name in COMMANDS:
            talk = _commanded(COMMANDS[name][0], talk, rest.strip())
        elif line.startswith("/"):
            say(f"No command {name}. Type /help.")
        elif line:
            _turn(talk, line)
    goes_on = f"This conversation goes on with: nacre chat --graph {talk.graph} --thread {talk.thread}"
    say(as_started(goes_on), "2")


def _commanded(command: Command, talk: Talk, rest: str) -> Talk:
    try:
        return command(talk, rest)
    except (NacreError, OSError) as error:
        say(as_started(str(error)), "33")
        return talk


def _help(talk: Talk, _: str) -> Talk:
    for name, (_command, words) in COMMANDS.items():
        say(f"{name:<10} {words}")
    say(f"{'/quit':<10} ends, as Ctrl-D does; Ctrl-C stops an answer")
    return talk


def _graph(talk: Talk, name: str) -> Talk:
    library = talk.asking.library
    if not name:
        others = ", ".join(each for each in library.names() if each != talk.graph)
        say(f"{talk.graph}, version {library.current(talk.graph)}{f'; others: {others}' if others else ''}")
        return talk
    graph = library.resolve(name)
    if graph == talk.graph:
        return talk
    say(f"Talking with '{graph}' from here on, in a new conversation.")
    return talk._replace(graph=graph, thread=new_thread())


def _sources(talk: Talk, _: str) -> Talk:
    shown = talk.shown._replace(sources=not talk.shown.sources)
    say(f"Derivations are {'shown' if shown.sources else 'hidden'}.")
    return talk._replace(shown=shown)


def _mind(talk: Talk, name: str) -> Talk:
    from nacre.serving.terminal.options import checked_mind

    settings = talk.asking.composition.settings
    if name not in ("", "rules", "model"):
        raise ConfigError(f"There is no reasoner {name!r}. There are rules and model.")
    mind = checked_mind(settings, name) or talk.context.mind or ("model" if settings.model else "rules")
    say(f"{'The model' if mind == 'model' else 'Rules'} answer{'s' if mind == 'model' else ''}.")
    return talk._replace(context=talk.context.model_copy(update={"mind": mind}))


def _export(talk: Talk, name: str) -> Talk:
    from nacre.serving.http.error_status import Missing
    from nacre.serving.keys import LOCAL
    from nacre.serving.transcript import markdown

    threads = talk.asking.threads
    try:
        if threads is None:
            raise Missing("nothing is kept")
        conversation = talk.runner.run(threads.get(LOCAL, talk.thread))
        turns = talk.runner.run(threads.turns(LOCAL, talk.thread))
    except Missing:
        raise ConfigError("There is nothing to export: ask something first.") from None
    file = Path(name or f"{talk.thread}.md").expanduser()
    if file.exists():
        raise ConfigError(f"{file} exists. Give another name: /export FILE.md")
    file.write_text(markdown(conversation, turns), encoding="utf-8", errors="replace")
    say(f"Wrote {file}.")
    return talk


COMMANDS: dict[str, tuple[Command, str]] = {
    "/help": (_help, "lists the commands"),
    "/graph": (_graph, "names the graph; /graph NAME talks with another one"),
    "/sources": (_sources, "shows or hides queries, keys and triples"),
    "/export": (_export, "writes this conversation as Markdown; /export FILE.md"),
    "/mind": (_mind, "names who answers; /mind rules or /mind model chooses"),
}


def new_thread() -> str:
    """The name of a conversation that nobody has begun."""
    return uuid.uuid4().hex[:12]


def _welcome(talk: Talk) -> None:
    """The first lines; while they are read, a model of one's own reads the schema."""
    from nacre.serving.prefill_schema import begin_reading
    from nacre.serving.terminal.model_advice import model_advice

    settings = talk.asking.composition.settings
    say(f"Talking with '{talk.graph}'. /help lists commands; Ctrl-C stops an answer, Ctrl-D ends.")
    if advice := model_advice(settings):
        say(f"{as_started(advice)}.", "2")
    if talk.context.mind != "rules":
        begin_reading(settings, talk.graph)


def _turn(talk: Talk, line: str) -> None:
    try:
        events = talk.asking.events(line, talk.graph, talk.thread, talk.context)
        talk.runner.run(show(events, talk.shown))
    except KeyboardInterrupt:
        say("\n(stopped)")
    except NacreError as error:
        say(as_started(str(error)), "33")
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
