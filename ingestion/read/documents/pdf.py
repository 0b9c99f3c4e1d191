"""PDF -> blocks: lines joined into paragraphs, larger ones as headings; what stands on most pages is left out."""

import io
import logging
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ingestion.read.documents.text import DocumentText, DocumentTextBuilder, UnreadableDocument

MOST_PAGES = 2000
MOST_CHARACTERS = 5_000_000
# what a broken file makes the reader raise beside errors of its own
BROKEN = (ArithmeticError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError)
# a line is a heading from so many times the size of most of the text on (given), if it is short
HEADING = 1.15
LONGEST_HEADING = 150
# lines that far apart, in their own size, are two paragraphs (given; set text has 1.1 to 1.4)
APART = 1.7
# the first and last so many lines of a page may be repeated on most pages
EDGE = 2


_END = re.compile(r"[.!?:][\"'”’)]*$")


class _Line(NamedTuple):
    text: str
    size: float
    height: float


def read_pdf(content: bytes) -> DocumentText:
    """The text of a file page by page, at most 2,000. Raises Unreadable where it is broken, locked or has no text."""
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    # what it says of a broken file is in the error, or does not matter
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = PdfReader(io.BytesIO(content))
        if reader.is_encrypted and not reader.decrypt(""):
            raise UnreadableDocument("locked with a password")
        count = len(reader.pages)
        if count > MOST_PAGES:
            raise UnreadableDocument(f"{count:,} pages, more than {MOST_PAGES:,}")
        pages = []
        left = MOST_CHARACTERS
        for page in reader.pages:
            pages.append(_lines(page))
            left -= sum(len(line.text) for line in pages[-1])
            if left < 0:
                raise UnreadableDocument(f"more than {MOST_CHARACTERS:,} characters")
        title = str((reader.metadata and reader.metadata.title) or "").strip()
    except UnreadableDocument:
        raise
    except (PyPdfError, *BROKEN) as error:
        # a broken file breaks the reader in many places
        raise UnreadableDocument(f"no PDF that can be read ({str(error)[:120] or type(error).__name__})") from None
    return _blocks(_without_edges(pages), title)


def _lines(page: object) -> list[_Line]:
    """The lines of a page that are not empty, from its top, with the size of their letters."""
    found: list[_Line] = []
    text: list[str] = []
    sizes: list[tuple[int, float, float]] = []

    def end() -> None:
        said = " ".join("".join(text).split())
        if said and sizes:
            _, size, height = max(sizes)
            found.append(_Line(said, size, height))
        text.clear()
        sizes.clear()

    def visit(said: str, cm: Sequence[float], tm: Sequence[float], font: object, size: float) -> None:
        scale = abs(tm[3] * cm[3]) or 1.0
        height = tm[5] * cm[3] + cm[5]
        for i, part in enumerate(said.split("\n")):
            if i:
                end()
            text.append(part)
            if part.strip():
                sizes.append((len(part), round(size * scale, 1), height))

    page.extract_text(visitor_text=visit)  # type: ignore[attr-defined]
    end()
    return found


def _without_edges(pages: list[list[_Line]]) -> list[list[_Line]]:
    """Without headers, footers and page numbers: lines at the edge of at least half of three or more pages."""
    if len(pages) < 3:
        return pages
    seen = Counter(form for lines in pages for form in {_form(line) for line in (*lines[:EDGE], *lines[-EDGE:])})
    repeated = {form for form, times in seen.items() if times >= 3 and times * 2 >= len(pages)}
    kept = []
    for lines in pages:
        edge = {*range(EDGE), *range(len(lines) - EDGE, len(lines))}
        kept.append([line for i, line in enumerate(lines) if i not in edge or _form(line) not in repeated])
    return kept


def _form(line: _Line) -> str:
    return re.sub(r"\d+", "0", line.text)


def _blocks(pages: list[list[_Line]], title: str) -> DocumentText:
    letters: Counter[float] = Counter()
    for line in (line for lines in pages for line in lines):
        letters[line.size] += len(line.text)
    if not letters:
        raise UnreadableDocument("no text in it; pages that are pictures need a text recognition first")
    usual = letters.most_common(1)[0][0]
    larger = sorted({line.size for lines in pages for line in lines if line.size >= usual * HEADING}, reverse=True)
    builder = DocumentTextBuilder()
    begins = []
    held = ""
    for lines in pages:
        first = True
        for kind, text, size in _paragraphs(lines, usual):
            goes_on = held and kind == "paragraph" and not _END.search(held) and not text[0].isupper()
            if not goes_on:
                builder.add("paragraph", held)
                held = ""
            if first:
                begins.append(builder.size + len(held))
                first = False
            if kind == "heading":
                builder.add("heading", text, level=min(6, larger.index(size) + 1))
            else:
                # a paragraph may go on where the next page begins
                held = _joined(held, text) if held else text
        if first:
            begins.append(builder.size + len(held))
    builder.add("paragraph", held)
    return builder.done(title, begins)


def _paragraphs(lines: list[_Line], usual: float) -> Iterator[tuple[str, str, float]]:
    """("heading" or "paragraph", text, size): lines of one size that stand close together."""
    held = ""
    last: _Line | None = None
    for line in lines:
        apart = last is not None and (last.size != line.size or last.height - line.height > APART * line.size)
        if held and last is not None and apart:
            yield _kind(held, last.size, usual), held, last.size
            held = ""
        held = _joined(held, line.text) if held else line.text
        last = line
    if held and last is not None:
        yield _kind(held, last.size, usual), held, last.size


def _kind(text: str, size: float, usual: float) -> str:
    return "heading" if size >= usual * HEADING and len(text) <= LONGEST_HEADING else "paragraph"


def _joined(first: str, second: str) -> str:
    """Two lines as one; a word that was parted at the end of a line is put together.

    >>> _joined("a water-", "mark"), _joined("one", "two")
    ('a watermark', 'one two')
    """
    parted = re.search(r"[^\W\d_]-$", first) and second[:1].islower()
    return first[:-1] + second if parted else f"{first} {second}"
