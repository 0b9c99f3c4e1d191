"""The text of a document and its blocks, and a builder for them."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

BlockKind = Literal["heading", "paragraph", "row"]

# the separator of blocks in a built text
BLOCK_SEPARATOR = "\n\n"


class UnreadableDocument(Exception):
    """A file can't be read as a document; the message has the reason without the file's name."""


class Block(NamedTuple):
    """A block of a text, from `start` to `end` (characters). `words` is its reading if that differs from the text (a
    row of a table with the names of its columns), else "". `level` is the level of a heading, from 1."""

    kind: BlockKind
    start: int
    end: int
    words: str = ""
    level: int = 0


@dataclass(frozen=True)
class DocumentText:
    """`text` is the text of the file, or the text extracted from it; all places are offsets in it. `marked`: it
    contains Markdown markup. `pages` are the offsets where pages begin; empty without pages."""

    text: str
    blocks: tuple[Block, ...]
    title: str = ""
    marked: bool = False
    pages: tuple[int, ...] = ()


@dataclass
class DocumentTextBuilder:
    """Builds a text block by block; empty blocks are left out."""

    parts: list[str] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    size: int = 0

    def add(self, kind: BlockKind, text: str, *, words: str = "", level: int = 0) -> None:
        """Append a block."""
        text = text.strip()
        if not text:
            return
        self.blocks.append(Block(kind, self.size, self.size + len(text), words, level))
        self.parts += (text, BLOCK_SEPARATOR)
        self.size += len(text) + len(BLOCK_SEPARATOR)

    def done(self, title: str = "", pages: Iterable[int] = ()) -> DocumentText:
        """The built text with all blocks."""
        return DocumentText("".join(self.parts).rstrip("\n"), tuple(self.blocks), title, pages=tuple(pages))


def row_text(columns: list[str], cells: list[str]) -> str:
    """A row of a table as text: each cell with the name of its column, if it has one.

    >>> row_text(["Ship", "Built"], ["Hebe", "1991", "x"])
    'Ship: Hebe; Built: 1991; x.'
    """
    names = [*columns, *[""] * len(cells)]
    named = [f"{name}: {cell}" if name else cell for name, cell in zip(names, cells, strict=False) if cell]
    return f"{'; '.join(named)}." if named else ""
