"""Parse RDF files of any format, in order: sources -> Facts, with what was left out.
One file is opened as its format and content, or UnreadableFile says why not."""

import gzip
import io
import json
import logging
import os
import re
import warnings
import zlib
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, count, islice
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import numpy as np
import pyoxigraph as ox

from ingestion.read.facts import (
    Facts,
    Omission,
    OmissionKind,
    TripleCollector,
    blank_node_labels,
    count_omissions,
    unique_counts,
)
from ingestion.read.sources import (
    DEFAULT_EXPANSION,
    HEAD,
    STATEMENTS,
    EntityGuard,
    ReadOptions,
    Source,
    Sources,
    base_address,
    check_entities,
    check_nesting,
    check_stated_size,
    detect_rdf_format,
    expansion_limit,
    find_sources,
    open_inflated,
    rdf_endings,
    sniff_line_format,
)
from ingestion.read.statements import (
    Content,
    Contexts,
    InvalidTerm,
    Numbers,
    ParsedStatements,
    ParseProblem,
    collect_terms,
    line_texts,
    parse_statements,
    repair_document,
)
from ingestion.read.tables import TABLE, Progress, TermNumbers
from nacre.errors import IngestionError
from nacre.extension import service
from nacre.records.schema import LOCAL

log = logging.getLogger(__name__)

# problems of one file that are listed with their places; the others are counted
MAX_PROBLEMS = 1000

# invalid terms of one file whose lines are searched
MAX_SEARCHED_TERMS = 50

# files that a warning names
MAX_NAMED_FILES = 10

# begins another base, which shows what a base changes
_OTHER = "other-"


def parse_files(paths: Sequence[Path]) -> Facts:
    """All triples of RDF files; raises IngestionError for the first statement that can't be read."""
    return read_sources(find_sources([str(path) for path in paths], ReadOptions(strict=True)))


def read_sources(sources: Sources, sheets: Path | None = None, progress: Progress = lambda *_: None) -> Facts:
    """All triples; `omitted` lists what is unreadable, `sheets` gets cells and reports of tables. Raises IngestionError
    with file, line, text: for anything if strict, else for a named or only file that is cut off or without triples."""
    collector = TripleCollector()
    terms: Numbers = defaultdict(count(1).__next__, {ox.DefaultGraph(): 0})
    reading = sources.reading

    @cache
    def contexts() -> Any:
        return service("json_ld", "contexts", "JSON-LD")(reading.contexts, reading.fetch, reading.expansion)

    found = list(sources.left)
    tables = [source for source in sources.files if source.format == TABLE]
    documents = [source for source in sources.files if source.format != TABLE]
    bases = Counter(base_address(source) for source in documents)
    relative: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for source in documents:
        # a file is parsed twice if others have its base
        subjects = relative if base_address(source) and bases[base_address(source)] > 1 else None
        is_last = source is documents[-1]
        try:
            found += _read_file(source, reading, contexts, collector, terms, subjects, is_last)
        except (UnreadableFile, *FAILURES) as failure:
            error = as_unreadable(failure)
            if sources.reading.strict or source.named or len(sources.files) == 1:
                raise IngestionError(error.message(source.name)) from None
            found.append(Omission(error.kind, source.name, error.line, error.text, error.reason))
    del terms
    if tables:
        found += service("spreadsheets", "read", "A table")(sources, TermNumbers(collector), sheets, progress)
    if sources.files and not collector:
        files = [each.words for each in found if each.kind != "statement"]
        raise IngestionError(f"No triples in any of {len(sources.files)} files: {'; '.join(files[:3])}.")
    _warn_of_merged_subjects(relative, sources.reading.base)
    facts = collector.facts(count_omissions(found))
    return facts.with_texts(blank_node_labels(facts))


