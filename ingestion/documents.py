"""Documents as text in blocks, each with its place: plain text -> DocumentText. The extension `documents` reads
Markdown and other formats."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

BlockKind = Literal["heading", "paragraph", "row"]


# characters of a document's text; of its rows with the names of their columns, which make real tables two to three
# times as long; blocks, a million of which take half a gigabyte (given)
MAX_CHARACTERS, MAX_ROW_CHARACTERS, MAX_BLOCKS = 20_000_000, 60_000_000, 1_000_000

# characters of a column's name or a key in each row, as many as a title has (given)
MAX_COLUMN_NAME = 300


class UnreadableDocument(Exception):
    """A file can't be read as a document; the message has the reason without the file's name."""


class DocumentFile(NamedTuple):
    """A file and the name it is cited by. `source` is where its text comes from if that is not the file."""

    path: Path
    name: str
    source: str = ""


class Block(NamedTuple):
    """A block of a text, from `start` to `end` (characters). `words` is its reading if that differs from the text (a
    row of a table with the names of its columns), else "". `level` is the level of a heading, from 1."""

    kind: BlockKind
    start: int
    end: int
    words: str = ""
    level: int = 0


class DocumentSize:
    """The size of a document while it is read, so that one that multiplies ends early."""

    def __init__(self) -> None:
        self._characters = self._row_characters = self._blocks = 0

    def add(self, characters: int, row_characters: int = 0, blocks: int = 0) -> None:
        """Count more of it. Raises UnreadableDocument beyond a limit."""
        self._characters += characters
        self._row_characters += row_characters
        self._blocks += blocks
        if self._characters > MAX_CHARACTERS:
            raise UnreadableDocument(f"more than {MAX_CHARACTERS:,} characters")
        if self._row_characters > MAX_ROW_CHARACTERS:
            raise UnreadableDocument(
                f"its rows with the names of their columns have more than {MAX_ROW_CHARACTERS:,} characters"
            )
        if self._blocks > MAX_BLOCKS:
            raise UnreadableDocument(f"more than {MAX_BLOCKS:,} paragraphs and rows")


def counted_blocks(blocks: Iterable[Block]) -> tuple[Block, ...]:
    """The blocks of a text. Raises UnreadableDocument if they are too many or too long."""
    size, found = DocumentSize(), []
    for block in blocks:
        size.add(0, len(block.words), 1)
        found.append(block)
    return tuple(found)


@dataclass(frozen=True)
class DocumentText:
    """`text` is the text of the file, or the text extracted from it; all places are offsets in it. `marked`: it
    contains Markdown markup. `pages` are the offsets where pages begin; empty without pages."""

    text: str
    blocks: tuple[Block, ...]
    title: str = ""
    marked: bool = False
    pages: tuple[int, ...] = ()


class DocumentReader(NamedTuple):
    """Reads a format from the characters of a file, or from its bytes in a process that can be killed, where a parser
    can hang or crash. Raises UnreadableDocument."""

    read: Callable[[Any], DocumentText]
    takes_bytes: bool = False


_PARAGRAPH = re.compile(r"\r?\n[ \t]*\r?\n\s*")


def read_plain(text: str) -> DocumentText:
    """The paragraphs of a text."""
    return DocumentText(text, counted_blocks(_plain_paragraphs(text)))


def _plain_paragraphs(text: str) -> Iterator[Block]:
    start = 0
    for stop in (*_PARAGRAPH.finditer(text), None):
        end = stop.start() if stop else len(text)
        if text[start:end].strip():
            yield Block("paragraph", start, end)
        if stop:
            start = stop.end()
