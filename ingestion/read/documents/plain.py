"""Read plain text: text -> paragraphs, separated by blank lines."""

import re

from ingestion.read.documents.text import Block, DocumentText

_PARAGRAPH = re.compile(r"\r?\n[ \t]*\r?\n\s*")


def read_plain(text: str) -> DocumentText:
    """The paragraphs of a text."""
    blocks, start = [], 0
    for stop in _PARAGRAPH.finditer(text):
        blocks.append(Block("paragraph", start, stop.start()))
        start = stop.end()
    blocks.append(Block("paragraph", start, len(text)))
    return DocumentText(text, tuple(block for block in blocks if text[block.start : block.end].strip()))
