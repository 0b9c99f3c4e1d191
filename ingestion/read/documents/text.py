"""What a loader makes of a file: its text, and the blocks it falls into; and how text in blocks is put together."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

BlockKind = Literal["heading", "paragraph", "row"]

# between two blocks of a text that is put together from them
GAP = "\n\n"


class UnreadableDocument(Exception):
    """A file that can't be read as a document; the message says why, without its name."""


class Block(NamedTuple):
    """A stretch of a text, from `start` to `end` (characters). `words` is how it reads where that is not how it is
    written: a row of a table with the names of its columns; "" where it is. `level` is that of a heading, from 1."""

    kind: BlockKind
    start: int
    end: int
    words: str = ""
    level: int = 0


@dataclass(frozen=True)
class DocumentText:
    """`text` is what places are counted in: that of the file, or what was made of one that is no text; `marked` where
    it has the marks of Markdown. `pages` are the places where the pages begin, empty where there are none."""

    text: str
    blocks: tuple[Block, ...]
    title: str = ""
    marked: bool = False
    pages: tuple[int, ...] = ()


@dataclass
class DocumentTextBuilder:
    """Puts a text together block by block; empty blocks are left out."""

    parts: list[str] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    size: int = 0

    def add(self, kind: BlockKind, text: str, *, words: str = "", level: int = 0) -> None:
        """Append a block of one line or more."""
        text = text.strip()
        if not text:
            return
        self.blocks.append(Block(kind, self.size, self.size + len(text), words, level))
        self.parts += (text, GAP)
        self.size += len(text) + len(GAP)

    def done(self, title: str = "", pages: Iterable[int] = ()) -> DocumentText:
        """The text of all blocks."""
        return DocumentText("".join(self.parts).rstrip("\n"), tuple(self.blocks), title, pages=tuple(pages))


def row_text(columns: list[str], cells: list[str]) -> str:
    """A row of a table in words, each cell with its column; cells without a column stand alone.

    >>> row_text(["Ship", "Built"], ["Hebe", "1991", "x"])
    'Ship: Hebe; Built: 1991; x.'
    """
    names = [*columns, *[""] * len(cells)]
    said = [f"{name}: {cell}" if name else cell for name, cell in zip(names, cells, strict=False) if cell]
    return f"{'; '.join(said)}." if said else ""
