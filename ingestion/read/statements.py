"""Parse the statements of one RDF document and skip invalid ones: bytes or a path -> terms -> CollectedTerms."""

import logging
import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import chain, count, islice, repeat
from operator import attrgetter
from typing import IO, Any, NamedTuple

import numpy as np
import pyoxigraph as ox
from pyoxigraph import BlankNode, Literal, NamedNode

from ingestion.read.facts import BLANK, IRI, STRING, TripleCollector
from ingestion.read.sources import LINES, NAMED, STATEMENTS
from ingestion.vocabulary import TRIPLE_TERM
from nacre.errors import IngestionError
from nacre.language.tokens import iri_end

log = logging.getLogger(__name__)

# a new term gets the next number when it is looked up
Numbers = defaultdict[Any, int]

Content = bytes | str | IO[bytes]  # a str is a path

# replaces bytes that are not UTF-8 while a document is parsed; a noncharacter, so no text contains it (Unicode, 23.7)
REPLACEMENT_MARK = "\ufdd0"

BATCH = 1 << 16  # number of terms that are collected at once

BLOCK = 1 << 20  # bytes of lines that are split at once

_LINE_END = b" .\n"

MAX_LEADING_PROBLEMS = 1000  # problems before the first statement, after which parsing stops

_FORMAT = {form: getattr(ox.RdfFormat, form) for form in (*STATEMENTS, "RDF_XML", "JSON_LD")}

_TRIPLE = attrgetter("subject", "predicate", "object")

_QUAD = attrgetter("subject", "predicate", "object", "graph_name")

_TAG = re.compile(r"""(?<=["']@)(?![A-Za-z]{2,3}(?:-[A-Za-z]{2})?(?![\w-]))[A-Za-z][\w-]*""", re.ASCII)

# a string without an end goes to the end of the line, where its marks are not tried again
_COMPLETE_TERMS = re.compile(r'"(?:(?s:\\.)|[^"\\])*+(?:"|(?P<open>\\?\Z))|<[^<>]*>|#.*')

_NO_UTF8 = re.compile("[\udc80-\udcff]+")

_ENCODING = re.compile(rb"""\A(\s*+<\?xml(?:[^>\s]++|\s++(?!encoding=))*+)\s++encoding=["']([\w.-]++)["']""")

# codecs of Python that no XML uses; decoding names of domains takes quadratic time
_NO_CHARACTER_SETS = frozenset({b"idna", b"punycode", b"unicode-escape", b"raw-unicode-escape"})


class ParseProblem(NamedTuple):
    """The parser's message about a part that it skipped, after `row` statements. `line` may be 0."""

    line: int
    reason: str
    row: int


class ParsedStatements(NamedTuple):
    """`numbers` are the terms of all statements in order, `size` for each: three, or four with the graph."""

    numbers: "array[int]"
    size: int
    problems: list[ParseProblem]


