"""Read one document by the format that its name says: path -> text in blocks."""

from collections.abc import Callable
from pathlib import Path

from ingestion.read.documents import json_data, loaded, markdown, pdf, plain, table, web, word
from ingestion.read.documents.text import MAX_CHARACTERS, DocumentText, UnreadableDocument

MAX_BYTES = 100_000_000
# bytes from which a file of any format is read in such a process, where its memory is limited: JSON takes sixty times
# its size (measured with empty objects)
LARGE = 2_000_000
# how much of a text that is not UTF-8 is used to detect its encoding
SAMPLE = 50_000

TEXT_READERS: dict[str, Callable[[str], DocumentText]] = {
    **dict.fromkeys((".md", ".markdown", ".mdown", ".mkd"), markdown.read_markdown),
    **dict.fromkeys((".txt", ".text"), plain.read_plain),
    ".csv": table.read_table,
    ".tsv": lambda text: table.read_table(text, "\t"),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), json_data.read_json),
    loaded.SUFFIX: loaded.read_loaded,
}
# files of these formats can make their parsers hang or crash, so they are read in a process that can be killed
ISOLATED_READERS: dict[str, Callable[[bytes], DocumentText]] = {
    **dict.fromkeys((".html", ".htm", ".xhtml"), web.read_html),
    ".pdf": pdf.read_pdf,
    ".docx": word.read_docx,
}
READABLE_FORMATS = (frozenset(TEXT_READERS) - {loaded.SUFFIX}) | frozenset(ISOLATED_READERS)
UNREADABLE_FORMATS = frozenset(
    {".doc", ".odt", ".rtf", ".epub", ".ppt", ".pptx", ".xls", ".xlsx", ".ods", ".rst", ".adoc", ".tex"}
)


def read_document(path: Path) -> DocumentText:
    """The text of a file in blocks, by the format that its name says. Raises UnreadableDocument."""
    suffix = path.suffix.lower()
    if suffix in UNREADABLE_FORMATS:
        raise UnreadableDocument(
            f"{suffix} is not read; convert it first, for example: pandoc {path.name} -o {path.stem}.md"
        )
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise UnreadableDocument(f"{size:,} bytes, more than {MAX_BYTES:,}")
    content = path.read_bytes()
    text = (
        ISOLATED_READERS[suffix](content) if suffix in ISOLATED_READERS else TEXT_READERS[suffix](decode_text(content))
    )
    if len(text.text) > MAX_CHARACTERS:
        raise UnreadableDocument(f"{len(text.text):,} characters, more than {MAX_CHARACTERS:,}")
    if not text.blocks:
        raise UnreadableDocument("no text in it")
    return text


def decode_text(content: bytes) -> str:
    """The characters of a text file: UTF-8, the encoding of its byte order mark, or a detected encoding.

    >>> decode_text("\\ufeffcafé".encode()), decode_text("naïve".encode("utf-16"))
    ('café', 'naïve')
    """
    try:
        if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return content.decode("utf-16")
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        from charset_normalizer import from_bytes

        best = from_bytes(content[:SAMPLE]).best()
        if best is None:
            raise UnreadableDocument("no text, or in an encoding that can't be told. Save it as UTF-8") from None
        try:
            text = content.decode(best.encoding)
        except UnicodeDecodeError:
            raise UnreadableDocument("its encoding can't be told. Save it as UTF-8") from None
    if "\0" in text[:SAMPLE]:
        raise UnreadableDocument("no text, but something binary")
    return text
