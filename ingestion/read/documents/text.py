"""The text of a document and its blocks, and a builder for them."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

BlockKind = Literal["heading", "paragraph", "row"]

# the separator of blocks in a built text
BLOCK_SEPARATOR = "\n\n"
# characters of a document's text; of its rows with the names of their columns, which make real tables two to three
# times as long; blocks, a million of which take half a gigabyte (given)
MAX_CHARACTERS, MAX_ROW_CHARACTERS, MAX_BLOCKS = 20_000_000, 60_000_000, 1_000_000
# characters of a column's name or a key in each row, as many as a title has (given)
MAX_COLUMN_NAME = 300


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


@dataclass
class DocumentTextBuilder:
    """Builds a text block by block; empty blocks are left out. Raises UnreadableDocument if it becomes too long."""

    parts: list[str] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    size: int = 0
    counted: DocumentSize = field(default_factory=DocumentSize)

    def add(self, kind: BlockKind, text: str, *, words: str = "", level: int = 0) -> None:
        """Append a block."""
        text = text.strip()
        if not text:
            return
        self.counted.add(len(text), len(words), 1)
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
    names = [*map(column_name, columns), *[""] * len(cells)]
    named = [f"{name}: {cell}" if name else cell for name, cell in zip(names, cells, strict=False) if cell]
    return f"{'; '.join(named)}." if named else ""


def column_name(name: str) -> str:
    """A name as rows repeat it."""
    return name if len(name) <= MAX_COLUMN_NAME else f"{name[: MAX_COLUMN_NAME - 1]}…"
