"""`nacre keys`: who may use the server -> keys made, listed, revoked."""

import time
from typing import TYPE_CHECKING, Annotated

import typer

from nacre.serving.terminal.command_names import adapt_commands
from nacre.serving.terminal.turn_display import print_line

if TYPE_CHECKING:
    from nacre.serving.keys import KeyStore

keys_app = typer.Typer(help="Keys for nacre serve: make, list, revoke.", no_args_is_help=True, rich_markup_mode=None)

KeyNameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Who uses it; threads belong to this name.")]


@keys_app.command()
def add(
    name: KeyNameArgument,
    graphs: Annotated[
        str | None, typer.Option("--graphs", metavar="a,b,...", help="The graphs it may read; all by default.")
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="A new key for this name; the old one ends.")] = False,
) -> None:
    """Make a key; it is shown once."""
    named = None if graphs is None else [graph.strip() for graph in graphs.split(",") if graph.strip()]
    token = _keys().add(name, named, replace=replace)
    print_line(token)
    typer.echo("Keep it: only its hash is stored. Clients send it as 'Authorization: Bearer KEY'.", err=True)


@keys_app.command("list")
def list_keys() -> None:
    """List all keys, by name."""
    found = _keys().all()
    if not found:
        print_line(adapt_commands("No keys: nacre serve answers on this machine only. Run: nacre keys add NAME"))
    width = max((len(key.name) for key in found), default=0)
    for key in sorted(found, key=lambda key: key.name):
        graphs = "all graphs" if key.graphs is None else ", ".join(key.graphs) or "no graph"
        state = "" if key.revoked is None else f"  revoked {_day(key.revoked)}"
        print_line(f"{key.name:<{width}}  made {_day(key.created)}  {graphs}{state}")


@keys_app.command()
def revoke(name: KeyNameArgument) -> None:
    """Let a key open nothing any more, from the next request on."""
    _keys().revoke(name)
    print_line(f"Revoked '{name}'. Its threads stay.")


def _keys() -> "KeyStore":
    from nacre.config.settings import Settings
    from nacre.serving.keys import KeyStore

    return KeyStore(Settings().data)


def _day(seconds: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(seconds))
