"""Formats of documents -> DocumentText: CSV, TSV, JSON and JSON lines with their rows and objects; HTML, PDF and Word.

Menus, scripts and styles of HTML are left out; lines of a PDF become paragraphs, without repeated headers and footers.
The parsers of formats with a layout can hang or crash, so they run in a process that can be killed, and are imported
when they are used."""

import csv
import io
import json
import logging
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, NamedTuple

from ingestion.documents import (
    Block,
    DocumentReader,
    DocumentSize,
    DocumentText,
    UnreadableDocument,
    counted_blocks,
)
from ingestion.read.tables import csv_rows
from nacre.extensions.documents.plain_texts import DocumentTextBuilder, column_name, row_text

if TYPE_CHECKING:
    from docx.table import Table


SAMPLE = 8192

DELIMITERS = ",;\t|"


def read_table(text: str, delimiter: str = "") -> DocumentText:
    """The rows of a table; the delimiter is detected if none is given. Raises UnreadableDocument if it is not a
    table."""
    try:
        return DocumentText(text, counted_blocks(_row_blocks(text, delimiter)))
    except csv.Error as error:
        raise UnreadableDocument(f"no table ({error})") from None


def _row_blocks(text: str, delimiter: str) -> Iterator[Block]:
    starts = [0]
    lines = io.StringIO(text, newline="")

    def counted_lines() -> "list[str]":
        found = []
        for line in lines:
            starts.append(starts[-1] + len(line))
            found.append(line)
        return found

    rows = csv_rows(counted_lines(), delimiter=delimiter or _delimiter(text))
    columns = [cell.strip() for cell in next(rows, [])]
    last = rows.line_num
    for row in rows:
        words = row_text(columns, [cell.strip() for cell in row])
        if words:
            yield Block("row", starts[last], starts[rows.line_num], words)
        last = rows.line_num


def _delimiter(text: str) -> str:
    head = text[:SAMPLE]
    try:
        return csv.Sniffer().sniff(head, DELIMITERS).delimiter
    except csv.Error:
        first = head.partition("\n")[0]
        return max(DELIMITERS, key=first.count)


MAX_DEPTH = 24

# longest list of plain values that is part of its object's row
MAX_INLINE_LIST = 50


def read_json(text: str) -> DocumentText:
    """The objects of a file, in order. Raises UnreadableDocument if it is not JSON or nested too deeply."""
    builder = DocumentTextBuilder()
    try:
        for value in _json_values(text):
            _add_json(builder, value, "", 0)
    except (ValueError, RecursionError) as error:
        why = "too deep" if isinstance(error, RecursionError) else str(error)
        raise UnreadableDocument(f"no JSON ({why})") from None
    return builder.done()


def _json_values(text: str) -> list[Any]:
    try:
        return [json.loads(text)]
    except json.JSONDecodeError:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2:
            raise
        return [json.loads(line) for line in lines]