def _read_file(
    source: Source,
    reading: ReadOptions,
    contexts: Contexts,
    collector: TripleCollector,
    terms: Numbers,
    relative: defaultdict[str, dict[str, None]] | None,
    is_last: bool,
) -> Iterable[Omission]:
    """Collect a file and its names by `relative` subjects; returns omissions, raises UnreadableFile if it is empty."""
    document = open_document(source, reading.expansion)
    form = detect_rdf_format(source.format, document.head)
    if not form:
        first = document.head[:80].decode(errors="replace").strip().splitlines()[0]
        raise UnreadableFile("no RDF in it", 0, quote_text(first), "not RDF")
    before = len(terms)
    tags: dict[str, str] = {}
    try:
        statements, tags = _parse_document(source, document, form, reading, contexts, terms, source.base)
    finally:
        # every new term has a number and needs its text, which takes its place; `terms` keeps the order
        new = list(islice(reversed(terms), len(terms) - before))
        if is_last:
            terms.clear()
        collected = collect_terms((new.pop() for _ in range(len(new))), collector, form not in STATEMENTS, tags)
        for term in collected.local:
            terms.pop(term, None)
    problems = statements.problems
    found = _list_problems(source, document, form, problems, reading.strict) if problems else []
    numbers = statements.numbers
    if collected.invalid:
        numbers, invalid = _drop_invalid(statements, collected.invalid, document)
        found += [each._replace(file=source.name) for each in invalid]
        if found and reading.strict:
            raise UnreadableFile(found[0].reason, found[0].line, found[0].text)
    if not numbers:
        if found:
            raise UnreadableFile(found[0].reason, found[0].line, found[0].text)
        raise UnreadableFile(f"no triples in it. Give RDF (one of {rdf_endings()})")
    if relative is not None and not form.startswith("rdflib:"):
        others: Numbers = defaultdict(count(1).__next__, {ox.DefaultGraph(): 0})
        again, _ = _parse_document(source, document, form, reading, contexts, others, _OTHER + source.base)
        changed = {n for term, n in others.items() if isinstance(term, ox.NamedNode) and term.value.startswith(_OTHER)}
        subjects = islice(zip(statements.numbers, again.numbers, strict=False), 0, None, statements.size)
        for number in {number for number, other in subjects if other in changed}:
            relative[collector.texts[number]][source.name] = None
    collector.add(numbers, statements.size)
    return found


def _warn_of_merged_subjects(relative: Mapping[str, Mapping[str, None]], base: str) -> None:
    merged = {subject: files for subject, files in relative.items() if len(files) > 1}
    if merged:
        files = list(dict.fromkeys(chain.from_iterable(merged.values())))
        more = f" and {len(files) - MAX_NAMED_FILES} more" if len(files) > MAX_NAMED_FILES else ""
        log.warning(
            "with the base %s, relative IRIs of different files name the same things, such as <%s> (%d in all), in "
            "%s%s. With --base %sGRAPH/ each file has a base of its own",
            base, min(merged), len(merged), ", ".join(files[:MAX_NAMED_FILES]), more, LOCAL,
        )  # fmt: skip


class RdfDocument(NamedTuple):
    """An open file with its first megabyte, decompressed (all of a small one); `limit`: bytes that it may expand to."""

    path: str
    compressed: bool
    head: bytes
    is_complete: bool
    limit: int

    def content(self, form: str) -> Content:
        """The input of the parser: a path, a stream or bytes, whichever is fastest.
        Raises IngestionError if it is XML whose entities expand too far or that is nested too deeply."""
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


