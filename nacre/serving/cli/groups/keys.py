"""`nacre keys`: create, list and revoke API keys of the server."""

import time
from typing import TYPE_CHECKING, Annotated

import typer

from nacre.serving.terminal.command_names import adapt_commands
from nacre.serving.terminal.turn_display import print_line

if TYPE_CHECKING:
    from nacre.serving.keys import KeyStore

keys_app = typer.Typer(
    help="Create, list and revoke keys for nacre serve.", no_args_is_help=True, rich_markup_mode=None
)

KeyNameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Owner of the key; threads belong to this name.")]


@keys_app.command()
def add(
    name: KeyNameArgument,
    graphs: Annotated[
        str | None,
        typer.Option("--graphs", metavar="a,b,...", help="Graphs that the key may read; all by default."),
    ] = None,
    may: Annotated[
        str | None,
        typer.Option("--may", metavar="write,approve,share", help="Rights besides asking; none by default."),
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace the existing key of this name.")] = False,
) -> None:
    """Create a key; it is shown only once."""
    graph_names = None if graphs is None else [graph.strip() for graph in graphs.split(",") if graph.strip()]
    rights = [right.strip() for right in (may or "").split(",") if right.strip()]
    token = _key_store().add(name, graph_names, may=rights, replace=replace)
    print_line(token)
    typer.echo("Save it now: only its hash is stored. Clients send it as 'Authorization: Bearer KEY'.", err=True)


@keys_app.command("list")
def list_keys() -> None:
    """List all keys by name."""
    stored = _key_store().all()
    if not stored:
        print_line(
            adapt_commands("No keys: nacre serve accepts only requests from this machine. Run: nacre keys add NAME")
        )
    width = max((len(key.name) for key in stored), default=0)
    for key in sorted(stored, key=lambda key: key.name):
        graphs = "all graphs" if key.graphs is None else ", ".join(key.graphs) or "no graph"
        state = "" if key.revoked is None else f"  revoked {_format_date(key.revoked)}"
        rights = f"  may {', '.join(key.may)}" if key.may else ""
        print_line(f"{key.name:<{width}}  created {_format_date(key.created)}  {graphs}{rights}{state}")


@keys_app.command()
def revoke(name: KeyNameArgument) -> None:
    """Revoke a key, from the next request on."""
    store = _key_store()
    store.revoke(name)
    print_line(f"Revoked '{name}'. Its threads stay.")
    if all(key.revoked is not None for key in store.all()):
        hint = (
            "No valid key is left, so nacre serve refuses every request, also from this machine. Run: nacre keys add"
            f" NAME. For access without keys, stop the server, remove the keys ({store.place}) and start it again."
        )
        typer.echo(adapt_commands(hint), err=True)


def _key_store() -> "KeyStore":
    from nacre.config.settings import Settings
    from nacre.serving.keys import open_keys

    return open_keys(Settings())


def _format_date(seconds: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(seconds))
