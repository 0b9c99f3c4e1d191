"""HTML -> blocks: headings, paragraphs, items, rows of tables; menus, scripts and styles are left out."""

from ingestion.read.documents.text import DocumentText, DocumentTextBuilder, UnreadableDocument, row_text

LEFT_OUT = frozenset(
    "script style template noscript nav head svg math iframe object select option button canvas audio video".split()
)
INLINE = frozenset(
    """a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark q ruby rb rt s samp small span
    strike strong sub sup time tt u var wbr img br""".split()
)
HEADINGS = {f"h{n}": n for n in range(1, 7)}


def read_html(content: bytes) -> DocumentText:
    """The blocks of a page, in the encoding it names, else UTF-8. Raises Unreadable where there is no page in it."""
    from lxml import etree, html

    content = content.replace(b"\0", b"")
    encoding = None if b"charset" in content[:2048].lower() else "utf-8"
    parser = html.HTMLParser(encoding=encoding, remove_comments=True, remove_pis=True, no_network=True)
    try:
        root = html.document_fromstring(content, parser=parser)
    except (etree.LxmlError, ValueError) as error:
        raise UnreadableDocument(f"no HTML ({error})") from None
    builder = DocumentTextBuilder()
    title = " ".join((root.findtext(".//title") or "").split())
    held: list[str] = []
    columns: list[str] = []
    skipped = cell = None
    cells: list[tuple[str, bool]] = []

    def flush(kind: str = "p") -> None:
        text = " ".join("".join(held).split())
        held.clear()
        if kind in HEADINGS:
            builder.add("heading", text, level=HEADINGS[kind])
        else:
            builder.add("paragraph", text)

    # one walk without recursion: pages nest as deep as they like
    for event, element in etree.iterwalk(root, events=("start", "end")):
        tag = element.tag
        if skipped is not None:
            if event == "end" and element is skipped:
                skipped = None
                held.append(f" {element.tail or ''}")
            continue
        if event == "start":
            if tag in LEFT_OUT or "hidden" in element.attrib:
                skipped = element
                continue
            if tag == "table":
                flush()
                columns = []
            elif tag == "tr":
                flush()
                cells = []
            elif tag in ("td", "th") and cell is None:
                held.clear()
                cell = element
            elif tag not in INLINE and cell is None:
                flush()
            held.append(f" {element.text or ''}" if tag not in INLINE else element.text or "")
            continue
        if element is cell:
            cells.append((" ".join("".join(held).split()), tag == "th"))
            held.clear()
            cell = None
        elif tag == "tr" and cell is None:
            if cells and all(head for _, head in cells):
                columns = [text for text, _ in cells]
            else:
                said = [text for text, _ in cells]
                builder.add("row", "; ".join(filter(None, said)), words=row_text(columns, said))
            held.clear()
        elif tag not in INLINE and cell is None:
            flush(tag)
        held.append(f" {element.tail or ''}" if tag not in INLINE or tag == "br" else element.tail or "")
    flush()
    return builder.done(title)
