"""Model files on this machine: recommended, downloaded and chosen ones.

A recommended model is downloaded from its address on the hub -> a complete file with the right checksum. Without one,
`model_advice` explains how to get one.
"""

import hashlib
import os
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import httpx
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
    """Delete a file of the folder, by its name or that of the recommended model, and the choice of it. Of a file
    elsewhere only the choice is deleted. Returns the file. Raises ValueError for an unknown name."""
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


SECONDS = 60.0

SHA256 = re.compile(r"[0-9a-f]{64}")

AGAIN = "Run the command again: it goes on where it broke off."

# downloaded bytes, all bytes
OnProgress = Callable[[int, int], None]


def download_model(model: RecommendedModel, folder: Path, on_progress: OnProgress, endpoint: str | None = None) -> Path:
    """The file of a model, downloaded if it does not exist yet; an interrupted download is resumed.

    `endpoint` is another hub (default: HF_ENDPOINT). Raises ValueError if the hub can't be reached, interrupts the
    download, or sends other content than declared, and ImportError if the extra is missing.
    """
    file = folder / model.file
    if file.exists():
        return file
    # huggingface_hub itself restarts interrupted downloads, so this code requests the bytes
    try:
        from huggingface_hub import get_hf_file_metadata, get_token, hf_hub_url
    except ImportError as error:
        raise ImportError("What fetches models is missing. Run: pip install 'nacre[local]'") from error
    url = hf_hub_url(model.repo, model.file, endpoint=endpoint)
    try:
        about = get_hf_file_metadata(url, endpoint=endpoint)
        # the hub's tag of a large file is its checksum
        sha256 = (about.etag or "").lower()
        if not SHA256.fullmatch(sha256) or not about.size:
            lacks = "size" if SHA256.fullmatch(sha256) else "checksum"
            raise ValueError(
                f"The hub names no {lacks} for {model.file}. Fetch it yourself, then: nacre model use FILE"
            )
        folder.mkdir(parents=True, exist_ok=True)
        half = folder / f"{model.file}.{sha256[:12]}.half"
        token = get_token()
        headers = {"authorization": f"Bearer {token}"} if token else {}
        _download(url, headers, half, about.size, on_progress)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise ValueError(f"Can't fetch {url} ({' '.join(str(error).split())[:200]}). {AGAIN}") from error
    size = half.stat().st_size
    if size < about.size:
        raise ValueError(f"{url} broke off after {size:,} of {about.size:,} bytes. {AGAIN}")
    present = _sha256(half) if size == about.size else ""
    if present != sha256:
        half.unlink()
        wrong = f"the checksum {present}, not {sha256}" if present else f"{size:,} bytes, not {about.size:,}"
        raise ValueError(f"{model.file} has {wrong}: it was deleted. Fetch it again.")
    half.replace(file)
    return file


def _download(url: str, headers: dict[str, str], half: Path, size: int, on_progress: OnProgress) -> None:
    """Append the missing bytes to `half`."""
    there = half.stat().st_size if half.exists() else 0
    if there >= size:
        return
    # compressed bytes can't be counted
    wanted = {**headers, "accept-encoding": "identity", **({"range": f"bytes={there}-"} if there else {})}
    with httpx.stream("GET", url, headers=wanted, follow_redirects=True, timeout=SECONDS) as answer:
        answer.raise_for_status()
        goes_on = answer.status_code == httpx.codes.PARTIAL_CONTENT
        there = there if goes_on else 0
        with half.open("ab" if goes_on else "wb") as out:
            for piece in answer.iter_raw():
                out.write(piece)
                there += len(piece)
                if there > size:
                    # what is longer than declared has the wrong checksum
                    break
                on_progress(there, size)


def _sha256(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def model_advice(settings: "Settings") -> str:
    """How a user without a model gets one: the end of a line."""
    file = chosen_model(models_folder(settings))
    if file is not None and file.is_file():
        return f": {file.name} is installed, set NACRE_MODEL=local"
    return ". For a local one run nacre model get and set NACRE_MODEL=local (or openai:NAME, ollama:NAME)"
