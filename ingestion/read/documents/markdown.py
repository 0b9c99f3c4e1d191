"""Read Markdown: text -> headings, paragraphs, list items, and rows of tables with the names of their columns."""

import re
from collections.abc import Iterator

from ingestion.read.documents.text import Block, DocumentText, counted_blocks, row_text

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
        text, counted_blocks(_blocks(text, start)), _unquoted(named[1].rstrip(" \t")) if named else "", marked=True
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


def _blocks(text: str, start: int) -> Iterator[Block]:
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
    """The paragraphs, list items and table rows of a section."""
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
            columns, waiting = _cells(text[slice(*waiting)]), None
        elif columns:
            yield Block("row", first, last, row_text(columns, _cells(line)))
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


def _cells(line: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in _BARS.split(line.strip().strip("|"))]
