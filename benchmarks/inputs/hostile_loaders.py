"""Document loaders that return too much, fail loudly, or name their documents to harm; for `nacre ingest --loader`."""

from collections.abc import Iterator

from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document

TERMINAL = "\x1b[2J\x1b]0;owned\x07\u202e"


class Endless(BaseLoader):
    """Small documents without end."""

    def lazy_load(self) -> Iterator[Document]:
        number = 0
        while True:
            number += 1
            yield Document("The mill stands at the river.", metadata={"source": f"https://mills.example/{number}"})


class Huge(BaseLoader):
    """One document of 200 MB."""

    def lazy_load(self) -> Iterator[Document]:
        yield Document("The mill stands at the river. " * 7_000_000, metadata={"source": "huge"})


class Loud(BaseLoader):
    """A failure whose reason is 5 MB of what terminals obey."""

    def lazy_load(self) -> Iterator[Document]:
        raise ConnectionError(TERMINAL * 500_000)
        yield


class ManyPages(BaseLoader):
    """One source in 19,000 parts, each with a page of its own, the last ones far beyond any book."""

    def lazy_load(self) -> Iterator[Document]:
        for number in range(19_000):
            metadata = {"source": "report.pdf", "page": number * 10**number if number < 300 else number}
            yield Document(f"Part {number} is about the mill.", metadata=metadata)


class OddNames(BaseLoader):
    """Sources that are paths, control characters, 1 MB long, or no text."""

    def lazy_load(self) -> Iterator[Document]:
        for source in ("../../etc/passwd", "/etc/passwd", f"a{TERMINAL}\x00b", "n" * 1_000_000, {"a": ["b"]}, 7, None):
            yield Document("The mill stands at the river.", metadata={"source": source, "title": source, "page": True})


class Silent(BaseLoader):
    """Nothing at all."""

    def lazy_load(self) -> Iterator[Document]:
        return iter(())


class NoLoader:
    """A class that loads nothing."""
