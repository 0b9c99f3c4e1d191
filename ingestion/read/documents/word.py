"""Word documents (DOCX) -> blocks: headings by their style, paragraphs, rows of tables."""

import io
import zipfile
from typing import TYPE_CHECKING

from ingestion.read.documents.text import DocumentText, DocumentTextBuilder, UnreadableDocument, row_text

if TYPE_CHECKING:
    from docx.table import Table

# what the parts of a file may hold together when they are unpacked, and each
MOST_UNPACKED = 200_000_000
MOST_OF_TEXT = 40_000_000
MOST_PARTS = 5_000


def read_docx(content: bytes) -> DocumentText:
    """The text of a document; what is in its margins and comments is left out.

    Raises Unreadable where it is none, or where it would unpack to more than 200 MB, or 40 MB of text.
    """
    _bounded(content)
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


def _bounded(content: bytes) -> None:
    """Raises Unreadable for a file that says that it is more than it should be when unpacked."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as parts:
            sizes = [(part.filename, part.file_size) for part in parts.infolist()]
    except (zipfile.BadZipFile, ValueError, OSError) as error:
        raise UnreadableDocument(f"no Word document ({error})") from None
    text = max((size for name, size in sizes if name.endswith((".xml", ".rels"))), default=0)
    if len(sizes) > MOST_PARTS or sum(size for _, size in sizes) > MOST_UNPACKED or text > MOST_OF_TEXT:
        raise UnreadableDocument("it would unpack to more than a document should be")


def _level(style: str) -> int:
    """The level of the headings of a style, 0 for other paragraphs.

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
        # a cell over several columns comes once for each
        cells = list({id(cell._tc): cell for cell in row.cells}.values())
        said = [" ".join(cell.text.split()) for cell in cells]
        if i == 0 and len(table.rows) > 1:
            columns = said
        else:
            builder.add("row", "; ".join(filter(None, said)), words=row_text(columns, said))
