"""Find the inputs of an ingest: files, folders and globs -> RDF files with base IRIs and formats, and one hash of all.
Formats go by name and first bytes. Compressed data and XML are read within limits of what they expand to."""

import glob
import gzip
import io
import logging
import os
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from importlib.util import find_spec
from itertools import takewhile
from os.path import splitext
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple
from urllib.parse import quote

import nacre.language.data
from ingestion.documents import DocumentFile
from ingestion.layer.layer_file import LayerFiles
from ingestion.read.facts import Omission
from ingestion.read.tables import TABLE as TABLE
from ingestion.read.tables import table_endings
from nacre.errors import IngestionError
from nacre.extension import extensions
from nacre.records.schema import LOCAL
from nacre.stores.versions import FORMAT

BLOCK = 1 << 16

# what an ingest asks of extensions for what it stores
TAKING_PART = ("rules", "derive_layer", "contexts", "fact_passages", "overview")


# real graphs in Turtle and N-Triples compress 9 to 27 times (measured with 41 of them)
DEFAULT_EXPANSION = 40


@dataclass(frozen=True)
class ReadOptions:
    """Options of reading. `strict`: refuse anything that can't be read. `base`: base IRI of all files; one such as
    `nacre-file:///GRAPH/` ("": without a graph) is followed by the name of each file. `contexts`: local copies of
    JSON-LD contexts, by address. `fetch`: download other contexts. `expansion`: how many times its size a file may
    expand to. `dates`: the order of dates that the cells of a column leave open, by its name in small letters."""

    strict: bool = False
    base: str = ""
    contexts: Mapping[str, Path] = field(default_factory=dict)
    fetch: bool = False
    expansion: int = DEFAULT_EXPANSION
    dates: Mapping[str, Literal["dmy", "mdy"]] = field(default_factory=dict)


class Source(NamedTuple):
    """A file, the format by its name ("" if unknown), its name in messages, its base IRI, and whether the user named it
    explicitly instead of a folder or a glob."""

    path: str
    format: str
    name: str
    base: str
    named: bool = True


@dataclass(frozen=True)
class Sources:
    """The files to read, in order, and the files in the same folders that are not RDF."""

    files: tuple[Source, ...]
    left: tuple[Omission, ...] = ()
    reading: ReadOptions = ReadOptions()


@contextmanager
def rdf_files(places: Sequence[str], reading: ReadOptions = ReadOptions()) -> Iterator[Sources]:
    """The RDF files of the given places. Standard input is copied to a file, since it is read twice."""
    with ExitStack() as stack:
        stdin_copy = None
        if "-" in places:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="nacre-stdin-"))
            stdin_copy = Path(folder) / "stdin"
            with stdin_copy.open("wb") as copy:
                shutil.copyfileobj(sys.stdin.buffer, copy)
        yield find_sources(places, reading, stdin_copy) if places else Sources((), (), reading)


def fingerprint(
    sources: Sources,
    documents: Sequence[DocumentFile],
    layers: LayerFiles = LayerFiles(),  # noqa: B008 (immutable)
) -> str:
    """A hash of the content of all files, in order, and of the code that ingests them. Files of formats without
    relative IRIs may be renamed without changing it."""
    reading = sources.reading
    options = f"{reading.strict} {reading.fetch} {reading.expansion}{'' if layers.packs else ' no packs'}"
    options += "" if layers.spellings else " spellings"
    total = blake2b(f"format {FORMAT} {_code_hash()} {options}\n".encode(), digest_size=16)
    parts = [("rdf", f.format + base_address(f), f.path) for f in sources.files]
    tables = (f.path for f in sources.files if f.format == TABLE)
    parts += [("metadata", "", name) for path in tables for name in metadata_names(path) if os.path.isfile(name)]
    parts += [("context", url, str(path)) for url, path in sorted(reading.contexts.items())]
    parts += [("text", document.name, str(document.path)) for document in documents]
    for kind, name, path in parts:
        content = blake2b(digest_size=16)
        try:
            # unbuffered: for small files the buffer would cost more than reading
            with open(path, "rb", buffering=0) as file:
                while block := file.read(BLOCK):
                    content.update(block)
        except OSError as error:
            raise IngestionError(f"{path}: can't be read ({error.strerror}).") from None
        total.update(f"{kind}\0{name}\0{content.hexdigest()}\n".encode())
    for layer in layers.files:
        total.update(f"layer\0{layer.name}\0{layer.text}\n".encode())
    for left in sources.left:
        total.update(f"left\0{left.file}\n".encode())
    return total.hexdigest()


