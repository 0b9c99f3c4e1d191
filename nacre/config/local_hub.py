"""Download a recommended model: its address on the hub -> a complete file with the right checksum."""

import hashlib
import re
from collections.abc import Callable
from pathlib import Path

import httpx

from nacre.config.local_files import RecommendedModel

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
