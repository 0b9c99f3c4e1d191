"""`nacre spending`: what chat models took for each key and person."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nacre.errors import ConfigError
from nacre.extension import services
from nacre.serving.cli.turn_display import print_line

if TYPE_CHECKING:
    from nacre.config.settings import Settings
    from nacre.extensions.spending.limits import Spending


def spending(
    days: Annotated[int, typer.Option("--days", metavar="N", min=1, help="Of the last N days, in UTC.")] = 1,
    who: Annotated[str | None, typer.Option("--who", metavar="OWNER", help="Only of this key or owner (@...).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON object a line.")] = False,
) -> None:
    """Show tokens and price of chat models by day and key or person, and the limits of a day."""
    from nacre.config.settings import Settings
    from nacre.extensions.spending.limits import limit_of
    from nacre.language.sanitize import escape_controls

    settings = Settings()
    with _opened(settings) as stored:
        found = [] if stored is None else stored.days(stored.today()[0] - days + 1, who)
    for each in found:
        most = limit_of(settings.day_tokens, each.owner), limit_of(settings.day_cost, each.owner)
        if as_json:
            print_line(json.dumps({**_shown(each), "max_tokens": most[0], "max_dollars": most[1]}))
            continue
        tokens = f"{each.tokens:,}" + ("" if most[0] is None else f" of {most[0]:,}")
        dollars = f"${each.dollars:.4f}" + ("" if most[1] is None else f" of ${most[1]:.2f}")
        name = "".join(f" ({person})" for person in _names(settings, each.owner))
        print_line(escape_controls(f"{_date(each.day)}  {each.owner}{name}  {tokens} tokens  {dollars}"))
    if not found and not as_json:
        has_limits = settings.day_tokens or settings.day_cost
        print_line("Models took nothing." if has_limits else "Nothing is counted. Set NACRE_DAY_TOKENS.")


def stored_days(settings: "Settings", owner: str) -> list[dict[str, Any]]:
    """What is stored of an owner. Raises ConfigError."""
    with _opened(settings) as stored:
        return [] if stored is None else [{"what": "spending", **_shown(each)} for each in stored.days(0, owner)]


def forget_days(settings: "Settings", owner: str) -> None:
    """Delete what is stored of an owner. Raises ConfigError."""
    with _opened(settings) as stored:
        if stored is not None:
            stored.forget(owner)


@contextmanager
def _opened(settings: "Settings") -> "Iterator[Spending | None]":
    """The days; None if there are no conversations, beside which they are stored."""
    from nacre.extensions.spending.limits import Spending
    from nacre.serving.cli.options import open_conversations
    from nacre.stores.state.database import StorageError

    with open_conversations() as conversations:
        try:
            yield None if conversations is None else Spending(conversations.database)
        except StorageError as error:
            raise ConfigError(f"What models took can't be read or written: {error}.") from error


def _names(settings: "Settings", owner: str) -> list[str]:
    if not owner.startswith("@"):
        return []
    return [str(found["name"]) for persons in services("persons") for found in persons(settings, owner)]


def _shown(spent: Any) -> dict[str, Any]:
    return {**vars(spent), "day": _date(spent.day), "dollars": round(spent.dollars, 6)}


def _date(day: int) -> str:
    return datetime.fromtimestamp(day * 86_400, UTC).strftime("%Y-%m-%d")
