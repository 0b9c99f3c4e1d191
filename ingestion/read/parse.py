"""Read RDF files of any format, in order: sources -> Facts, and what was left out."""

import gzip
import io
import json
import os
import re
import warnings
import zlib
from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import count, islice
from pathlib import Path
from typing import IO, NamedTuple, cast

import numpy as np
import pyoxigraph as ox

from ingestion.read.blank_nodes import name_blank_nodes
from ingestion.read.capsules import Facts, TripleCollector, unique_counts
from ingestion.read.contexts import ContextLoader, context_loader
from ingestion.read.formats import HEAD, STATEMENTS, detect_rdf_format, rdf_endings, sniff_line_format
from ingestion.read.omissions import Omission, OmissionKind, count_omissions
from ingestion.read.sources import ReadOptions, Source, Sources, find_sources
from ingestion.read.statements import (
    Content,
    Numbers,
    ParsedStatements,
    ParseProblem,
    line_texts,
    parse_statements,
    repair_document,
)
from ingestion.read.terms import InvalidTerm, collect_terms
from nacre.errors import IngestionError

MOST_PROBLEMS = 1000  # of one file, with their places; the others are counted
MOST_SOUGHT = 50  # terms of one file whose line is looked for
FIRST = 1 << 16  # bytes that are read of a file at first
# what opening, unpacking, and a context that is not there raise
_FAILURES = (OSError, EOFError, zlib.error, IngestionError)


def parse_files(paths: Sequence[Path]) -> Facts:
    """All triples of files that hold nothing but RDF; raises IngestionError for the first thing that can't be read."""
    return read_sources(find_sources([str(path) for path in paths], ReadOptions(strict=True)))


def read_sources(sources: Sources) -> Facts:
    """All triples of the sources that can be read, and a list of what can't be.

    Blank nodes of two files are never the same. Raises IngestionError naming file, line and text: for whatever can't be
    read where the reading is strict, else for a file that was named itself, or is the only one, and is cut off, empty
    or without a single triple.
    """
    collector = TripleCollector()
    terms: Numbers = defaultdict(count(1).__next__, {ox.DefaultGraph(): 0})
    load = context_loader(sources.reading.contexts, sources.reading.fetch)
    found = list(sources.left)
    for source in sources.files:
        try:
            found += _read_file(source, sources.reading, load, collector, terms)
        except (_Unreadable, *_FAILURES) as failure:
            error = _unreadable(failure)
            if sources.reading.strict or source.named or len(sources.files) == 1:
                raise IngestionError(error.message(source.name)) from None
            found.append(Omission(error.kind, source.name, error.line, error.text, error.reason))
    if sources.files and not collector:
        files = [each.words for each in found if each.kind != "statement"]
        raise IngestionError(f"No triples in any of {len(sources.files)} files: {'; '.join(files[:3])}.")
    del terms
    facts = collector.facts(count_omissions(found))
    name_blank_nodes(facts)
    return facts


class _Unreadable(Exception):
    """Why a whole file, or in strict reading one statement, can't be read."""

    def __init__(self, reason: str, line: int = 0, text: str = "", kind: OmissionKind = "file") -> None:
        super().__init__(reason)
        self.reason, self.line, self.text, self.kind = reason, line, text, kind

    def message(self, name: str) -> str:
        return f"{Omission(self.kind, name, self.line, self.text, self.reason).words}."


