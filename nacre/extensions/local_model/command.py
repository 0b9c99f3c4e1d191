"""`nacre model`: download, select, list and remove chat models on this machine, and measure the one in use."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nacre.errors import ConfigError
from nacre.extension import needed, resolve
from nacre.serving.cli import options
from nacre.serving.cli.turn_display import print_line

if TYPE_CHECKING:
    from nacre.extensions.local_model.local_engine import OnProgress

model_app = typer.Typer(
    help="Download, select, list, measure and remove chat models on this machine.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

GIGABYTE = 1_000_000_000


@model_app.command()
def get(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="A model from `nacre model list`.")] = None,
) -> None:
    """Download a recommended model and select it. An interrupted download resumes."""
    from nacre.extensions.local_model.local_engine import (
        choose_model,
        download_model,
        downloaded_models,
        recommended_model,
    )

    with _as_config_error():
        model, folder = recommended_model(name), _models_folder()
        is_downloaded = model.file in (each.name for each in downloaded_models(folder))
        if not is_downloaded:
            print_line(f"{model.name}: {model.gigabytes:.3g} GB from {model.repo}, licence {model.licence}")
        with _bar(model.file) as on_progress:
            file = download_model(model, folder, on_progress)
        choose_model(folder, file)
    print_line(f"{file} {'was downloaded already' if is_downloaded else 'is downloaded, and its checksum is correct'}.")
    _print_next_steps()


@model_app.command()
def use(file: Annotated[Path, typer.Argument(metavar="FILE.gguf", help="A model file; it is not moved.")]) -> None:
    """Select a model file on this machine."""
    from nacre.extensions.local_model.local_engine import choose_model, downloaded_models

    with _as_config_error():
        folder = _models_folder()
        inside = next((each for each in downloaded_models(folder) if str(file) in (each.name, each.stem)), None)
        choose_model(folder, inside if inside is not None and not file.exists() else file)
    print_line(f"{file} is selected.")
    _print_next_steps()


@model_app.command()
def check(graph: options.GraphOption = None) -> None:
    """Measure the model with questions made of a graph's own data, as `nacre calibrate` does without a file."""
    resolve(needed("evaluation", "nacre model check").commands["calibrate"])(graph=graph)


@model_app.command("list")
def list_local_models() -> None:
    """List the models on this machine and those that can be downloaded."""
    from nacre.extensions.local_model.local_engine import chosen_model, downloaded_models, recommended_models

    folder = _models_folder()
    selected = chosen_model(folder)
    downloaded = downloaded_models(folder)
    if selected is not None and selected not in downloaded:
        downloaded.append(selected)
    for file in downloaded:
        mark = "chosen" if file == selected else "there"
        size = f"{file.stat().st_size / GIGABYTE:.1f} GB" if file.is_file() else "the file is gone"
        print_line(f"{mark:<7} {file.stem:<36} {size:<8} {file}")
    for each in recommended_models():
        if each.file not in (file.name for file in downloaded):
            size = f"{each.gigabytes:.1f} GB"
            print_line(
                f"{'to get':<7} {each.name:<36} {size:<8} {each.memory:.3g} GB of memory, licence {each.licence}"
            )


@model_app.command()
def remove(name: Annotated[str, typer.Argument(metavar="NAME", help="A file's name, with or without .gguf.")]) -> None:
    """Delete a downloaded model; a file elsewhere is only deselected."""
    from nacre.extensions.local_model.local_engine import remove_model

    with _as_config_error():
        file = remove_model(_models_folder(), name)
    print_line(f"{file} is {'deselected, its file stays' if file.exists() else 'deleted'}.")


def _models_folder() -> Path:
    from nacre.config.settings import Settings
    from nacre.extensions.local_model.local_engine import models_folder

    return models_folder(Settings())


def _print_next_steps() -> None:
    from nacre.config.settings import Settings
    from nacre.extensions.local_model.local_engine import is_installed

    if not is_installed():
        print_line("The engine for local models is not installed. Run: pip install 'nacre[local]'", "33")
    if Settings().model != "local":
        print_line("Set NACRE_MODEL=local to use it, before a command or in .env.")


@contextmanager
def _as_config_error() -> Iterator[None]:
    """Turn expected errors into ConfigError, which prints one line."""
    try:
        yield
    except (ValueError, ImportError) as error:
        raise ConfigError(str(error)) from error


@contextmanager
def _bar(name: str) -> "Iterator[OnProgress]":
    """A progress bar on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = (TextColumn(name), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total or None)