def _code_hash() -> str:
    """A hash of the code and words of ingestion, with extensions that take part: others may make other stores."""
    content = blake2b(digest_size=16)
    words = Path(nacre.language.data.__file__).with_name("en") / "ingestion.yaml"
    folders, files = {Path(__file__).parent.parent}, {words}
    for each in extensions():
        taking_part = (each.services.get(name, "") for name in TAKING_PART)
        for place in (*each.tables.values(), *each.documents.values(), *taking_part):
            spec = find_spec(place.partition(":")[0]) if place else None
            if spec is not None and spec.origin is not None:
                # its package, or a module that stands alone
                path = Path(spec.origin)
                (folders.add(path.parent) if spec.parent else files.add(path))
    code = {path for folder in folders for path in folder.rglob("*") if path.suffix in (".py", ".yaml")}
    for path in sorted(files | code):
        content.update(path.read_bytes())
    return content.hexdigest()


log = logging.getLogger(__name__)

NOT_RDF = frozenset({".md", ".markdown", ".pdf", ".doc", ".docx", ".odt", ".csv", ".tsv", ".xlsx", ".sqlite", ".zip"})

STANDARD_INPUT = "standard input"

# begins the bases in graphs of earlier releases: the addresses of the files
FILE_ADDRESS = "file://"


def find_sources(places: Sequence[str], reading: ReadOptions, stdin_copy: Path | None = None) -> Sources:
    """The RDF files of the given places. Folders are searched recursively in alphabetical order, without hidden files.
    `stdin_copy` is standard input, for "-". Raises IngestionError for missing files and other formats."""
    if not places:
        raise IngestionError("No source given. Run: nacre ingest FILE.ttl --graph NAME")
    files: list[Source] = []
    left: list[Omission] = []
    roots: dict[str, str] = {}
    for place in places:
        if place == "-" and stdin_copy is not None:
            files.append(Source(str(stdin_copy), "", STANDARD_INPUT, STANDARD_INPUT))
            continue
        pattern = glob.has_magic(place) and not Path(place).exists()
        matches = sorted(glob.glob(place, recursive=True)) if pattern else [place]
        if not matches:
            raise IngestionError(f"{place}: no file matches. Check the pattern and run nacre ingest again.")
        for path in map(Path, matches):
            root = os.path.abspath(path_before_pattern(place) if pattern else path if path.is_dir() else path.parent)
            if path.is_dir():
                inside = list(_files_in(path))
                rdf = [file for file in inside if file.format]
                if not rdf and not pattern:
                    raise IngestionError(f"{path}: no RDF file in this folder (one of {rdf_endings()}).")
                files += rdf
                roots |= {file.base: root for file in rdf if file.base not in roots}
                left += [_not_rdf(Path(file.path)) for file in inside if not file.format]
            elif path.suffix.lower() in NOT_RDF and not format_from_name(path.name):
                if not pattern:
                    raise IngestionError(
                        f"{path}: {path.suffix} is no RDF. Give a .ttl or .nt file; documents go to --texts."
                    )
                left.append(_not_rdf(path))
            elif not path.is_file():
                raise IngestionError(f"{path}: no such file. Check the path and run nacre ingest again.")
            else:
                address = os.path.abspath(path)
                roots.setdefault(address, root)
                files.append(Source(str(path), format_from_name(path.name), str(path), address, named=not pattern))
    # without tables that lie beside RDF and were not named, and without the metadata of tables
    is_mixed = any(file.format != TABLE for file in files)
    tables = [file for file in files if file.format == TABLE and (file.named or not is_mixed)]
    metadata = {name for file in tables for name in metadata_names(file.base)}
    left += [_not_rdf(Path(file.path)) for file in files if file.format == TABLE and file not in tables]
    files = [file for file in files if file in tables or (file.format != TABLE and file.base not in metadata)]
    if not files:
        raise IngestionError(f"{', '.join(places)}: no RDF file among these (one of {rdf_endings()}).")
    names = names_within(roots)
    based = (file._replace(base=_base(reading.base or LOCAL, file.base, names)) for file in files)
    return Sources(tuple(based), tuple(left), reading)