class _Document(NamedTuple):
    """An opened file: its first megabyte, unpacked, which may be all of it."""

    path: str
    packed: bool
    head: bytes
    whole: bool

    def content(self) -> Content:
        """What the parser reads from: the fastest way for this file."""
        if self.whole or self.head.startswith(_MARKS):
            return self.bytes()
        return self.stream() if self.packed else self.path

    def stream(self) -> IO[bytes]:
        return cast(IO[bytes], gzip.open(self.path, "rb")) if self.packed else open(self.path, "rb")

    def bytes(self) -> bytes:
        """All of it, as UTF-8 where it begins with the mark of an encoding."""
        data = self.head
        if not self.whole:
            with self.stream() as file:
                data = file.read()
        for mark, encoding in ((b"\xef\xbb\xbf", ""), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
            if data.startswith(mark):
                return data.decode(encoding, errors="replace").encode() if encoding else data.removeprefix(mark)
        return data


_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


def _read_file(
    source: Source, reading: ReadOptions, load: ContextLoader, collector: TripleCollector, terms: Numbers
) -> Iterable[Omission]:
    """Take the triples of one file; returns what was left out of it, raises _Unreadable where that is all of it."""
    document = _opened(source)
    form = _form(source, document)
    before = len(terms)
    tags: dict[str, str] = {}
    try:
        statements, tags = _attempts(source, document, form, reading, load, terms)
    finally:
        # whatever was looked up has a number and needs its text; `terms` keeps their order
        new = list(islice(reversed(terms), len(terms) - before))
        taken = collect_terms(new[::-1], collector, form not in STATEMENTS, tags)
        for term in taken.local:
            del terms[term]
    problems = statements.problems
    found = _left_out(source, document, form, problems, reading.strict) if problems else []
    numbers = statements.numbers
    if taken.odd:
        numbers, odd = _without(statements, taken.odd, document)
        found += [each._replace(file=source.name) for each in odd]
        if found and reading.strict:
            raise _Unreadable(found[0].reason, found[0].line, found[0].text)
    if not numbers:
        if found:
            raise _Unreadable(found[0].reason, found[0].line, found[0].text)
        raise _Unreadable(f"no triples in it. Give RDF (one of {rdf_endings()})")
    collector.add(numbers, statements.size)
    return found


def _attempts(
    source: Source, document: _Document, form: str, reading: ReadOptions, load: ContextLoader, terms: Numbers
) -> tuple[ParsedStatements, dict[str, str]]:
    """The statements of a document: as it is, else with what keeps them from being read repaired, else in the format
    that its lines look like; and the language tags that others stand for."""
    if form.startswith("rdflib:"):
        return parse_statements(_by_rdflib(document, form, source.base), "N_QUADS", source.base, terms), {}
    tags: dict[str, str] = {}
    statements = parse_statements(document.content(), form, source.base, terms)
    if statements.problems and (form == "JSON_LD" or not reading.strict):
        data, tags, problems = repair_document(document.bytes(), form, source.base, load)
        statements = parse_statements(data, form, source.base, terms)
        statements.problems.extend(problems)
        statements.problems.sort(key=lambda problem: problem.line)
    if statements.problems and not statements.numbers and form in STATEMENTS and source.format:
        other = sniff_line_format(document.head[:4096].decode(errors="replace"))
        if other != form:
            statements = parse_statements(document.bytes(), other, source.base, terms)
    return statements, tags


def _left_out(
    source: Source, document: _Document, form: str, problems: list[ParseProblem], strict: bool
) -> list[Omission]:
    """The problems of a file, one a line; raises _Unreadable for those that leave nothing."""
    fatal = problems[-1] if "nexpected end" in problems[-1].reason else problems[0] if strict else None
    if form not in STATEMENTS:
        fatal = problems[0]
        if form == "RDF_XML" and not fatal.line:
            fatal = fatal._replace(line=_xml_line(document))
    if fatal is not None:
        problems = [fatal]
    by_line: dict[int, ParseProblem] = {}
    for problem in problems:
        by_line.setdefault(problem.line, problem)
    shown = list(by_line.values())[:MOST_PROBLEMS]
    with document.stream() as lines:
        texts = line_texts(lines, {problem.line for problem in shown if problem.line})
    if fatal is not None:
        ends = "the file ends in the middle of a statement: " if "nexpected end" in fatal.reason else ""
        raise _Unreadable(f"{ends}{fatal.reason}", fatal.line, _quoted(texts.get(fatal.line, "")))
    found = [
        Omission("statement", source.name, problem.line, _quoted(texts.get(problem.line, "")), problem.reason)
        for problem in shown
    ]
    if len(by_line) > len(shown):
        rest = len(by_line) - len(shown)
        found.append(Omission("statement", source.name, 0, "", "further statements can't be read", rest))
    return found


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False) if text else ""


