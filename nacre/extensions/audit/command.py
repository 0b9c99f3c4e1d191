"""`nacre audit`: the entries of the audit. `nacre person`: show or delete what is stored of a person or key."""

import asyncio
import json
import re
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nacre.errors import ConfigError
from nacre.extension import services
from nacre.serving.cli.turn_display import print_line

if TYPE_CHECKING:
    from nacre.config.settings import Settings
    from nacre.extensions.audit.entries import Audit
    from nacre.stores.state.conversations import Conversations

PERIODS = {"m": 60.0, "h": 3600.0, "d": 86_400.0}

# columns of a line; the rest follows as name=value
SHOWN = ("time", "who", "name", "did", "graph")

# threads that are listed at once (set by hand)
PAGE = 200


def audit(
    since: Annotated[
        str, typer.Option("--since", metavar="T", help="From this time on: 30m, 12h, 7d, 2026-11-29 or with a time.")
    ] = "",
    who: Annotated[str | None, typer.Option("--who", metavar="NAME", help="Only of this key or person.")] = None,
    graph: Annotated[str | None, typer.Option("--graph", metavar="NAME", help="Only about this graph.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON object a line.")] = False,
) -> None:
    """Show who asked, approved, uploaded, shared or deleted what, the oldest first."""
    from nacre.config.settings import Settings
    from nacre.extensions.audit.entries import EntryFilter, iso_time
    from nacre.language.sanitize import escape_controls

    settings = Settings()
    wanted, has_any = EntryFilter(parse_since(since, time.time()), who, graph), False
    with _opened(settings) as opened:
        for entry in opened.read(wanted):
            has_any = True
            if as_json:
                print_line(json.dumps(entry))
                continue
            rest = [f"{name}={value}" for name, value in entry.items() if name not in SHOWN]
            person = f"{entry['who']} ({entry['name']})" if entry.get("name") else str(entry["who"])
            parts = [iso_time(entry["time"]), person, str(entry.get("did", "")), str(entry.get("graph", "")), *rest]
            print_line(escape_controls("  ".join(filter(None, parts))))
    if not has_any and not as_json:
        print_line("There is no such entry." if settings.audit else "Nothing is noted. Set NACRE_AUDIT=true.")


person_app = typer.Typer(
    help="Show or delete what is stored of a person or key.", no_args_is_help=True, rich_markup_mode=None
)

WhoArgument = Annotated[
    str, typer.Argument(metavar="WHO", help="Name of a key, or name, subject or owner (@...) of a person.")
]


@person_app.command()
def show(who: WhoArgument) -> None:
    """Print all that is stored of a person or key, a JSON object a line."""
    from nacre.config.settings import Settings

    settings = Settings()
    for each in _stored(settings, *_find(settings, who)):
        print_line(json.dumps(each))


@person_app.command()
def delete(
    who: WhoArgument,
    yes: Annotated[bool, typer.Option("--yes", help="Delete, and do not only say how much there is.")] = False,
    with_audit: Annotated[bool, typer.Option("--audit", help="Delete the entries of the audit too.")] = False,
) -> None:
    """Delete account, sessions, conversations, shared answers, verified questions and uploads of a person or key."""
    from nacre.config.settings import Settings
    from nacre.serving.cli.options import open_library

    settings = Settings()
    owner, accounts = _find(settings, who)
    counts: dict[str, int] = {}
    for each in _stored(settings, owner, accounts):
        counts[each["what"]] = counts.get(each["what"], 0) + 1
    if not with_audit:
        counts.pop("audit", None)
    found = ", ".join(f"{what}: {number}" for what, number in counts.items()) or "nothing"
    if not yes:
        print_line(f"{owner} has {found}. To delete it, repeat the command with --yes.")
        return
    # first, so that no session goes on
    for forget in services("forget"):
        forget(settings, owner)
    asyncio.run(_delete_threads(settings, owner))
    with open_library(settings) as library:
        library.verified.remove_all(owner=owner)
    with _opened(settings) as opened:
        noted = opened.delete(owner, name_only=not with_audit)
    print_line(f"Deleted of {owner}: {found}.")
    if noted and not with_audit:
        print_line(f"{noted} entries of the audit stay, without the name. To delete them: --audit")
    if "key" in counts:
        sys.stderr.write(f"The key stays. Run: nacre keys revoke {owner}\n")


@person_app.command("log-out")
def log_out(who: WhoArgument) -> None:
    """End the sessions of a person, also of a running server. What is stored of them stays."""
    from nacre.config.settings import Settings

    settings = Settings()
    owner, accounts = _find(settings, who)
    if not accounts:
        raise ConfigError(f"Nobody called {who[:100]!r} has logged in.")
    ended = sum(end_sessions(settings, owner) for end_sessions in services("end_sessions"))
    print_line(f"{owner}: {ended} sessions ended.")


