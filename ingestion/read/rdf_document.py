"""Open one RDF file: source -> its format and content, or UnreadableFile with the reason."""

import gzip
import io
import json
import os
import re
import warnings
import zlib
from collections.abc import Iterator
from typing import IO, NamedTuple, cast

from ingestion.read.expansion import (
    DEFAULT_EXPANSION,
    EntityGuard,
    check_entities,
    check_nesting,
    check_stated_size,
    expansion_limit,
    open_inflated,
)
from ingestion.read.formats import HEAD, detect_rdf_format, rdf_endings
from ingestion.read.omissions import Omission, OmissionKind
from ingestion.read.sources import Source
from ingestion.read.statements import Content
from nacre.errors import IngestionError

# number of bytes of the first read
FIRST_READ = 1 << 16
# bytes of an empty gzip file: header and trailer (RFC 1952)
GZIP_OVERHEAD = 18
# errors of opening, unpacking, and missing JSON-LD contexts
FAILURES = (OSError, EOFError, zlib.error, IngestionError)
_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
# a string without an end goes to the end of the line, where its marks are not tried again
_STRINGS = re.compile(rb'"(?:(?s:\\.)|[^"\\])*+(?:"|(?P<open>\\?\Z))|<[^<>\s]*>|#.*')
_OTHER_TERMS = re.compile(rb"<[^<>\s]*>|#.*")


# no encoding of a text has these: a file that was never written, or of another kind
ZEROS = bytes(8)


class UnreadableFile(Exception):
    """A file, or in strict mode one statement, can't be read."""

    def __init__(self, reason: str, line: int = 0, text: str = "", kind: OmissionKind = "file") -> None:
        super().__init__(reason)
        self.reason, self.line, self.text, self.kind = reason, line, text, kind

    def message(self, name: str) -> str:
        return f"{Omission(self.kind, name, self.line, self.text, self.reason).words}."


