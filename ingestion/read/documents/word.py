"""Read Word documents (DOCX): headings by style, paragraphs, rows of tables."""

import io
import zipfile
from typing import TYPE_CHECKING

from ingestion.read.documents.text import DocumentText, DocumentTextBuilder, UnreadableDocument, row_text

if TYPE_CHECKING:
    from docx.table import Table

# maximum size of all unpacked parts, of the text, and number of parts
MAX_UNPACKED = 200_000_000
MAX_TEXT_PART = 40_000_000
MAX_ZIP_PARTS = 5_000


def read_docx(content: bytes) -> DocumentText:
    """The text of a document, without margins and comments.

    Raises UnreadableDocument if it is not one, or would unpack to more than 200 MB, or 40 MB of text.
    """
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
    except (
        AttributeError,
        KeyError,
        LookupError,
        LxmlError,
        OSError,
        TypeError,
        ValueError,
        zipfile.BadZipFile,
    ) as error:
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