def _add_json(builder: DocumentTextBuilder, value: Any, name: str, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise RecursionError
    if isinstance(value, list):
        for each in value:
            before = len(builder.blocks)
            _add_json(builder, each, name, depth + 1)
            if name and any(block.kind == "heading" for block in builder.blocks[before:]):
                # repeat the heading of the list, since the item added headings of its own
                builder.add("heading", name, level=min(6, depth + 1))
        return
    if not isinstance(value, dict):
        builder.add("paragraph", f"{name}: {_value_text(value)}." if name else _value_text(value))
        return
    plain, size = {}, DocumentSize()
    for label, text in _inline_pairs(value, ""):
        size.add(len(label) + len(text))
        plain[label] = text
    if plain:
        builder.add("row", "; ".join(f"{key}: {text}" for key, text in plain.items()) + ".")
    for key, each in value.items():
        if not _is_inline(each) and each:
            builder.add("heading", _key_label(key), level=min(6, depth + 2))
            _add_json(builder, each, _key_label(key), depth + 1)


def _is_inline(value: Any) -> bool:
    """Whether a value is part of its object's row: all but lists of objects and objects with objects."""
    if isinstance(value, dict):
        return not any(isinstance(each, dict | list) for each in value.values())
    return not isinstance(value, list) or bool(_inline_text(value))


def _inline_pairs(value: dict[str, Any], name: str) -> Iterator[tuple[str, str]]:
    """The keys and values of an object's row; the keys of a nested object are prefixed with its own."""
    for key, each in value.items():
        label = f"{name} {_key_label(key)}".strip()
        if isinstance(each, dict) and not name and _is_inline(each):
            yield from _inline_pairs(each, label)
        elif text := _inline_text(each):
            yield label, text


def _inline_text(value: Any) -> str:
    """A value or a short list of values as text; "" for objects and empty values."""
    if isinstance(value, list):
        short = len(value) <= MAX_INLINE_LIST and not any(isinstance(each, dict | list) for each in value)
        return ", ".join(filter(None, map(_value_text, value))) if short else ""
    return "" if isinstance(value, dict) else _value_text(value)


def _value_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return " ".join(str(value).split())


def _key_label(key: str) -> str:
    return column_name(" ".join(key.replace("_", " ").split()))


CSV, TSV, JSON = (DocumentReader(read) for read in (read_table, partial(read_table, delimiter="\t"), read_json))


SKIPPED_TAGS = frozenset(
    "script style template noscript nav head svg math iframe object select option button canvas audio video".split()
)

INLINE_TAGS = frozenset(
    """a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark q ruby rb rt s samp small span
    strike strong sub sup time tt u var wbr img br""".split()
)

# attributes of one tag: the parser compares each with all others (given)
MAX_ATTRIBUTES = 1000

# a tag up to its end, with quoted values, which may contain one (in scripts what looks like one); a quoted value; what
# parts attributes
_TAG = re.compile(
    rb"""<[a-z](?:[^<>"'=]++|<(?!/(?:script|style)\b)|=\s*+(?:"[^"]*+"|'[^']*+')?+|["'])*+""", re.IGNORECASE
)
_QUOTED = re.compile(rb"""=\s*+(?:"[^"]*+"|'[^']*+')""")
_BETWEEN = re.compile(rb"[\s=/]++")

HEADING_LEVELS = {f"h{n}": n for n in range(1, 7)}


def read_html(content: bytes) -> DocumentText:
    """The blocks of a page, decoded as the page declares, else as UTF-8. Raises UnreadableDocument for other
    content."""
    from lxml import etree, html

    content = content.replace(b"\0", b"")
    content = _TAG.sub(_bound_attributes, content)
    encoding = None if b"charset" in content[:2048].lower() else "utf-8"
    parser = html.HTMLParser(encoding=encoding, remove_comments=True, remove_pis=True, no_network=True)
    try:
        root = html.document_fromstring(content, parser=parser)
    except (etree.LxmlError, ValueError) as error:
        raise UnreadableDocument(f"no HTML ({error})") from None
    walk = _Walk()
    # iterative, since pages may be nested to any depth
    for event, element in etree.iterwalk(root, events=("start", "end")):
        if walk.skipped is not None:
            walk.leave_skipped(event, element)
        elif event == "start":
            walk.enter(element)
        else:
            walk.leave(element)
    walk.add_block()
    return walk.builder.done(" ".join((root.findtext(".//title") or "").split()))


def _bound_attributes(tag: re.Match[bytes]) -> bytes:
    """A tag, without its attributes if there are too many."""
    is_long = tag.end() - tag.start() > MAX_ATTRIBUTES
    if is_long and len(_BETWEEN.findall(_QUOTED.sub(b" ", tag[0]))) > MAX_ATTRIBUTES:
        return re.split(rb"[^a-z0-9:<-]", tag[0][:100], maxsplit=1, flags=re.IGNORECASE)[0]
    return tag[0]


class _Walk:
    """The state of a walk over a page: the text of the current block, the current cell, row and columns."""

    def __init__(self) -> None:
        self.builder = DocumentTextBuilder()
        self.skipped: Any = None
        self._texts: list[str] = []
        self._cell: Any = None
        self._cells: list[tuple[str, bool]] = []
        self._columns: list[str] = []

    def enter(self, element: Any) -> None:
        """The start of an element: it may end the block before it."""
        tag = element.tag
        if tag in SKIPPED_TAGS or "hidden" in element.attrib:
            self.skipped = element
            return
        if tag == "table":
            self.add_block()
            self._columns = []
        elif tag == "tr":
            self.add_block()
            self._cells = []
        elif tag in ("td", "th") and self._cell is None:
            self._texts.clear()
            self._cell = element
        elif tag not in INLINE_TAGS and self._cell is None:
            self.add_block()
        self._texts.append(f" {element.text or ''}" if tag not in INLINE_TAGS else element.text or "")

    def leave(self, element: Any) -> None:
        """The end of an element: of a cell, a row or a block."""
        tag = element.tag
        if element is self._cell:
            self._cells.append((self._take_text(), tag == "th"))
            self._cell = None
        elif tag == "tr" and self._cell is None:
            self._add_row()
        elif tag not in INLINE_TAGS and self._cell is None:
            self.add_block(tag)
        self._texts.append(f" {element.tail or ''}" if tag not in INLINE_TAGS or tag == "br" else element.tail or "")

    def leave_skipped(self, event: str, element: Any) -> None:
        """Inside a skipped element: only its end matters."""
        if event == "end" and element is self.skipped:
            self.skipped = None
            self._texts.append(f" {element.tail or ''}")

    def add_block(self, tag: str = "p") -> None:
        """Add the text so far as a heading or a paragraph."""
        text = self._take_text()
        if tag in HEADING_LEVELS:
            self.builder.add("heading", text, level=HEADING_LEVELS[tag])
        else:
            self.builder.add("paragraph", text)

    def _add_row(self) -> None:
        texts = [text for text, _ in self._cells]
        if self._cells and all(is_heading for _, is_heading in self._cells):
            self._columns = texts
        else:
            self.builder.add("row", "; ".join(filter(None, texts)), words=row_text(self._columns, texts))
        self._texts.clear()

    def _take_text(self) -> str:
        text = " ".join("".join(self._texts).split())
        self._texts.clear()
        return text


MAX_PAGES = 2000

MAX_PDF_CHARACTERS = 5_000_000

# errors that parsers raise for broken files besides their own
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
            pages.append(_pdf_lines(page))
            left -= sum(len(line.text) for line in pages[-1])
            if left < 0:
                raise UnreadableDocument(f"more than {MAX_PDF_CHARACTERS:,} characters")
        title = str((reader.metadata and reader.metadata.title) or "").strip()
    except UnreadableDocument:
        raise
    except (PyPdfError, *PARSER_ERRORS) as error:
        # a broken file can fail anywhere in the parser
        raise UnreadableDocument(f"no PDF that can be read ({str(error)[:120] or type(error).__name__})") from None
    return _pdf_blocks(_without_edges(pages), title)


def _pdf_lines(page: object) -> list[_Line]:
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


def _pdf_blocks(pages: list[list[_Line]], title: str) -> DocumentText:
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
    groups: list[list[_Line]] = []
    for line in lines:
        last = groups[-1][-1] if groups else None
        if last is None or last.size != line.size or last.height - line.height > PARAGRAPH_GAP * line.size:
            groups.append([])
        groups[-1].append(line)
    for group in groups:
        text, size = reduce(_join_lines, (line.text for line in group)), group[0].size
        is_heading = size >= usual * HEADING_RATIO and len(text) <= MAX_HEADING_LENGTH
        yield "heading" if is_heading else "paragraph", text, size


def _join_lines(first: str, second: str) -> str:
    """Join two lines; a word that was hyphenated at the end of the line is joined too.

    >>> _join_lines("a water-", "mark"), _join_lines("one", "two")
    ('a watermark', 'one two')
    """
    hyphenated = re.search(r"[^\W\d_]-$", first) and second[:1].islower()
    return first[:-1] + second if hyphenated else f"{first} {second}"


# maximum size of all unpacked parts, of the text, and number of parts
MAX_UNPACKED = 200_000_000

MAX_TEXT_PART = 40_000_000

MAX_ZIP_PARTS = 5_000


def read_docx(content: bytes) -> DocumentText:
    """The text of a document, without margins and comments. Raises UnreadableDocument if it is not one, or would unpack
    to more than 200 MB, or 40 MB of text."""
    _check_size(content)
    from docx import Document
    from docx.table import Table
    from lxml.etree import LxmlError

    try:
        document = Document(io.BytesIO(content))
        headings = {style.style_id: _level(style.name or "") for style in document.styles if style.type == 1}
        builder = DocumentTextBuilder()
        for block in document.iter_inner_content():
            if isinstance(block, Table):
                _add_table(builder, block)
                continue
            properties = block._p.pPr
            style = properties.style if properties is not None else None
            level = headings.get(style or "", 0)
            builder.add("heading" if level else "paragraph", " ".join(block.text.split()), level=level)
        title = (document.core_properties.title or "").strip()
    except (LxmlError, zipfile.BadZipFile, *PARSER_ERRORS) as error:
        raise UnreadableDocument(f"no Word document that can be read ({str(error)[:120]})") from None
    return builder.done(title)


def _check_size(content: bytes) -> None:
    """Raise UnreadableDocument for a file whose declared unpacked size exceeds the limits."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as parts:
            sizes = [(part.filename, part.file_size) for part in parts.infolist()]
    except (zipfile.BadZipFile, ValueError, OSError) as error:
        raise UnreadableDocument(f"no Word document ({error})") from None
    text = max((size for name, size in sizes if name.endswith((".xml", ".rels"))), default=0)
    if len(sizes) > MAX_ZIP_PARTS or sum(size for _, size in sizes) > MAX_UNPACKED or text > MAX_TEXT_PART:
        raise UnreadableDocument("it would unpack to more than a document should be")


def _level(style: str) -> int:
    """The heading level of a style; 0 for other paragraphs.

    >>> _level("Heading 2"), _level("Title"), _level("Normal")
    (2, 1, 0)
    """
    if style == "Title":
        return 1
    first, _, number = style.partition(" ")
    return int(number) if first.lower() == "heading" and number.isdigit() else 0


def _add_table(builder: DocumentTextBuilder, table: "Table") -> None:
    columns: list[str] = []
    for i, row in enumerate(table.rows):
        # a merged cell is listed once for each of its columns
        cells = list({id(cell._tc): cell for cell in row.cells}.values())
        texts = [" ".join(cell.text.split()) for cell in cells]
        if i == 0 and len(table.rows) > 1:
            columns = texts
        else:
            builder.add("row", "; ".join(filter(None, texts)), words=row_text(columns, texts))


HTML, PDF, DOCX = (DocumentReader(read, takes_bytes=True) for read in (read_html, read_pdf, read_docx))