class RdfDocument(NamedTuple):
    """An open file with its first megabyte, decompressed; small files are complete then. `limit` is the number of bytes
    that its compressed data and its XML entities may expand to."""

    path: str
    compressed: bool
    head: bytes
    is_complete: bool
    limit: int

    def content(self, form: str) -> Content:
        """The input of the parser: a path, a stream or bytes, whichever is fastest.

        Raises IngestionError if it is XML whose entities expand too far or that is nested too deeply.
        """
        if form == "RDF_XML":
            if self.is_complete or self.head.startswith(_BYTE_ORDER_MARKS):
                return self.checked_xml(self.bytes())
            size = self.limit if self.compressed else os.path.getsize(self.path)
            check_entities(self.head, self.blocks(), size, self.limit)
            check_nesting(self.blocks())
            return cast(IO[bytes], EntityGuard(self.stream(), len(self.head)))
        if self.is_complete or self.head.startswith(_BYTE_ORDER_MARKS):
            return self.bytes()
        return self.stream() if self.compressed else self.path

    def stream(self) -> IO[bytes]:
        return open_inflated(self.path, self.limit) if self.compressed else open(self.path, "rb")

    def checked_xml(self, data: bytes) -> bytes:
        """XML as it is; raises IngestionError if its entities expand too far or if it is nested too deeply."""
        check_entities(data, (data,), len(data), self.limit)
        check_nesting(data[start : start + HEAD] for start in range(0, len(data), HEAD))
        return data

    def blocks(self) -> Iterator[bytes]:
        """The content in parts of a megabyte."""
        if self.is_complete:
            yield self.head
            return
        with self.stream() as file:
            while block := file.read(HEAD):
                yield block

    def bytes(self) -> bytes:
        """The whole content; converted to UTF-8 if it begins with a byte order mark."""
        data = self.head
        if not self.is_complete:
            with self.stream() as file:
                data = file.read()
        for mark, encoding in ((b"\xef\xbb\xbf", ""), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
            if data.startswith(mark):
                return data.decode(encoding, errors="replace").encode() if encoding else data.removeprefix(mark)
        return data


def open_document(source: Source, expansion: int = DEFAULT_EXPANSION) -> RdfDocument:
    """Open a file and read its first megabyte; raises UnreadableFile for an empty one."""
    file = os.open(source.path, os.O_RDONLY)
    try:
        # a buffer of a megabyte would make small files three times slower
        head = os.read(file, FIRST_READ)
        while FIRST_READ <= len(head) < HEAD and (more := os.read(file, HEAD - len(head))):
            head += more
        size = os.fstat(file).st_size
        limit = expansion_limit(size, expansion)
        if head.startswith(b"\x1f\x8b"):
            check_stated_size(os.pread(file, 4, size - 4) if size > GZIP_OVERHEAD else b"", limit)
    finally:
        os.close(file)
    compressed = head.startswith(b"\x1f\x8b")
    if compressed:
        with gzip.open(source.path, "rb") as unpacked:
            head = unpacked.read(HEAD)
    if not head or head.isspace():
        raise UnreadableFile(f"the file is empty. Give a file with RDF (one of {rdf_endings()})")
    if ZEROS in head:
        # as one line of so many bytes it would only be quoted
        raise UnreadableFile("no text in it, but zero bytes", 0, "", "not RDF")
    return RdfDocument(source.path, compressed, head, len(head) < HEAD, limit)


def document_format(source: Source, document: RdfDocument) -> str:
    """The format of an open file; raises UnreadableFile if it is not RDF."""
    form = detect_rdf_format(source.format, document.head)
    if not form:
        first = document.head[:80].decode(errors="replace").strip().splitlines()[0]
        raise UnreadableFile("no RDF in it", 0, quote_text(first), "not RDF")
    return form


def as_unreadable(failure: Exception) -> UnreadableFile:
    """Any failure of a whole file as UnreadableFile."""
    if isinstance(failure, UnreadableFile):
        return failure
    if isinstance(failure, (gzip.BadGzipFile, EOFError, zlib.error)):
        return UnreadableFile(f"the gzip data is broken or ends early ({failure})")
    if isinstance(failure, OSError):
        return UnreadableFile(f"can't be read ({failure.strerror or failure})")
    return UnreadableFile(str(failure).rstrip("."))


def convert_with_rdflib(document: RdfDocument, form: str, base: str) -> bytes:
    """A document of a format that pyoxigraph does not support, as N-Quads."""
    import rdflib

    data = document.bytes()
    if form == "rdflib:trix":
        data = document.checked_xml(data)
    dataset = rdflib.Dataset()
    try:
        with warnings.catch_warnings():
            # rdflib warns about deprecated names that it uses itself
            warnings.simplefilter("ignore")
            dataset.parse(io.BytesIO(data), format=form.removeprefix("rdflib:"), publicID=base)
            return dataset.serialize(format="nquads", encoding="utf-8")
    except (OSError, KeyboardInterrupt):
        raise
    except Exception as error:  # rdflib's parsers raise any error of their XML or JSON parser
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UnreadableFile(f"not readable as RDF: {reason.rstrip('.')}") from None


def xml_error_line(document: RdfDocument) -> int:
    """The line where XML is not well-formed, which the RDF parser does not report; 0 if it is well-formed."""
    from xml.parsers import expat

    try:
        with document.stream() as file:
            expat.ParserCreate().ParseFile(file)
    except expat.ExpatError as error:
        return error.lineno
    return 0


def find_line(document: RdfDocument, text: str) -> tuple[int, str]:
    """The first line that contains a text; for "<<", strings and comments are ignored."""
    sought = text.encode(errors="replace")
    with document.stream() as lines:
        for number, line in enumerate(lines, 1):
            if sought in (_STRINGS.sub(_open_string, line) if text == "<<" else line):
                return number, line.decode(errors="replace").strip()[:80]
    return 0, text[:80]


def _open_string(term: re.Match[bytes]) -> bytes:
    """Nothing for a complete term; a string that goes on in the next line without the terms in it."""
    return b"" if term["open"] is None else _OTHER_TERMS.sub(b"", term[0])


def quote_text(text: str) -> str:
    """A text in quotes, "" for none."""
    return json.dumps(text, ensure_ascii=False) if text else ""
