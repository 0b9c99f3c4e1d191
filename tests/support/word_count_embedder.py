"""An embedder for tests: it counts hashed words, so that texts with words in common are near each other."""

import zlib
from collections.abc import Sequence


class WordHash:
    name = "word-hash"
    size = 64

    def __init__(self) -> None:
        self.seen: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.seen += texts
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * self.size
        for word in text.lower().replace(".", " ").split():
            vector[zlib.crc32(word.encode()) % self.size] += 1.0
        return vector
