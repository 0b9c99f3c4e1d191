"""Markdown and built texts as text in blocks, each with its place: text -> DocumentText."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ingestion.documents import MAX_COLUMN_NAME, Block, BlockKind, DocumentSize, DocumentText, counted_blocks

# the separator of blocks in a built text
BLOCK_SEPARATOR = "\n\n"


@dataclass
class DocumentTextBuilder:
    """Builds a text block by block; empty blocks are left out. Raises UnreadableDocument if it becomes too long."""

    parts: list[str] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    size: int = 0
    counted: DocumentSize = field(default_factory=DocumentSize)

    def add(self, kind: BlockKind, text: str, *, words: str = "", level: int = 0) -> None:
        text = text.strip()
        if not text:
            return
        self.counted.add(len(text), len(words), 1)
        self.blocks.append(Block(kind, self.size, self.size + len(text), words, level))
        self.parts += (text, BLOCK_SEPARATOR)
        self.size += len(text) + len(BLOCK_SEPARATOR)

    def done(self, title: str = "", pages: Iterable[int] = ()) -> DocumentText:
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


_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(\S[^\r\n]*)", re.MULTILINE)


_FRONT_MATTER = re.compile(r"---\r?\n.*?\r?\n---[ \t]*(?:\r?\n|$)", re.DOTALL)


_FRONT_TITLE = re.compile(r"^title:[ \t]*+([^\r\n]++)", re.MULTILINE)


_PARAGRAPH_END = re.compile(r"\r?\n[ \t]*\r?\n\s*|\r?\n(?=[ \t]*(?:[-*+>][ \t]|\d+[.)][ \t]|\||```|~~~))")


_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)


_TABLE_RULE = re.compile(r"\|?[ \t:|-]+\|?")


_BARS = re.compile(r"(?<!\\)\|")


def read_markdown(text: str) -> DocumentText:
    """The blocks of a Markdown text. Fenced code contains no headings; comments are replaced by spaces."""
    text = _without_comments(text)
    front = _FRONT_MATTER.match(text)
    start = front.end() if front else 0
    named = _FRONT_TITLE.search(front[0]) if front else None
    return DocumentText(
        text,
        counted_blocks(_markdown_blocks(text, start)),
        _unquoted(named[1].rstrip(" \t")) if named else "",
        marked=True,
    )


def _unquoted(title: str) -> str:
    """A title of the front matter without its quotation marks."""
    if len(title) > 1 and title[0] in "\"'":
        title = title[1:]
    if len(title) > 1 and title[-1] in "\"'":
        title = title[:-1]
    return title.strip()


def _without_comments(text: str) -> str:
    """The text with comments replaced by spaces, so that offsets stay valid."""
    parts, start = [], 0
    while (opened := text.find("<!--", start)) >= 0 and (closed := text.find("-->", opened)) >= 0:
        parts += [text[start:opened], re.sub(r"[^\r\n]", " ", text[opened : closed + 3])]
        start = closed + 3
    return "".join([*parts, text[start:]])


def _markdown_blocks(text: str, start: int) -> Iterator[Block]:
    fences = _fences(text, start)
    fence = 0
    for heading in _HEADING.finditer(text, start):
        while fence < len(fences) and fences[fence][1] <= heading.start():
            fence += 1
        if fence < len(fences) and fences[fence][0] <= heading.start():
            continue
        yield from _section_blocks(text, start, heading.start())
        title = heading[2].rstrip(" \t#")
        yield Block("heading", heading.start(2), heading.start(2) + len(title), level=len(heading[1]))
        start = heading.end()
    yield from _section_blocks(text, start, len(text))


def _fences(text: str, start: int) -> list[tuple[int, int]]:
    """The spans of fenced code. A fence without an end is ignored."""
    found: list[tuple[int, int]] = []
    opened: tuple[str, int] | None = None
    for match in _FENCE.finditer(text, start):
        if opened is None:
            opened = match[1], match.start()
        elif match[1][0] == opened[0][0] and len(match[1]) >= len(opened[0]):
            found.append((opened[1], match.end()))
            opened = None
    return found


def _section_blocks(text: str, start: int, end: int) -> Iterator[Block]:
    columns: list[str] = []
    waiting: tuple[int, int] | None = None
    for first, last in _split_paragraphs(text, start, end):
        line = text[first:last].strip()
        if not line.startswith("|"):
            if waiting is not None:
                yield Block("paragraph", *waiting)
            columns, waiting = [], None
            yield Block("paragraph", first, last)
        elif waiting is not None and _TABLE_RULE.fullmatch(line):
            columns, waiting = _markdown_cells(text[slice(*waiting)]), None
        elif columns:
            yield Block("row", first, last, row_text(columns, _markdown_cells(line)))
        else:
            if waiting is not None:
                yield Block("paragraph", *waiting)
            waiting = first, last
    if waiting is not None:
        yield Block("paragraph", *waiting)


def _split_paragraphs(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for stop in _PARAGRAPH_END.finditer(text, start, end):
        if text[start : stop.start()].strip():
            yield start, stop.start()
        start = stop.end()
    if text[start:end].strip():
        yield start, end


def _markdown_cells(line: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in _BARS.split(line.strip().strip("|"))]