def _without(
    statements: ParsedStatements, odd: dict[int, InvalidTerm], document: _Document
) -> "tuple[array[int], list[Omission]]":
    """The statements without those that hold a term that can't be kept, and these, by the term."""
    rows = np.frombuffer(statements.numbers, dtype=np.int32).reshape(-1, statements.size)
    numbers = np.fromiter(odd, dtype=np.int32)
    holds = np.isin(rows, numbers)
    dropped = holds.any(axis=1)
    first = rows[dropped, holds[dropped].argmax(axis=1)]
    found: list[Omission] = []
    for number, often in zip(*(each.tolist() for each in unique_counts(first)), strict=True):
        text, reason = odd[number]
        if reason:
            line, shown = _line_with(document, text) if len(found) < MOST_SOUGHT else (0, text)
            found.append(Omission("statement", "", line, _quoted(shown), reason, often))
    return array("I", rows[~dropped].tobytes()), found


def _line_with(document: _Document, text: str) -> tuple[int, str]:
    """The first line that holds a text, strings and comments left aside for a mark of the syntax."""
    sought = text.encode(errors="replace")
    with document.stream() as lines:
        for number, line in enumerate(lines, 1):
            if sought in (_STRINGS.sub(b"", line) if text == "<<" else line):
                return number, line.decode(errors="replace").strip()[:80]
    return 0, text[:80]


def _opened(source: Source) -> _Document:
    file = os.open(source.path, os.O_RDONLY)
    try:
        # small files would take thrice as long with a buffer of a megabyte
        head = os.read(file, FIRST)
        while FIRST <= len(head) < HEAD and (more := os.read(file, HEAD - len(head))):
            head += more
    finally:
        os.close(file)
    packed = head.startswith(b"\x1f\x8b")
    if packed:
        with gzip.open(source.path, "rb") as unpacked:
            head = unpacked.read(HEAD)
    if not head or head.isspace():
        raise _Unreadable(f"the file is empty. Give a file with RDF (one of {rdf_endings()})")
    return _Document(source.path, packed, head, len(head) < HEAD)


def _form(source: Source, document: _Document) -> str:
    form = detect_rdf_format(source.format, document.head)
    if not form:
        first = document.head[:80].decode(errors="replace").strip().splitlines()[0]
        raise _Unreadable("no RDF in it", 0, _quoted(first), "not RDF")
    return form


def _unreadable(failure: Exception) -> _Unreadable:
    """Why a file can't be read as a whole, whoever raised it."""
    if isinstance(failure, _Unreadable):
        return failure
    if isinstance(failure, (gzip.BadGzipFile, EOFError, zlib.error)):
        return _Unreadable(f"the gzip data is broken or ends early ({failure})")
    if isinstance(failure, OSError):
        return _Unreadable(f"can't be read ({failure.strerror or failure})")
    return _Unreadable(str(failure).rstrip("."))


def _by_rdflib(document: _Document, form: str, base: str) -> bytes:
    """A document of a format that pyoxigraph lacks, as N-Quads."""
    import rdflib

    dataset = rdflib.Dataset()
    try:
        with warnings.catch_warnings():
            # rdflib warns about its own use of its older names
            warnings.simplefilter("ignore")
            dataset.parse(io.BytesIO(document.bytes()), format=form.removeprefix("rdflib:"), publicID=base)
            return dataset.serialize(format="nquads", encoding="utf-8")
    except (OSError, KeyboardInterrupt):
        raise
    except Exception as error:  # rdflib's parsers raise whatever their XML or JSON reader raises
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise _Unreadable(f"not readable as RDF: {reason.rstrip('.')}") from None


def _xml_line(document: _Document) -> int:
    """Where XML is not well-formed, which the RDF parser does not say; 0 where it is."""
    from xml.parsers import expat

    try:
        with document.stream() as file:
            expat.ParserCreate().ParseFile(file)
    except expat.ExpatError as error:
        return error.lineno
    return 0


_STRINGS = re.compile(rb'"(\\.|[^"\\])*"|<[^<>\s]*>|#.*')