def parse_statements(content: Content, form: str, base: str, terms: Numbers) -> ParsedStatements:
    """All valid statements. RDF/XML and JSON-LD end at the first problem, and their IRIs are not checked."""
    if form == "N_TRIPLES" and isinstance(content, str):
        with suppress(ValueError, SyntaxError, MemoryError):
            return ParsedStatements(_parse_lines(content, terms), 3, [])
    quads = ox.parse(
        None if isinstance(content, str) else content,
        format=_FORMAT[form],
        path=content if isinstance(content, str) else None,
        base_iri=None if form in LINES else base,
        lenient=form not in STATEMENTS,
    )
    size = 4 if form in NAMED else 3
    parts = _QUAD if size == 4 else _TRIPLE
    numbers: array[int] = array("I")
    problems: list[ParseProblem] = []
    while True:
        try:
            # terms are looked up as objects, since hashing is cheaper than their text; no step runs in Python
            found = map(terms.__getitem__, chain.from_iterable(map(parts, quads)))
            while _add_numbers(found, numbers) == BATCH:
                pass
            break
        except SyntaxError as error:
            reason = re.sub(r"^(Parser error [^:]*: |syntax error: )", "", str(error.msg or error)).rstrip(".")
            problems.append(ParseProblem(error.lineno or 0, reason, len(numbers) // size))
            if form not in STATEMENTS or (not numbers and len(problems) >= MAX_LEADING_PROBLEMS):
                break
        except MemoryError as error:
            if "buffer" not in str(error):
                raise
            # the parser can't continue behind a text that fills its buffer
            raise IngestionError("a text in it is longer than 16 MB, the limit of the parser. Shorten it") from None
    if form in LINES:
        # of lines that continue without a dot the parser reports the dot and keeps the triple
        half = {problem.row for problem in problems if problem.reason.endswith("must be followed by a dot")}
        if half:
            numbers = array("I", (n for i, n in enumerate(numbers) if i // size not in half))
    statements = ParsedStatements(numbers, size, problems)
    return _drop_stray(statements) if form == "TRIG" and problems else statements


def _parse_lines(path: str, terms: Numbers) -> "array[int]":
    """The statements of N-Triples, each distinct term of which is parsed once. If a line is not three terms with single
    spaces between them, it raises an error and numbers no terms."""
    places: defaultdict[bytes, int] = defaultdict(count().__next__)
    numbers: array[int] = array("I")
    rest = b""
    with open(path, "rb") as file:
        while block := file.read(BLOCK):
            *lines, rest = (rest + block).split(_LINE_END)
            found = list(map(places.__getitem__, chain.from_iterable(map(bytes.split, lines, repeat(b" "), repeat(2)))))
            if not found or len(found) != 3 * len(lines):
                raise ValueError(path)
            numbers.extend(array("I", found))
    first = np.array([key[:1] for key in places])[np.frombuffer(numbers, np.uint32)]
    parsed: list[Any] = []
    keys = iter(places)
    while some := list(islice(keys, BATCH)):
        # each is parsed as an object, which may be any term
        quads = ox.parse(b"".join([b"<a:> <a:> " + key + _LINE_END for key in some]), format=_FORMAT["N_TRIPLES"])
        parsed += map(attrgetter("object"), quads)
    if rest or len(parsed) != len(places) or not (np.isin(first[::3], (b"<", b"_")) & (first[1::3] == b"<")).all():
        raise ValueError(path)
    places.clear()
    known = np.fromiter(map(terms.__getitem__, parsed), np.uint32, len(parsed))
    return array("I", known[np.frombuffer(numbers, np.uint32)].tobytes())


def _add_numbers(found: Iterator[int], numbers: "array[int]") -> int:
    """Append the next numbers and return how many; numbers before a problem are kept."""
    # iterator to list to array of the same type is several times faster than iterator to array
    batch: list[int] = []
    try:
        batch.extend(islice(found, BATCH))
    finally:
        numbers.extend(array("I", batch))
    return len(batch)


# gives what reads the contexts of JSON-LD (`ContextLoader` of the extension `json_ld`) when it is first needed
Contexts = Callable[[], Any]


class RepairedDocument(NamedTuple):
    """A repaired document; `tags` maps new language tags to the invalid ones, lines with `problems` are empty."""

    data: bytes
    tags: dict[str, str]
    problems: list[ParseProblem]


def repair_document(data: bytes, form: str, base: str, contexts: Contexts) -> RepairedDocument:
    """Replace bytes that are not UTF-8 by `REPLACEMENT_MARK`, invalid language tags by valid ones, and remote contexts
    by their content. Raises IngestionError for a missing context."""
    tags: dict[str, str] = {}
    if form == "RDF_XML" and (declared := _ENCODING.match(data)):
        try:
            if declared[2].lower().replace(b"_", b"-") in _NO_CHARACTER_SETS:
                raise LookupError(declared[2])
            return RepairedDocument(
                _ENCODING.sub(rb"\1", data, count=1).decode(declared[2].decode()).encode(), tags, []
            )
        except (LookupError, UnicodeDecodeError):
            data = _ENCODING.sub(rb"\1", data, count=1)
    text = _NO_UTF8.sub(REPLACEMENT_MARK, data.decode(errors="surrogateescape"))
    if form in STATEMENTS:
        regular: dict[str, str] = {}
        text = _TAG.sub(lambda found: regular.setdefault(found[0], f"x-n{len(regular)}"), text)
        tags = {other: tag for tag, other in regular.items()}
    problems: list[ParseProblem] = []
    if form in LINES:
        text, problems = _drop_open_lines(text)
    data = text.encode()
    if form == "JSON_LD":
        try:
            data = contexts().inline(data, base)
        except ValueError as error:
            log.debug("no JSON, the parser will say where: %s", error)
    return RepairedDocument(data, tags, problems)


def line_texts(content: Iterable[bytes], wanted: set[int]) -> dict[int, str]:
    """The text of the wanted lines, shortened; the first line is 1."""
    found = {}
    last = max(wanted, default=0)
    for number, line in enumerate(content, 1):
        if number in wanted:
            found[number] = line.decode(errors="replace").strip()[:80]
        if number >= last:
            break
    return found


def _drop_open_lines(text: str) -> tuple[str, list[ParseProblem]]:
    """Lines of N-Triples or N-Quads; those with an open string or IRI are emptied, or the parser would read on."""
    lines = text.split("\n")
    problems = []
    for index, line in enumerate(lines):
        rest = _COMPLETE_TERMS.sub(lambda term: "" if term["open"] is None else '"', line)
        if ('"' in rest or "<" in rest) and "<<(" not in line:
            lines[index] = ""
            last = index + 1 == len(lines)
            problems.append(
                ParseProblem(index + 1, "Unexpected end of file" if last else "a text or IRI has no end", 0)
            )
    return "\n".join(lines), problems


def _drop_stray(found: ParsedStatements) -> ParsedStatements:
    """Drop statements put into the default graph by a problem in a named graph; an unexpected "}" shows that."""
    numbers, size, problems = found
    strays = [problem for problem in problems if problem.reason.startswith("} is not a valid")]
    dropped: set[int] = set()
    for stray in strays:
        first = stray.row
        while first and numbers[first * size - 1] == 0 and first - 1 not in dropped:
            first -= 1
        first = max(first, min(p.row for p in problems if p.row >= first))
        dropped.update(range(first, stray.row))
    if not dropped:
        return found
    kept = array("I", (n for i, n in enumerate(numbers) if i // size not in dropped))
    line = next(p.line for p in problems if p.row >= min(dropped))
    lost = ParseProblem(line, f"a graph with a problem: {len(dropped)} of its statements are left out as well", 0)
    return ParsedStatements(kept, size, [*problems, lost])


XSD_STRING = "http://www.w3.org/2001/XMLSchema#string"

_IRI = re.compile(r"""[a-zA-Z][a-zA-Z0-9+.-]*:[^\x00-\x20<>"{}|^`\\]*""")

_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")

_TAG_FOR = re.compile(r"""(?<=["']@)x-n\d+""")


class InvalidTerm(NamedTuple):
    """An invalid term: a text to find it by, and the reason ("" if dropping it loses nothing)."""

    text: str
    reason: str


class CollectedTerms(NamedTuple):
    """`local` terms mean something else in another file (blank, replaced, invalid); `invalid` terms are by number."""

    local: list[Any]
    invalid: dict[int, InvalidTerm]


def collect_terms(
    terms: Iterable[Any], collector: TripleCollector, loose: bool, tags: dict[str, str]
) -> CollectedTerms:
    """Add texts, kinds, datatypes and languages of terms to the collector, in the order of their numbers.
    `loose`: the parser did not check IRIs. `tags` maps replacements to the original language tags."""
    text, sort, number_of = collector.texts.append, collector.sort_of.append, collector.number
    iri, blank, string = map(number_of, (IRI, BLANK, STRING))
    collected = CollectedTerms([], {})
    for number, term in enumerate(terms, len(collector.texts)):
        kind = type(term)
        if kind is NamedNode:
            value = term.value
            text(value)
            sort(iri)
            if loose and not _IRI.fullmatch(value):
                # JSON-LD: a key that the context does not define has no meaning
                reason = "not a valid IRI" if REPLACEMENT_MARK in value or _SCHEME.match(value) else ""
                collected.invalid[number] = InvalidTerm(value, reason)
                collected.local.append(term)
        elif kind is Literal:
            value = term.value
            if REPLACEMENT_MARK in value:
                collected.invalid[number] = InvalidTerm(max(value.split(REPLACEMENT_MARK), key=len), "not UTF-8 text")
                collected.local.append(term)
            elif tags:
                value = _TAG_FOR.sub(lambda found: tags.get(found[0], found[0]), value)
                if value != term.value or term.language in tags:
                    collected.local.append(term)
            text(value)
            language = term.language
            if language:
                language = tags.get(language, language)
                is_directed = term.datatype.value.endswith("dirLangString")
                direction = str(term).rpartition("--")[2] if is_directed else ""
                sort(number_of(("literal", "", f"{language}--{direction}" if direction else language)))
            else:
                datatype = term.datatype.value
                if datatype == TRIPLE_TERM:
                    collected.invalid[number] = InvalidTerm(value, f"the datatype <{TRIPLE_TERM}> is reserved")
                sort(string if datatype == XSD_STRING else number_of(("literal", datatype, "")))
        elif kind is BlankNode:
            text(str(term))
            sort(blank)
            collected.local.append(term)
        else:
            text(f"<<( {term} )>>")
            sort(number_of(("literal", TRIPLE_TERM, "")))
            if "_:" in str(term):
                # the labels of blank nodes change; its line is found by its predicate
                collected.local.append(term)
                reason = "blank nodes in RDF 1.2 triple terms are not supported"
                collected.invalid[number] = InvalidTerm(f"<<{iri_end(term.predicate.value)}", reason)
    return collected