def parse_since(text: str, now: float) -> float:
    """A period before now, or a date or time in UTC, as seconds since 1970. Raises ConfigError.

    >>> parse_since("2h", 10_000.0), parse_since("1970-01-02", 0.0), parse_since("", 5.0)
    (2800.0, 86400.0, 0.0)
    """
    if not text:
        return 0.0
    if period := re.fullmatch(r"(\d{1,6})([mhd])", text):
        return now - int(period[1]) * PERIODS[period[2]]
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise ConfigError(f"--since can't be {text[:50]!r}. Write 7d, 12h, 30m or 2026-11-29.") from None


def _find(settings: "Settings", who: str) -> tuple[str, list[dict[str, Any]]]:
    """The owner that is meant, and their accounts. Raises ConfigError if several persons have the name."""
    from nacre.extensions.audit.entries import EntryFilter
    from nacre.serving.keys import open_keys

    accounts = [account for persons in services("persons") for account in persons(settings, who)]
    if len(accounts) > 1:
        several = ", ".join(f"{each['owner']} ({each['name']})" for each in accounts[:10])
        raise ConfigError(f"Several persons are called {who[:100]!r}: {several}. Name the owner.")
    is_key = any(key.name == who for key in open_keys(settings).all())
    if accounts and is_key:
        # people choose their names, also those of keys
        raise ConfigError(
            f"A key and the person {accounts[0]['owner']} are called {who[:100]!r}. Revoke the key, or name the owner."
        )
    if accounts or is_key:
        return (accounts[0]["owner"] if accounts else who), accounts
    # of a person who was deleted, the audit may still have the name
    with _opened(settings) as opened:
        owners = {str(each["who"]) for each in opened.read(EntryFilter(who=who))}
    return (owners.pop() if len(owners) == 1 else who), []


def _stored(settings: "Settings", owner: str, accounts: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """All that is stored of an owner; `what` says what an object is."""
    from nacre.extensions.audit.entries import EntryFilter
    from nacre.serving.cli.options import open_conversations, open_library
    from nacre.serving.keys import open_keys

    yield from ({"what": "account", **each} for each in accounts)
    for key in open_keys(settings).all():
        if key.name == owner:
            yield {"what": "key", "graphs": key.graphs, "may": key.may, "created": key.created, "revoked": key.revoked}
    with open_conversations() as conversations:
        if conversations is not None:
            yield from _conversations(conversations, owner)
    with open_library(settings) as library:
        for graph in library.verified.graphs():
            skip = 0
            while entries := library.verified.listed(graph, owner, own=True, skip=skip):
                skip += len(entries)
                yield from ({"what": "verified question", "graph": graph, **vars(each)} for each in entries)
    for stored in services("stored"):
        yield from stored(settings, owner)
    with _opened(settings) as opened:
        found = opened.read(EntryFilter(who=owner))
        yield from ({"what": "audit", **each} for each in found if each["who"] == owner)


def _conversations(conversations: "Conversations", owner: str) -> Iterator[dict[str, Any]]:
    from nacre.stores.state.conversations import ThreadFilter

    skip = 0
    while found := conversations.search(ThreadFilter(owner, order="thread", limit=PAGE, skip=skip)):
        skip += len(found)
        for each in found:
            yield {"what": "conversation", **vars(each)}
            yield from (
                {"what": "turn", "thread": each.thread, **vars(turn)}
                for turn in conversations.turns(owner, each.thread)
            )
    columns = ("id", "thread", "turn", "graph", "question", "created", "expires")
    shared = conversations.database.read(f"SELECT {', '.join(columns)} FROM shared_answer WHERE owner = ?", owner)
    yield from ({"what": "shared answer", **dict(zip(columns, row, strict=True))} for row in shared)


async def _delete_threads(settings: "Settings", owner: str) -> None:
    """Delete the threads of an owner with their checkpoints, also those of a running server."""
    from nacre.serving.keys import Caller
    from nacre.serving.turn_service import open_turn_service
    from nacre.stores.state.conversations import ThreadFilter

    async with open_turn_service(settings, lasting=True) as service:
        assert service.threads is not None
        while found := service.threads.conversations.search(ThreadFilter(owner, limit=PAGE)):
            for each in found:
                await service.threads.delete(Caller(owner), each.thread)


@contextmanager
def _opened(settings: "Settings") -> "Iterator[Audit]":
    """The audit. Raises ConfigError if its database can't be used."""
    from nacre.extensions.audit.entries import open_audit
    from nacre.stores.state.database import StorageError

    try:
        with closing(open_audit(settings)) as audit:
            yield audit
    except StorageError as error:
        raise ConfigError(f"The audit can't be read or written: {error}.") from error
