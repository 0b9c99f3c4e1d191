"""Link words by meaning where their letters name nothing: words + embedder -> classes and predicates that are near."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from stores.vectors import Embedder

# below this cosine, all-MiniLM-L6-v2 pairs words that merely belong to one world ("captain", "fleet")
NEAR = 0.6


class Meaning:
    """The vectors of some terms, computed at the first question that needs them."""

    def __init__(self, terms: Sequence[str], embedder: Embedder) -> None:
        self._terms = tuple(terms)
        self._embedder = embedder
        self._vectors: Any = None

    def near(self, texts: Sequence[str]) -> list[list[tuple[int, float]]]:
        """For each text the terms (by index) that are near in meaning, nearest first, at most two."""
        if not self._terms or not texts:
            return [[] for _ in texts]
        if self._vectors is None:
            self._vectors = unit(self._embedder.embed(list(self._terms)))
        likeness = unit(self._embedder.embed(list(texts))) @ self._vectors.T
        return [
            [(int(i), float(row[i])) for i in np.argsort(-row, kind="stable")[:2] if row[i] >= NEAR] for row in likeness
        ]


def unit(vectors: Sequence[Any]) -> Any:
    """The vectors scaled to length 1, one a row."""
    found = np.asarray(vectors, dtype=np.float32)
    return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)
