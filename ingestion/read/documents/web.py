"""Read HTML: page -> headings, paragraphs, items and rows of tables, without menus, scripts and styles."""

from typing import Any

from ingestion.read.documents.text import DocumentText, DocumentTextBuilder, UnreadableDocument, row_text

SKIPPED_TAGS = frozenset(
    "script style template noscript nav head svg math iframe object select option button canvas audio video".split()
)
INLINE_TAGS = frozenset(
    """a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark q ruby rb rt s samp small span
    strike strong sub sup time tt u var wbr img br""".split()
)
HEADING_LEVELS = {f"h{n}": n for n in range(1, 7)}


def read_html(content: bytes) -> DocumentText:
    """The blocks of a page, decoded as the page declares, else as UTF-8. Raises UnreadableDocument for other
    content."""
    from lxml import etree, html

    content = content.replace(b"\0", b"")
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
