"""Texts of a loader in one file, and back: title and pages -> file -> text in blocks."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

from ingestion.read.documents.markdown import read_markdown
from ingestion.read.documents.plain import read_plain
from ingestion.read.documents.text import BLOCK_SEPARATOR, DocumentText, UnreadableDocument

# written by an ingest in a folder of its own; files of users with this name are not read
SUFFIX = ".loaded"
# many loaders return Markdown without naming the format
_HEADING = re.compile(r"^#{1,6} \S", re.MULTILINE)


def write_loaded(path: Path, title: str, parts: Sequence[tuple[int | None, str]]) -> None:
    """Write the parts of one document: the page of each (from 1; None if it has none) and its text."""
    path.write_text(json.dumps({"title": title, "parts": parts}), encoding="utf-8")


def read_loaded(content: str) -> DocumentText:
    """The parts as one text: Markdown if it has a heading, else plain text. A page that no part has begins where the
    next one does."""
    read = json.loads(content)
    texts: list[str] = []
    pages: list[int] = []
    offset = 0
    for page, part in read["parts"]:
        pages += [offset] * max(0, (page or 0) - len(pages))
        texts.append(part)
        offset += len(part) + len(BLOCK_SEPARATOR)
    text = BLOCK_SEPARATOR.join(texts)
    if "\0" in text:
        raise UnreadableDocument("no text, but something binary")
    found = (read_markdown if _HEADING.search(text) else read_plain)(text)
    return DocumentText(found.text, found.blocks, read["title"] or found.title, found.marked, tuple(pages))
