"""`nacre shares`: list and withdraw shared answers of all keys."""

import time
from typing import Annotated

import typer

from nacre.errors import ConfigError
from nacre.serving.cli.options import open_conversations
from nacre.serving.cli.turn_display import print_line

shares_app = typer.Typer(
    help="List and withdraw answers that are shared by a link.", no_args_is_help=True, rich_markup_mode=None
)

OwnerOption = Annotated[str | None, typer.Option("--owner", metavar="NAME", help="Only those of this key.")]

MAX_LISTED = 10_000


@shares_app.command("list")
def list_shares(owner: OwnerOption = None) -> None:
    """List shared answers that have not expired, the latest first."""
    from nacre.extensions.sharing.shared_answers import SharedAnswerStore
    from nacre.language.sanitize import escape_controls

    with open_conversations() as conversations:
        links = () if conversations is None else SharedAnswerStore(conversations).listed(owner, MAX_LISTED)
    if not links:
        print_line("No answer is shared.")
    for each in links:
        until = time.strftime("%Y-%m-%d", time.localtime(each.expires))
        question = escape_controls(" ".join(each.question.split()))[:100]
        print_line(f"{each.id}  {each.owner}  {each.graph}  until {until}  {question}")


@shares_app.command()
def revoke(id: Annotated[str, typer.Argument(metavar="ID", help="Id of the shared answer, as listed.")]) -> None:
    """Withdraw a shared answer: from now on its address shows nothing."""
    from nacre.extensions.sharing.shared_answers import SharedAnswerStore

    with open_conversations() as conversations:
        if conversations is None or not SharedAnswerStore(conversations).revoke(id):
            raise ConfigError(f"No shared answer has the id {id!r}. Run: nacre shares list")
    print_line(f"Withdrew {id}.")
