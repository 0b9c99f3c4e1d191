"""Model files on this machine: recommended, downloaded and chosen ones."""

import os
from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml

from nacre.config.settings import Settings

RECOMMENDED = Path(__file__).parent / "local_models.yaml"
CHOSEN = "chosen"
STATES = "states"
# the first bytes of a GGUF file
MAGIC = b"GGUF"


class RecommendedModel(NamedTuple):
    """A model of `nacre model get`: `gigabytes` on disk, and `memory` in gigabytes at run time, both rounded."""

    name: str
    repo: str
    file: str
    gigabytes: float
    memory: float
    licence: str


@cache
def recommended_models() -> tuple[RecommendedModel, ...]:
    """All models that can be downloaded by name; the first is the default."""
    return tuple(RecommendedModel(**each) for each in yaml.safe_load(RECOMMENDED.read_text("utf-8")))


def recommended_model(name: str | None) -> RecommendedModel:
    """The recommended model with this name. Raises ValueError with the known names."""
    for each in recommended_models():
        if name in (None, each.name, each.file):
            return each
    raise ValueError(
        f"No model named {name!r} to fetch. There are {', '.join(each.name for each in recommended_models())}."
    )


def models_folder(settings: Settings) -> Path:
    """The folder of model files; graph names can't begin with an underscore."""
    return settings.models or settings.data / "_models"


def downloaded_models(folder: Path) -> list[Path]:
    """The model files in the folder, sorted."""
    return sorted(folder.glob("*.gguf"))


def chosen_model(folder: Path) -> Path | None:
    """The file that was chosen last, whether it still exists or not; None if none was chosen."""
    try:
        # relative, so that the folder can be moved
        return folder / (folder / CHOSEN).read_text("utf-8").strip()
    except FileNotFoundError:
        return None


def choose_model(folder: Path, file: Path) -> None:
    """Make `file` the model of `NACRE_MODEL=local`, without moving it. Raises ValueError if it is not a model file."""
    check_gguf(file)
    folder.mkdir(parents=True, exist_ok=True)
    inside = file.resolve().parent == folder.resolve()
    half = folder / f"{CHOSEN}.{os.getpid()}"
    half.write_text(file.name if inside else str(file.resolve()), "utf-8")
    half.replace(folder / CHOSEN)


def remove_model(folder: Path, name: str) -> Path:
    """Delete a file of the folder, by its name or that of the recommended model, and the choice of it.

    Of a file elsewhere only the choice is deleted. Returns the file. Raises ValueError for an unknown name.
    """
    present = chosen_model(folder)
    file = _by_name(folder, name) or (present if present is not None and name in (present.name, str(present)) else None)
    if file is None:
        here = ", ".join(each.name for each in downloaded_models(folder)) or "none"
        raise ValueError(f"No model named {name!r} in {folder}/ (there: {here}). Run: nacre model list")
    if file.parent == folder:
        file.unlink()
    if present == file:
        (folder / CHOSEN).unlink()
    return file


def model_file(settings: Settings, name: str) -> Path:
    """The file of `local` or `local:NAME_OR_PATH`. Raises ValueError with the next command."""
    folder = models_folder(settings)
    _, _, wanted = name.partition(":")
    file = (_by_name(folder, wanted) or Path(wanted).expanduser()) if wanted else chosen_model(folder)
    if file is None:
        raise ValueError("NACRE_MODEL is 'local', and no model is chosen. Run: nacre model get, or use FILE.gguf")
    if not file.is_file():
        raise ValueError(f"NACRE_MODEL is {name!r}, and there is no file {file}. Run: nacre model list")
    return file


def check_gguf(file: Path) -> None:
    """Raise ValueError if a file is not in GGUF format."""
    try:
        with file.open("rb") as opened:
            begins = opened.read(len(MAGIC))
    except OSError as error:
        raise ValueError(f"Can't read {file}: {error.strerror}. Give a GGUF file.") from error
    if begins != MAGIC:
        raise ValueError(f"{file} is no GGUF file. Run: nacre model list, to see what can be fetched.")


def _by_name(folder: Path, name: str) -> Path | None:
    """A file of the folder, by its name with or without .gguf, or by the name of a recommended model."""
    known = {each.name: each.file for each in recommended_models()}
    names = {name, f"{name}.gguf", known.get(name, name)}
    return next((file for file in downloaded_models(folder) if file.name in names), None)
