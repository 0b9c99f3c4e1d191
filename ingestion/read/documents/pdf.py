"""Read PDF: lines -> paragraphs, and headings in larger letters; repeated headers and footers are removed."""

import io
import logging
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ingestion.read.documents.text import DocumentText, DocumentTextBuilder, UnreadableDocument

MAX_PAGES = 2000
MAX_PDF_CHARACTERS = 5_000_000
# errors that pypdf raises for broken files besides its own
PARSER_ERRORS = (ArithmeticError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError)
# minimum size of a heading's letters, as a multiple of the usual size (given)
HEADING_RATIO = 1.15
MAX_HEADING_LENGTH = 150
# minimum distance of two paragraphs, as a multiple of the letters' size (given; lines of text have 1.1 to 1.4)
PARAGRAPH_GAP = 1.7
# number of first and last lines of a page that may be a repeated header or footer
EDGE_LINES = 2


_END = re.compile(r"[.!?:][\"'”’)]*$")


class _Line(NamedTuple):
    text: str
    size: float
    height: float


def read_pdf(content: bytes) -> DocumentText:
    """The text of a file, page by page (at most 2,000). Raises UnreadableDocument if it is broken, locked or empty."""
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    # its log messages about broken files repeat the error
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = PdfReader(io.BytesIO(content))
        if reader.is_encrypted and not reader.decrypt(""):
            raise UnreadableDocument("locked with a password")
        count = len(reader.pages)
        if count > MAX_PAGES:
            raise UnreadableDocument(f"{count:,} pages, more than {MAX_PAGES:,}")
        pages = []
        left = MAX_PDF_CHARACTERS
        for page in reader.pages:
            pages.append(_lines(page))
            left -= sum(len(line.text) for line in pages[-1])
            if left < 0:
                raise UnreadableDocument(f"more than {MAX_PDF_CHARACTERS:,} characters")
        title = str((reader.metadata and reader.metadata.title) or "").strip()
    except UnreadableDocument:
        raise
    except (PyPdfError, *PARSER_ERRORS) as error:
        # a broken file can fail anywhere in the parser
        raise UnreadableDocument(f"no PDF that can be read ({str(error)[:120] or type(error).__name__})") from None
    return _blocks(_without_edges(pages), title)


def _lines(page: object) -> list[_Line]:
    """The lines of a page that are not empty, from the top, with the size of their letters."""
    found: list[_Line] = []
    text: list[str] = []
    sizes: list[tuple[int, float, float]] = []

    def end() -> None:
        line_text = " ".join("".join(text).split())
        if line_text and sizes:
            _, size, height = max(sizes)
            found.append(_Line(line_text, size, height))
        text.clear()
        sizes.clear()

    def visit(line_text: str, cm: Sequence[float], tm: Sequence[float], font: object, size: float) -> None:
        scale = abs(tm[3] * cm[3]) or 1.0
        height = tm[5] * cm[3] + cm[5]
        for i, part in enumerate(line_text.split("\n")):
            if i:
                end()
            text.append(part)
            if part.strip():
                sizes.append((len(part), round(size * scale, 1), height))

    page.extract_text(visitor_text=visit)  # type: ignore[attr-defined]
    end()
    return found


def _without_edges(pages: list[list[_Line]]) -> list[list[_Line]]:
    """Remove headers, footers and page numbers: lines at the edge of at least half of the pages, if three or more."""
    if len(pages) < 3:
        return pages
    seen = Counter(
        form
        for lines in pages
        for form in {_without_numbers(line) for line in (*lines[:EDGE_LINES], *lines[-EDGE_LINES:])}
    )
    repeated = {form for form, times in seen.items() if times >= 3 and times * 2 >= len(pages)}
    kept = []
    for lines in pages:
        edge = {*range(EDGE_LINES), *range(len(lines) - EDGE_LINES, len(lines))}
        kept.append([line for i, line in enumerate(lines) if i not in edge or _without_numbers(line) not in repeated])
    return kept


def _without_numbers(line: _Line) -> str:
    return re.sub(r"\d+", "0", line.text)


def _blocks(pages: list[list[_Line]], title: str) -> DocumentText:
    letters: Counter[float] = Counter()
    for line in (line for lines in pages for line in lines):
        letters[line.size] += len(line.text)
    if not letters:
        raise UnreadableDocument("no text in it; pages that are pictures need a text recognition first")
    usual = letters.most_common(1)[0][0]
    larger = sorted(
        {line.size for lines in pages for line in lines if line.size >= usual * HEADING_RATIO}, reverse=True
    )
    builder = DocumentTextBuilder()
    begins = []
    paragraph = ""
    for lines in pages:
        first = True
        for kind, text, size in _paragraphs(lines, usual):
            continues = paragraph and kind == "paragraph" and not _END.search(paragraph) and not text[0].isupper()
            if not continues:
                builder.add("paragraph", paragraph)
                paragraph = ""
            if first:
                begins.append(builder.size + len(paragraph))
                first = False
            if kind == "heading":
                builder.add("heading", text, level=min(6, larger.index(size) + 1))
            else:
                # a paragraph may continue on the next page
                paragraph = _join_lines(paragraph, text) if paragraph else text
        if first:
            begins.append(builder.size + len(paragraph))
    builder.add("paragraph", paragraph)
    return builder.done(title, begins)


def _paragraphs(lines: list[_Line], usual: float) -> Iterator[tuple[str, str, float]]:
    """("heading" or "paragraph", text, size) for consecutive lines of one size and small distance."""
    paragraph = ""
    last: _Line | None = None
    for line in lines:
        separate = last is not None and (
            last.size != line.size or last.height - line.height > PARAGRAPH_GAP * line.size
        )
        if paragraph and last is not None and separate:
            yield _kind(paragraph, last.size, usual), paragraph, last.size
            paragraph = ""
        paragraph = _join_lines(paragraph, line.text) if paragraph else line.text
        last = line
    if paragraph and last is not None:
        yield _kind(paragraph, last.size, usual), paragraph, last.size


def _kind(text: str, size: float, usual: float) -> str:
    return "heading" if size >= usual * HEADING_RATIO and len(text) <= MAX_HEADING_LENGTH else "paragraph"


def _join_lines(first: str, second: str) -> str:
    """Join two lines; a word that was hyphenated at the end of the line is joined too.

    >>> _join_lines("a water-", "mark"), _join_lines("one", "two")
    ('a watermark', 'one two')
    """
    hyphenated = re.search(r"[^\W\d_]-$", first) and second[:1].islower()
    return first[:-1] + second if hyphenated else f"{first} {second}"
