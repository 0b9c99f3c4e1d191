"""`nacre model`: a chat model on this machine -> fetched, chosen, listed, removed."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nacre.serving.terminal.turn_display import say

if TYPE_CHECKING:
    from nacre.config.local_hub import OnProgress

model = typer.Typer(
    help="A chat model on this machine: get, use, list, remove.", no_args_is_help=True, rich_markup_mode=None
)

GIGABYTE = 1_000_000_000


@model.command()
def get(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="One that `nacre model list` names.")] = None,
) -> None:
    """Fetch a recommended model and choose it; a fetch that broke off goes on."""
    from nacre.config.local_files import choose, fetched, named
    from nacre.config.local_hub import fetch

    with _plainly():
        wanted, folder = named(name), _folder()
        there = wanted.file in (each.name for each in fetched(folder))
        if not there:
            say(f"{wanted.name}: {wanted.gigabytes:.3g} GB from {wanted.repo}, licence {wanted.licence}")
        with _bar(wanted.file) as on_progress:
            file = fetch(wanted, folder, on_progress)
        choose(folder, file)
    say(f"{file} {'was there already' if there else 'is there, and its checksum is right'}.")
    _then()


@model.command()
def use(file: Annotated[Path, typer.Argument(metavar="FILE.gguf", help="A model file; it stays where it is.")]) -> None:
    """Choose a model file that is on this machine."""
    from nacre.config.local_files import choose, fetched

    with _plainly():
        folder = _folder()
        inside = next((each for each in fetched(folder) if str(file) in (each.name, each.stem)), None)
        choose(folder, inside if inside is not None and not file.exists() else file)
    say(f"{file} is chosen.")
    _then()


@model.command("list")
def listed() -> None:
    """List the models that are there and those that can be fetched."""
    from nacre.config.local_files import chosen, fetched, recommended

    folder = _folder()
    present = chosen(folder)
    here = fetched(folder)
    if present is not None and present not in here:
        here.append(present)
    for file in here:
        mark = "chosen" if file == present else "there"
        size = f"{file.stat().st_size / GIGABYTE:.1f} GB" if file.is_file() else "the file is gone"
        say(f"{mark:<7} {file.stem:<36} {size:<8} {file}")
    for each in recommended():
        if each.file not in (file.name for file in here):
            size = f"{each.gigabytes:.1f} GB"
            say(f"{'to get':<7} {each.name:<36} {size:<8} {each.memory:.3g} GB of memory, licence {each.licence}")


@model.command()
def remove(name: Annotated[str, typer.Argument(metavar="NAME", help="A file's name, with or without .gguf.")]) -> None:
    """Delete a model that was fetched; a file elsewhere is only forgotten."""
    from nacre.config.local_files import remove as removed

    with _plainly():
        file = removed(_folder(), name)
    say(f"{file} is {'forgotten, the file stays' if file.exists() else 'deleted'}.")


def _folder() -> Path:
    from nacre.config.local_files import folder_of
    from nacre.config.settings import Settings

    return folder_of(Settings())


def _then() -> None:
    """Say what is left to do."""
    from nacre.config.local_engine import is_installed
    from nacre.config.settings import Settings

    if not is_installed():
        say("What runs it is missing. Run: pip install 'nacre[local]'", "33")
    if Settings().model != "local":
        say("Set NACRE_MODEL=local to use it, before a command or in .env.")


@contextmanager
def _plainly() -> Iterator[None]:
    """What can't be done is one line for the person at the keyboard."""
    from nacre.errors import ConfigError

    try:
        yield
    except (ValueError, ImportError) as error:
        raise ConfigError(str(error)) from error


@contextmanager
def _bar(name: str) -> "Iterator[OnProgress]":
    """A bar on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = (TextColumn(name), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total or None)