def metadata_names(path: str) -> tuple[str, str]:
    """The files that may have metadata of a table (CSV on the Web).

    >>> metadata_names("a/b.csv")
    ('a/b.csv-metadata.json', 'a/b-metadata.json')
    """
    return f"{path}-metadata.json", f"{splitext(path)[0]}-metadata.json"


def names_within(roots: Mapping[str, str]) -> dict[str, str]:
    """Names of files, by their absolute paths: the paths below the `roots` that they were given by. Where two would be
    the same, the paths begin as many folders above those roots as tell them apart.

    >>> names_within({"/home/kim/one/a.ttl": "/home/kim/one", "/home/kim/two/b/c.ttl": "/home/kim/two"}).values()
    dict_values(['a.ttl', 'b/c.ttl'])
    >>> names_within({"/home/kim/one/a.ttl": "/home/kim/one", "/home/kim/two/a.ttl": "/home/kim/two"}).values()
    dict_values(['one/a.ttl', 'two/a.ttl'])
    """
    starts = {root: root for root in roots.values()}
    while True:
        names = {path: path[len(starts[root]) :].lstrip("/") for path, root in roots.items()}
        counts = Counter(names.values())
        if len(counts) == len(names):
            return names
        # for all files of a root, so that links between them keep their targets
        for root in {root for path, root in roots.items() if counts[names[path]] > 1}:
            starts[root] = os.path.dirname(starts[root])


def path_before_pattern(pattern: str) -> Path:
    """The folder before the first wildcard of a pattern."""
    return Path(*takewhile(lambda part: not glob.has_magic(part), Path(pattern).parts))


def base_address(source: Source) -> str:
    """The part of a file's address that its triples may depend on: "" for formats without relative IRIs."""
    return "" if source.format in LINES else source.base


def _files_in(folder: Path) -> Iterator[Source]:
    """The files of a folder, with their absolute paths in the place of their bases."""
    root = folder.resolve()
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        # computed once for each folder, which may have tens of thousands of files
        start, above = os.path.join(here, "").removeprefix("./"), os.path.join(os.path.abspath(here), "")
        for name in sorted(files):
            if not name.startswith("."):
                path = start + name
                if os.path.islink(path) and not Path(path).resolve().is_relative_to(root):
                    log.warning("%s is a link out of the folder and is not read", path)
                    continue
                yield Source(path, format_from_name(name), path, above + name, named=False)


def _base(base: str, path: str, names: Mapping[str, str]) -> str:
    if base == FILE_ADDRESS:
        return base + quote(os.fsencode("/dev/stdin" if path == STANDARD_INPUT else path))
    return base + quote(os.fsencode(names.get(path, "-"))) if base.startswith(LOCAL) and base.endswith("/") else base


def _not_rdf(path: Path) -> Omission:
    return Omission("not RDF", str(path), reason=f"{path.suffix or 'a file without extension'} is no RDF")


# pyoxigraph's name of the format, or rdflib's name after "rdflib:"
FORMATS = {
    ".nt": "N_TRIPLES",
    ".ntriples": "N_TRIPLES",
    ".ttl": "TURTLE",
    ".turtle": "TURTLE",
    ".nq": "N_QUADS",
    ".nquads": "N_QUADS",
    ".trig": "TRIG",
    ".rdf": "RDF_XML",
    ".owl": "RDF_XML",
    ".rdfs": "RDF_XML",
    ".xml": "RDF_XML",
    ".jsonld": "JSON_LD",
    ".json": "JSON_LD",
    ".n3": "N3",
    ".trix": "rdflib:trix",
    ".hext": "rdflib:hext",
}

