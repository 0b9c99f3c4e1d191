"""Read plain text: text -> paragraphs, separated by blank lines."""

import re
from collections.abc import Iterator

from ingestion.read.documents.text import Block, DocumentText, counted_blocks

_PARAGRAPH = re.compile(r"\r?\n[ \t]*\r?\n\s*")


def read_plain(text: str) -> DocumentText:
    """The paragraphs of a text."""
    return DocumentText(text, counted_blocks(_paragraphs(text)))


def _paragraphs(text: str) -> Iterator[Block]:
    start = 0
    for stop in (*_PARAGRAPH.finditer(text), None):
        end = stop.start() if stop else len(text)
        if text[start:end].strip():
            yield Block("paragraph", start, end)
        if stop:
            start = stop.end()
