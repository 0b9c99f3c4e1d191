"""Read RDF files of any format, in order: paths -> Facts."""

import gzip
import io
import json
import logging
import re
import shutil
import sys
import tempfile
import warnings
from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain, count, islice, repeat
from operator import attrgetter
from pathlib import Path
from typing import IO, Any, cast

from ingestion.read.capsules import BLANK, IRI, STRING, Collector, Facts
from records.errors import IngestionError

log = logging.getLogger(__name__)

# pyoxigraph's name of the format, or rdflib's behind "rdflib:".
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
    ".html": "rdflib:rdfa",
}
XSD_STRING = "http://www.w3.org/2001/XMLSchema#string"
LANGUAGE_TYPES = frozenset(
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#" + name for name in ("langString", "dirLangString")
)
BASE = "http://example.org/"

Numbers = defaultdict[Any, int]


def parse(sources: Sequence[Path]) -> Facts:
    """All triples of the files; a folder stands for the RDF files in it, `-` for standard input.

    Blank nodes of two files are never the same. Raises IngestionError naming file, line and the offending text.
    """
    import pyoxigraph as ox

    collector = Collector()
    # a new term gets the next number when it is looked up; the default graph is 0
    terms: Numbers = defaultdict(count(1).__next__, {ox.DefaultGraph(): 0})
    files = list(find_files(sources))
    for number, path in enumerate(files):
        before = len(collector.subject)
        _parse_file(path, collector, terms)
        if len(collector.subject) == before:
            raise IngestionError(f"{path}: no triples in it. Give a file with RDF (one of {_known()}).")
        if number + 1 < len(files):
            _forget_blanks(terms)
    del terms
    return collector.facts()


def find_files(sources: Sequence[Path]) -> Iterable[Path]:
    """The RDF files that the sources name, folders searched in alphabetical order."""
    if not sources:
        raise IngestionError("No source given. Run: nacre ingest FILE.ttl --graph NAME")
    for source in sources:
        if str(source) != "-" and source.is_dir():
            found = sorted(p for p in source.rglob("*") if p.is_file() and _format_of(p.name))
            if not found:
                raise IngestionError(f"{source}: no RDF file in this folder (one of {_known()}).")
            yield from found
        else:
            yield source


def _parse_file(path: Path, collector: Collector, terms: Numbers) -> None:
    if str(path) == "-":
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "stdin"
            with copy.open("wb") as out:
                shutil.copyfileobj(sys.stdin.buffer, out)
            _read(copy, "standard input", collector, terms)
        return
    _read(path, str(path), collector, terms)


def _read(path: Path, name: str, collector: Collector, terms: Numbers) -> None:
    try:
        with path.open("rb") as raw:
            start = raw.read(2)
        packed = start == b"\x1f\x8b"
        with cast(IO[bytes], gzip.open(path, "rb")) if packed else path.open("rb") as stream:
            if not start:
                raise IngestionError(f"{name}: the file is empty. Give a file with RDF (one of {_known()}).")
            form = _format_of(path.name) or _sniff(stream, name)
            if form.startswith("rdflib:"):
                _read_with_rdflib(stream, form.removeprefix("rdflib:"), collector, terms)
            else:
                # from a path it reads without asking Python for each piece
                _read_with_oxigraph(stream if packed else path, form, collector, terms)
    except FileNotFoundError:
        raise IngestionError(f"{name}: no such file. Check the path and run nacre ingest again.") from None
    except (gzip.BadGzipFile, EOFError) as error:
        raise IngestionError(f"{name}: the gzip data is broken or ends early ({error}).") from None
    except OSError as error:
        raise IngestionError(f"{name}: can't be read ({error.strerror or error}).") from None
    except SyntaxError as error:
        raise IngestionError(_syntax(path, name, error)) from None
    except _TripleTerm as error:
        line, text = _find(path, "<<")
        raise IngestionError(
            f"{name}, line {line}: RDF 1.2 triple terms are not supported: {text or error}. Remove that statement."
        ) from None
    except UnicodeDecodeError as error:
        raise IngestionError(f"{name}: not UTF-8 text ({error.reason} at byte {error.start}).") from None


class _TripleTerm(Exception):
    pass


def _read_with_oxigraph(source: IO[bytes] | Path, form: str, collector: Collector, terms: Numbers) -> None:
    import pyoxigraph as ox

    given = {"path": str(source)} if isinstance(source, Path) else {"input": source}
    quads = ox.parse(**given, format=getattr(ox.RdfFormat, form), base_iri=None if form in _ABSOLUTE else BASE)
    named = form in {"N_QUADS", "TRIG", "JSON_LD"}
    parts = ("subject", "predicate", "object", "graph_name")[: 4 if named else 3]
    before = len(terms)
    # Terms are looked up as they are, hashing them is cheaper than making their text; no step of it runs in Python.
    numbers = array("i", map(terms.__getitem__, chain.from_iterable(map(attrgetter(*parts), quads))))
    _take_new(islice(terms, before, None), collector)
    if named:
        # the triples of files before this one are in the default graph
        collector.graph.extend(repeat(0, len(collector.subject) - len(collector.graph)))
        collector.graph.extend(numbers[3::4])
    size = len(parts)
    collector.subject.extend(numbers[::size])
    collector.predicate.extend(numbers[1::size])
    collector.object.extend(numbers[2::size])