def _parse_document(
    source: Source,
    document: RdfDocument,
    form: str,
    reading: ReadOptions,
    contexts: Contexts,
    terms: Numbers,
    base: str,
) -> tuple[ParsedStatements, dict[str, str]]:
    """The statements as they are, else repaired, else in their lines' format; the tags that replace invalid ones."""
    if form.startswith("rdflib:"):
        return parse_statements(convert_with_rdflib(document, form, base), "N_QUADS", base, terms), {}
    tags: dict[str, str] = {}
    if form == "JSON_LD":
        contexts().check(document.blocks(), document.bytes)
    statements = parse_statements(document.content(form), form, base, terms)
    if statements.problems and (form == "JSON_LD" or not reading.strict):
        data, tags, problems = repair_document(document.bytes(), form, source.base, contexts)
        data = document.checked_xml(data) if form == "RDF_XML" else data
        statements = parse_statements(data, form, base, terms)
        statements.problems.extend(problems)
        statements.problems.sort(key=lambda problem: problem.line)
    if statements.problems and not statements.numbers and form in STATEMENTS and source.format:
        other = sniff_line_format(document.head[:4096].decode(errors="replace"))
        if other != form:
            statements = parse_statements(document.bytes(), other, base, terms)
    return statements, tags


def _list_problems(
    source: Source, document: RdfDocument, form: str, problems: list[ParseProblem], strict: bool
) -> list[Omission]:
    """The problems of a file, one for each line; raises UnreadableFile for a fatal problem."""
    fatal = problems[-1] if "nexpected end" in problems[-1].reason else problems[0] if strict else None
    if form not in STATEMENTS:
        fatal = problems[0]
        if form == "RDF_XML" and not fatal.line:
            fatal = fatal._replace(line=xml_error_line(document))
    if fatal is not None:
        problems = [fatal]
    by_line: dict[int, ParseProblem] = {}
    for problem in problems:
        by_line.setdefault(problem.line, problem)
    shown = list(by_line.values())[:MAX_PROBLEMS]
    with document.stream() as lines:
        texts = line_texts(lines, {problem.line for problem in shown if problem.line})
    if fatal is not None:
        ends = "the file ends in the middle of a statement: " if "nexpected end" in fatal.reason else ""
        raise UnreadableFile(f"{ends}{fatal.reason}", fatal.line, quote_text(texts.get(fatal.line, "")))
    found = [Omission("statement", source.name, p.line, quote_text(texts.get(p.line, "")), p.reason) for p in shown]
    if len(by_line) > len(shown):
        rest = len(by_line) - len(shown)
        found.append(Omission("statement", source.name, 0, "", "further statements can't be read", rest))
    return found


def _drop_invalid(
    statements: ParsedStatements, invalid: dict[int, InvalidTerm], document: RdfDocument
) -> "tuple[array[int], list[Omission]]":
    """The statements without invalid terms, and the dropped ones as omissions, by the term."""
    rows = np.frombuffer(statements.numbers, dtype=np.int32).reshape(-1, statements.size)
    numbers = np.fromiter(invalid, dtype=np.int32)
    holds = np.isin(rows, numbers)
    dropped = holds.any(axis=1)
    first = rows[dropped, holds[dropped].argmax(axis=1)]
    found: list[Omission] = []
    for number, count_of_term in zip(*(each.tolist() for each in unique_counts(first)), strict=True):
        text, reason = invalid[number]
        if reason:
            line, shown = find_line(document, text) if len(found) < MAX_SEARCHED_TERMS else (0, text)
            found.append(Omission("statement", "", line, quote_text(shown), reason, count_of_term))
    return array("I", rows[~dropped].tobytes()), found


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
    """The first line that contains a text; after "<<", the first with a triple term that contains it. There, strings
    and comments are ignored."""
    is_triple, sought = text.startswith("<<"), text.removeprefix("<<").encode(errors="replace")
    marks = (b"<<", b"{|", b"~") if is_triple else (b"",)
    with document.stream() as lines:
        for number, line in enumerate(lines, 1):
            read = line
            if is_triple:
                # a string that goes on in the next line without the terms in it
                read = _STRINGS.sub(lambda term: b"" if term["open"] is None else _OTHER_TERMS.sub(b"", term[0]), line)
            if sought in line and any(mark in read for mark in marks):
                return number, line.decode(errors="replace").strip()[:80]
    return 0, text[:80]


def quote_text(text: str) -> str:
    """A text in quotes, "" for none."""
    return json.dumps(text, ensure_ascii=False) if text else ""
