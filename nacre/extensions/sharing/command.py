"""`nacre shares`: list and withdraw shared answers of all keys."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from nacre.serving.cli.turn_display import print_line

if TYPE_CHECKING:
    from nacre.extensions.sharing.shared_answers import SharedAnswerStore

shares_app = typer.Typer(
    help="List and withdraw answers that are shared by a link.", no_args_is_help=True, rich_markup_mode=None
)

OwnerOption = Annotated[str | None, typer.Option("--owner", metavar="NAME", help="Only those of this key.")]

MAX_LISTED = 10_000


@shares_app.command("list")
def list_shares(owner: OwnerOption = None) -> None:
    """List shared answers that have not expired, the latest first."""
    from nacre.language.sanitize import escape_controls

    with open_shared_answers() as store:
        links = () if store is None else store.listed(owner, MAX_LISTED)
    if not links:
        print_line("No answer is shared.")
    for each in links:
        question = escape_controls(" ".join(each.question.split()))[:100]
        print_line(f"{each.id}  {each.owner}  {each.graph}  until {_format_date(each.expires)}  {question}")


@shares_app.command()
def revoke(id: Annotated[str, typer.Argument(metavar="ID", help="Id of the shared answer, as listed.")]) -> None:
    """Withdraw a shared answer: from now on its address shows nothing."""
    from nacre.errors import ConfigError

    with open_shared_answers() as store:
        if store is None or not store.revoke(id):
            raise ConfigError(f"No shared answer has the id {id!r}. Run: nacre shares list")
    print_line(f"Withdrew {id}.")


@contextmanager
def open_shared_answers() -> "Iterator[SharedAnswerStore | None]":
    """The shared answers of the settings; None if no conversation was ever stored. Raises ConfigError."""
    from graph.app import THREADS
    from nacre.config.settings import Settings
    from nacre.extensions.sharing.shared_answers import SharedAnswerStore
    from nacre.stores.state.conversations import Conversations
    from nacre.stores.state.database import StorageError, open_state, unusable_state

    settings = Settings()
    if settings.database_url is None and not (settings.data / THREADS).exists():
        yield None
        return
    database = open_state(settings, THREADS)
    try:
        yield SharedAnswerStore(Conversations(database))
    except StorageError as error:
        raise unusable_state(database, error) from error
    finally:
        database.close()


def _format_date(seconds: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(seconds))