LINES = frozenset({"N_TRIPLES", "N_QUADS"})

NAMED = frozenset({"N_QUADS", "TRIG", "JSON_LD"})

# statements of these formats end with a dot, so the parser can continue after an invalid one
STATEMENTS = LINES | {"TURTLE", "TRIG", "N3"}

HEAD = 1 << 20

_XML = re.compile(r"<\?xml|<!DOCTYPE|<!--|<(\w+:)?RDF\b|<TriX\b|<html\b", re.IGNORECASE)

_JSON = re.compile(r'[\[{]\s*["{}]|\[\s*\]')

_PREFIX = re.compile(r"(#[^\n]*\n|\s)*@?(prefix|base)\s+\S", re.IGNORECASE)

_KEYWORD = re.compile(rb'"@(context|id|graph|type|value|set|list|reverse|base|vocab|included)"\s*:')

_RDF_NAMESPACE = b"22-rdf-syntax-ns#"

_LINE = re.compile(r"^(<[^>]*>|_:\S+)\s+<[^>]*>\s+.*\.\s*$")

_QUAD = re.compile(r"^(<[^>]*>|_:\S+)\s+<[^>]*>\s+.*\s(<[^>]*>|_:\S+)\s*\.\s*$")


def rdf_endings() -> str:
    """The endings of RDF files, for messages."""
    return ", ".join(sorted(FORMATS)) + ", each also with .gz"


def format_from_name(name: str) -> str:
    """The format of a file by its name.

    >>> format_from_name("a.ttl"), format_from_name("a.nq.gz"), format_from_name("a.txt")
    ('TURTLE', 'N_QUADS', '')
    """
    dot = name.rfind(".")
    if dot > 0 and name[0] != "." and (form := FORMATS.get(name[dot:])):  # nearly all
        return form
    stem, suffix = splitext(name.lower())
    ending = splitext(stem)[1] if suffix in {".gz", ".gzip"} else suffix
    return FORMATS.get(ending) or (TABLE if ending in table_endings() else "")


def detect_rdf_format(named: str, head: bytes) -> str:
    """The format by the file's name, unless its first bytes contradict it; "" for XML and JSON without RDF.

    >>> detect_rdf_format(format_from_name("a.rdf"), b"@prefix : <http://e/> .")
    'TRIG'
    >>> detect_rdf_format(format_from_name("package.json"), b'{"name": "x"}')
    ''
    """
    if named in {"TURTLE", "TRIG", "N3"} and head.startswith(b"@prefix"):  # nearly all
        return named
    text = head[:4096].decode("utf-8", errors="replace").lstrip("\ufeff \t\r\n")
    if _XML.match(text):
        form = named if named in {"RDF_XML", "rdflib:trix"} else "RDF_XML"
        if form == "RDF_XML" and re.search(r"<TriX\b", text):
            return "rdflib:trix"
        return form if form != "RDF_XML" or _RDF_NAMESPACE in head else ""
    if _JSON.match(text):
        if named == "rdflib:hext" or (named not in {"", "JSON_LD", "RDF_XML"} and not _KEYWORD.search(head)):
            return named
        return "JSON_LD" if _KEYWORD.search(head) else ""
    if _PREFIX.match(text):
        return named if named in {"TURTLE", "TRIG", "N3"} else "TRIG"
    return named if named in STATEMENTS or named == "rdflib:hext" else sniff_line_format(text)


def sniff_line_format(text: str) -> str:
    """The format of triples or quads, by the form of the lines."""
    lines = [line for line in text.splitlines()[:-1] or text.splitlines() if line.strip() and line[0] != "#"]
    if lines and all(map(_LINE.match, lines)):
        return "N_QUADS" if any(map(_QUAD.match, lines)) else "N_TRIPLES"
    return "TRIG"


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
    """Raise IngestionError if a gzip file's last four bytes state more than `limit` bytes, before any is read.
    They may be wrong: `open_inflated` counts."""
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
    """Raise IngestionError if the entities of `head` make a document of `size` bytes longer than `limit`.
    `blocks` are the whole document, read only if the longest entity could reach the limit."""
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