_ABSOLUTE = frozenset({"N_TRIPLES", "N_QUADS"})


def _take_new(terms: Iterable[Any], collector: Collector) -> None:
    """Texts, kinds, datatypes and languages of the terms that a file brought, in the order of their numbers."""
    import pyoxigraph as ox

    text, sort = collector.texts.append, collector.sort
    for term in terms:
        kind = type(term)
        if kind is ox.NamedNode:
            text(term.value)
            sort(IRI)
        elif kind is ox.Literal:
            text(term.value)
            language = term.language
            if language:
                direction = str(term).rpartition("--")[2] if _directed(term) else ""
                sort(("literal", "", f"{language}--{direction}" if direction else language))
            else:
                datatype = term.datatype.value
                sort(STRING if datatype == XSD_STRING else ("literal", datatype, ""))
        elif kind is ox.BlankNode:
            text(str(term))
            sort(BLANK)
        else:
            raise _TripleTerm(str(term))


def _directed(term: Any) -> bool:
    return bool(term.datatype.value.endswith("dirLangString"))


def _read_with_rdflib(stream: IO[bytes], form: str, collector: Collector, terms: Numbers) -> None:
    import rdflib

    dataset = rdflib.Dataset()
    try:
        with warnings.catch_warnings():
            # rdflib warns about its own use of its older names
            warnings.simplefilter("ignore")
            dataset.parse(io.BytesIO(stream.read()), format=form, publicID=BASE)
            text = dataset.serialize(format="nquads", encoding="utf-8")
    except rdflib.plugin.PluginException:
        raise SyntaxError(f"no reader for the format {form}") from None
    except (OSError, KeyboardInterrupt):
        raise
    except Exception as error:  # rdflib's parsers raise whatever their XML or JSON reader raises
        raise SyntaxError(str(error).splitlines()[0] if str(error) else type(error).__name__) from None
    _read_with_oxigraph(io.BytesIO(text), "N_QUADS", collector, terms)


def _forget_blanks(terms: Numbers) -> None:
    import pyoxigraph as ox

    for term in [term for term in terms if isinstance(term, ox.BlankNode)]:
        del terms[term]


def _format_of(name: str) -> str:
    suffixes = [s.lower() for s in Path(name).suffixes]
    if suffixes and suffixes[-1] in {".gz", ".gzip"}:
        suffixes.pop()
    return FORMATS.get(suffixes[-1], "") if suffixes else ""


def _sniff(stream: IO[bytes], name: str) -> str:
    head = stream.read(4096).decode("utf-8", errors="replace").lstrip("\ufeff \t\r\n")
    stream.seek(0)
    if not head:
        raise IngestionError(f"{name}: nothing in it. Give RDF (one of {_known()}).")
    if head.startswith(("{", "[{", "[\n")) and '"' in head:
        return "JSON_LD"
    if head.startswith(("<?xml", "<rdf:RDF", "<!DOCTYPE rdf")):
        return "RDF_XML"
    quad = re.compile(r"^(<[^>]*>|_:\S+)\s+<[^>]*>\s+.*\s(<[^>]*>|_:\S+)\s*\.\s*$")
    lines = [line for line in head.splitlines()[:-1] or head.splitlines() if line.strip() and line[0] != "#"]
    if lines and all(re.match(r"^(<[^>]*>|_:\S+)\s+<[^>]*>\s+.*\.\s*$", line) for line in lines):
        return "N_QUADS" if any(quad.match(line) for line in lines) else "N_TRIPLES"
    return "TRIG"


def _syntax(path: Path, name: str, error: SyntaxError) -> str:
    reason = re.sub(r"^(Parser error at [^:]*: |syntax error: )", "", str(error.msg or error))
    line = error.lineno
    if not line:
        return f"{name}: not readable as RDF: {reason}."
    try:
        with _open_text(path) as lines:
            text = next((t for n, t in enumerate(lines, 1) if n == line), "").strip()
    except (OSError, EOFError):
        text = ""
    shown = f": {json.dumps(text[:80], ensure_ascii=False)}" if text else " (the file ends there)"
    return f"{name}, line {line}{shown}: {reason.rstrip('.')}."


def _find(path: Path, mark: str) -> tuple[int, str]:
    with _open_text(path) as lines:
        for number, line in enumerate(lines, 1):
            if mark in re.sub(r'"(\\.|[^"\\])*"|<[^<>\s]*>|#.*', "", line):
                return number, line.strip()[:80]
    return 1, ""


def _open_text(path: Path) -> IO[str]:
    with path.open("rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
    if packed:
        return gzip.open(path, "rt", encoding="utf-8", errors="replace")
    return path.open(encoding="utf-8", errors="replace")


def _known() -> str:
    return ", ".join(sorted(FORMATS)) + ", each also with .gz"
