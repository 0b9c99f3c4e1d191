"""Read the statements of one RDF document, past those that can't be read: bytes or a path -> terms, and problems."""

import logging
import re
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from operator import attrgetter
from typing import IO, Any, NamedTuple

import pyoxigraph as ox

from ingestion.read.contexts import ContextLoader, inline_contexts
from ingestion.read.formats import LINES, NAMED, STATEMENTS

log = logging.getLogger(__name__)

# a new term gets the next number when it is looked up
Numbers = defaultdict[Any, int]
Content = bytes | str | IO[bytes]  # a text is a path

# Stands for bytes that are no UTF-8, while a document is read that has some; no text may hold it (Unicode, 23.7).
REPLACEMENT_MARK = "\ufdd0"
AT_ONCE = 1 << 16  # numbers of terms
HOPELESS = 1000  # problems before the first statement
_FORMAT = {form: getattr(ox.RdfFormat, form) for form in (*STATEMENTS, "RDF_XML", "JSON_LD")}
_TRIPLE = attrgetter("subject", "predicate", "object")
_QUAD = attrgetter("subject", "predicate", "object", "graph_name")
_TAG = re.compile(r"""(?<=["']@)(?![A-Za-z]{2,3}(?:-[A-Za-z]{2})?(?![\w-]))[A-Za-z][\w-]*""", re.ASCII)
_CLOSED = re.compile(r'"(\\.|[^"\\])*"|<[^<>]*>|#.*')
_NO_UTF8 = re.compile("[\udc80-\udcff]+")
_ENCODING = re.compile(rb"""\A(\s*<\?xml[^>]*?)\s+encoding=["']([\w.-]+)["']""")


class ParseProblem(NamedTuple):
    """What the parser said of a stretch that it passed over; `row` statements were read before it. `line` may be 0."""

    line: int
    reason: str
    row: int


class ParsedStatements(NamedTuple):
    """`numbers` are the terms of one statement after the other, `size` of each: three, or four with its graph."""

    numbers: "array[int]"
    size: int
    problems: list[ParseProblem]


def parse_statements(content: Content, form: str, base: str, terms: Numbers) -> ParsedStatements:
    """All statements that can be read. RDF/XML and JSON-LD end at the first problem; IRIs there are not checked."""
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
            # Terms are looked up as they are, hashing them is cheaper than making their text; no step runs in Python.
            found = map(terms.__getitem__, chain.from_iterable(map(parts, quads)))
            while _take(found, numbers) == AT_ONCE:
                pass
            break
        except SyntaxError as error:
            reason = re.sub(r"^(Parser error [^:]*: |syntax error: )", "", str(error.msg or error)).rstrip(".")
            problems.append(ParseProblem(error.lineno or 0, reason, len(numbers) // size))
            if form not in STATEMENTS or (not numbers and len(problems) >= HOPELESS):
                break
    if form in LINES:
        numbers = _without_half(numbers, size, problems)
    statements = ParsedStatements(numbers, size, problems)
    return _without_stray(statements) if form == "TRIG" and problems else statements


def _take(found: Iterator[int], numbers: "array[int]") -> int:
    """Add the next numbers, and tell how many there were; those before a problem stay."""
    # a list takes them from an iterator, and an array of this type from a list, several times as fast as an array alone
    taken: list[int] = []
    try:
        taken.extend(islice(found, AT_ONCE))
    finally:
        numbers.extend(array("I", taken))
    return len(taken)


class RepairedDocument(NamedTuple):
    """A document without what keeps its statements from being read: the language tags in `tags` stand for others, and
    lines with `problems` are empty."""

    data: bytes
    tags: dict[str, str]
    problems: list[ParseProblem]


def repair_document(data: bytes, form: str, base: str, load: ContextLoader) -> RepairedDocument:
    """Bytes that are no UTF-8 become `REPLACEMENT_MARK`, odd language tags regular ones, remote contexts what they say.

    Raises IngestionError for a context that is not there.
    """
    tags: dict[str, str] = {}
    if form == "RDF_XML" and (declared := _ENCODING.match(data)):
        try:
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
        text, problems = _closed(text)
    data = text.encode()
    if form == "JSON_LD":
        try:
            data = inline_contexts(data, base, load)
        except ValueError as error:
            log.debug("no JSON, the parser will say where: %s", error)
    return RepairedDocument(data, tags, problems)


def line_texts(content: Iterable[bytes], wanted: set[int]) -> dict[int, str]:
    """What stands in some lines, the first of which is 1; shortened."""
    found = {}
    last = max(wanted, default=0)
    for number, line in enumerate(content, 1):
        if number in wanted:
            found[number] = line.decode(errors="replace").strip()[:80]
        if number >= last:
            break
    return found


def _closed(text: str) -> tuple[str, list[ParseProblem]]:
    """The lines of N-Triples or N-Quads, those empty that begin a text or an IRI and don't end it: the parser would
    look for its end in the lines that follow."""
    lines = text.split("\n")
    problems = []
    for index, line in enumerate(lines):
        if ("<" in line or '"' in line) and re.search(r'["<]', _CLOSED.sub("", line)) and "<<(" not in line:
            lines[index] = ""
            last = index + 1 == len(lines)
            problems.append(
                ParseProblem(index + 1, "Unexpected end of file" if last else "a text or IRI has no end", 0)
            )
    return "\n".join(lines), problems


def _without_half(numbers: "array[int]", size: int, problems: list[ParseProblem]) -> "array[int]":
    """Without what the parser made of lines that go on after a triple: it misses the dot and takes the triple."""
    half = {problem.row for problem in problems if problem.reason.endswith("must be followed by a dot")}
    return array("I", (n for i, n in enumerate(numbers) if i // size not in half)) if half else numbers


def _without_stray(found: ParsedStatements) -> ParsedStatements:
    """Without statements that the parser took for the default graph's, since a problem let it lose its place in a named
    one; it shows when the closing brace comes as a surprise."""
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
