"""Limits of compressed data and XML: what it expands to, and its nesting -> the same data, or IngestionError."""

import gzip
import io
import re
from collections import Counter
from collections.abc import Iterable
from typing import IO, Any

from nacre.errors import IngestionError

# real graphs in Turtle and N-Triples compress 9 to 27 times (measured with 41 of them)
DEFAULT_EXPANSION = 40
# what any file may expand to, whatever its size: N-Triples of this size take 3 s to parse (measured)
FREE_BYTES = 100_000_000
# the parser of RDF/XML needs time for each pair of levels: 20,000 take 0.5 s and 100,000 take 23 s (measured)
MAX_XML_DEPTH = 1000
# bytes of a tag with its attributes, of a comment and of a CDATA section (given)
MAX_TAG_BYTES = 16_000_000
_BLOCK = 1 << 20
_ENTITY = b"<!ENTITY"
_DECLARATION = re.compile(
    rb"""<!ENTITY\s+(?P<parameter>%\s*)?(?P<name>[^\s"'<>&;]+)\s+"""
    rb"""(?:(?:SYSTEM|PUBLIC)\b|"(?P<double>[^"]*)"|'(?P<single>[^']*)')"""
)
_REFERENCE = re.compile(rb"&([^\s&;<#]+);")
# a comment, a CDATA section, an instruction, a declaration or a tag: its first character, and the last one of a start
# tag; else the rest of the text, which has no end yet
_MARKUP = re.compile(
    rb"""<(?=(.))(?:!--.*?-->|!\[CDATA\[.*?\]\]>|\?.*?\?>|/[^>]*+>"""
    rb"""|![A-Za-z][^<>"']*+(?:(?:"[^"]*+"|'[^']*+')[^<>"']*+)*+(?=[<>])"""
    rb"""|[^!?/>"'][^"'>]*+(?:(?:"[^"]*+"|'[^']*+')[^"'>]*+)*+(?<=(.))>)|(<.*+)""",
    re.DOTALL,
)
_ESCAPED_REFERENCE = re.compile(rb"&#(?:0*38|x0*26);")


def expansion_limit(size: int, expansion: int) -> int:
    """How many bytes a file of `size` bytes may expand to."""
    return max(FREE_BYTES * expansion // DEFAULT_EXPANSION, size * expansion)


def _advice(limit: int) -> str:
    return f"more than {limit // 1_000_000:,} MB; --max-expansion raises the limit for a file that you trust"


class _Inflating(io.RawIOBase):
    """Decompressed data, up to a limit."""

    def __init__(self, path: str, limit: int) -> None:
        self._file, self._left, self._limit = gzip.GzipFile(path, "rb"), limit, limit

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._file.readinto(buffer)
        self._left -= count
        if self._left < 0:
            raise IngestionError(f"the gzip data inflates to {_advice(self._limit)}")
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


def check_stated_size(trailer: bytes, limit: int) -> None:
    """Raise IngestionError if the last four bytes of a gzip file state more than `limit` bytes, before any is read.

    The bytes are a hint, for they may be wrong: `open_inflated` counts.
    """
    if int.from_bytes(trailer, "little") > limit:
        raise IngestionError(f"the gzip data inflates to {_advice(limit)}")


def open_inflated(path: str, limit: int) -> IO[bytes]:
    """The decompressed data of a gzip file. Reading raises IngestionError beyond `limit` bytes."""
    return io.BufferedReader(_Inflating(path, limit), _BLOCK >> 4)


class EntityGuard(io.RawIOBase):
    """XML whose entities were checked in its first megabyte: reading raises IngestionError for a later declaration."""

    def __init__(self, stream: IO[bytes], checked: int) -> None:
        self._stream, self._left, self._tail = stream, checked, b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        data = self._stream.read(size)
        if self._left > 0:
            self._left -= len(data)
            self._tail = data[self._left :] if self._left < 0 else b""
            seen = self._tail
        else:
            seen = self._tail + data
        if _ENTITY in seen:
            raise IngestionError("XML entities are declared after the first megabyte, which is not supported")
        self._tail = seen[1 - len(_ENTITY) :]
        return data

    def close(self) -> None:
        self._stream.close()
        super().close()


def check_entities(head: bytes, blocks: Iterable[bytes], size: int, limit: int) -> None:
    """Raise IngestionError if the entities that `head` declares make a document of `size` bytes longer than `limit`.

    `blocks` are the whole document; they are read only if the longest entity could reach the limit.
    """
    if _ENTITY not in head:
        return
    lengths = _entity_lengths(head)
    ratio = max((length / (len(name) + 2) for name, length in lengths.items()), default=0.0)
    total = sum(lengths.values())
    if total <= limit and total + ratio * size > limit:
        references: Counter[bytes] = Counter()
        left = b""
        for block in blocks:
            # a reference may continue in the next block
            text = left + block
            cut = text.rfind(b"&", max(0, len(text) - 1000))
            left, text = (text[cut:], text[:cut]) if cut >= 0 else (b"", text)
            references.update(_REFERENCE.findall(text))
        references.update(_REFERENCE.findall(left))
        total += sum(count * lengths.get(name, 0) for name, count in references.items())
    elif total <= limit:
        return
    if total > limit:
        raise IngestionError(f"its XML entities expand to {_advice(limit)}")


def check_nesting(blocks: Iterable[bytes]) -> None:
    """Raise IngestionError if XML is nested too deeply. Malformed XML may pass: the parser ends there."""
    depth, text, enough = 0, b"", 0
    for block in blocks:
        text += block
        # markup without an end is read again when there is twice as much
        if len(text) >= enough:
            depth, text = _scan_markup(text, depth)
            enough = 2 * len(text)
            if len(text) > MAX_TAG_BYTES:
                raise IngestionError(f"a tag in it has no end within {MAX_TAG_BYTES // 1_000_000} MB")
    _scan_markup(text, depth)


def _scan_markup(text: bytes, depth: int) -> tuple[int, bytes]:
    """The depth after a text, and the end of the text that belongs to unfinished markup."""
    rest = b""
    for first, last, rest in _MARKUP.findall(text):  # noqa: B007
        if first == b"/":
            # end tags in declarations close nothing
            depth = max(0, depth - 1)
        elif last not in (b"", b"/"):
            depth += 1
            if depth > MAX_XML_DEPTH:
                raise IngestionError(f"the XML in it is nested deeper than {MAX_XML_DEPTH:,} levels")
    return depth, rest


def _entity_lengths(head: bytes) -> dict[bytes, int]:
    """The expanded length of each declared entity, computed without expanding it."""
    declarations = list(_DECLARATION.finditer(head))
    if len({found.start() for found in declarations}) != head.count(_ENTITY):
        raise IngestionError("a declaration of an XML entity in it is not supported")
    lengths: dict[bytes, int] = {}
    declared = {found["name"] for found in declarations}
    for found in declarations:
        value = found["double"] if found["double"] is not None else found["single"]
        if value is None:  # an external entity, which no parser reads
            continue
        value = _ESCAPED_REFERENCE.sub(b"&", value)
        length = len(value)
        for name in _REFERENCE.findall(value):
            if name in declared and name not in lengths:
                raise IngestionError(f"the XML entity {found['name'].decode(errors='replace')[:40]!r} uses a later one")
            length += lengths.get(name, 0)
        lengths[found["name"]] = max(length, lengths.get(found["name"], 0))
    return lengths
