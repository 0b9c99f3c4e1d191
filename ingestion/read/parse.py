"""Parse RDF files of any format, in order: sources -> Facts, with what was left out."""

import logging
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, count, islice
from pathlib import Path

import numpy as np
import pyoxigraph as ox

from ingestion.read.blank_nodes import blank_node_labels
from ingestion.read.capsules import Facts, TripleCollector, unique_counts
from ingestion.read.contexts import ContextLoader
from ingestion.read.formats import STATEMENTS, rdf_endings, sniff_line_format
from ingestion.read.json_limits import check_contexts, has_several_contexts
from ingestion.read.omissions import Omission, count_omissions
from ingestion.read.rdf_document import (
    FAILURES,
    RdfDocument,
    UnreadableFile,
    as_unreadable,
    convert_with_rdflib,
    document_format,
    find_line,
    open_document,
    quote_text,
    xml_error_line,
)
from ingestion.read.sources import LOCAL, ReadOptions, Source, Sources, base_address, find_sources
from ingestion.read.statements import (
    Numbers,
    ParsedStatements,
    ParseProblem,
    line_texts,
    parse_statements,
    repair_document,
)
from ingestion.read.terms import InvalidTerm, collect_terms
from nacre.errors import IngestionError

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


def read_sources(sources: Sources) -> Facts:
    """All triples of the sources that can be read; what can't be read is listed in `omitted`.

    Blank nodes of different files are distinct. Raises IngestionError with file, line and text: in strict mode for
    anything that can't be read, else for an explicitly named or only file that is truncated, empty or without triples.
    """
    collector = TripleCollector()
    terms: Numbers = defaultdict(count(1).__next__, {ox.DefaultGraph(): 0})
    loader = ContextLoader(sources.reading.contexts, sources.reading.fetch, sources.reading.expansion)
    found = list(sources.left)
    bases = Counter(base_address(source) for source in sources.files)
    relative: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for source in sources.files:
        # a file is parsed twice if others have its base
        subjects = relative if base_address(source) and bases[base_address(source)] > 1 else None
        try:
            found += _read_file(source, sources.reading, loader, collector, terms, subjects)
        except (UnreadableFile, *FAILURES) as failure:
            error = as_unreadable(failure)
            if sources.reading.strict or source.named or len(sources.files) == 1:
                raise IngestionError(error.message(source.name)) from None
            found.append(Omission(error.kind, source.name, error.line, error.text, error.reason))
    if sources.files and not collector:
        files = [each.words for each in found if each.kind != "statement"]
        raise IngestionError(f"No triples in any of {len(sources.files)} files: {'; '.join(files[:3])}.")
    del terms
    _warn_of_merged_subjects(relative, sources.reading.base)
    facts = collector.facts(count_omissions(found))
    return facts.with_texts(blank_node_labels(facts))


def _read_file(
    source: Source,
    reading: ReadOptions,
    loader: ContextLoader,
    collector: TripleCollector,
    terms: Numbers,
    relative: defaultdict[str, dict[str, None]] | None,
) -> Iterable[Omission]:
    """Collect the triples of one file, and the names of files by the subjects in them that are `relative` IRIs; returns
    its omissions, raises UnreadableFile if nothing is left."""
    document = open_document(source, reading.expansion)
    form = document_format(source, document)
    before = len(terms)
    tags: dict[str, str] = {}
    try:
        statements, tags = _parse_document(source, document, form, reading, loader, terms, source.base)
    finally:
        # every new term has a number and needs its text; `terms` keeps the order
        new = list(islice(reversed(terms), len(terms) - before))
        collected = collect_terms(new[::-1], collector, form not in STATEMENTS, tags)
        for term in collected.local:
            del terms[term]
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
        again, _ = _parse_document(source, document, form, reading, loader, others, _OTHER + source.base)
        changed = {n for term, n in others.items() if isinstance(term, ox.NamedNode) and term.value.startswith(_OTHER)}
        subjects = islice(zip(statements.numbers, again.numbers, strict=False), 0, None, statements.size)
        for number in {number for number, other in subjects if other in changed}:
            relative[collector.texts[number]][source.name] = None
    collector.add(numbers, statements.size)
    return found


def _warn_of_merged_subjects(relative: Mapping[str, Mapping[str, None]], base: str) -> None:
    """Warn if files with one base have subjects with the same relative IRI."""
    merged = {subject: files for subject, files in relative.items() if len(files) > 1}
    if merged:
        files = list(dict.fromkeys(chain.from_iterable(merged.values())))
        more = f" and {len(files) - MAX_NAMED_FILES} more" if len(files) > MAX_NAMED_FILES else ""
        log.warning(
            "with the base %s, relative IRIs of different files name the same things, such as <%s> (%d in all), in "
            "%s%s. With --base %sGRAPH/ each file has a base of its own",
            base, min(merged), len(merged), ", ".join(files[:MAX_NAMED_FILES]), more, LOCAL,
        )  # fmt: skip


def _parse_document(
    source: Source,
    document: RdfDocument,
    form: str,
    reading: ReadOptions,
    loader: ContextLoader,
    terms: Numbers,
    base: str,
) -> tuple[ParsedStatements, dict[str, str]]:
    """The statements of a document: as it is, else repaired, else in the format that its lines suggest; and the
    language tags that replace invalid ones."""
    if form.startswith("rdflib:"):
        return parse_statements(convert_with_rdflib(document, form, base), "N_QUADS", base, terms), {}
    tags: dict[str, str] = {}
    if form == "JSON_LD" and has_several_contexts(document.blocks()):
        check_contexts(document.bytes(), loader.max_copied)
    statements = parse_statements(document.content(form), form, base, terms)
    if statements.problems and (form == "JSON_LD" or not reading.strict):
        data, tags, problems = repair_document(document.bytes(), form, source.base, loader)
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
    found = [
        Omission("statement", source.name, problem.line, quote_text(texts.get(problem.line, "")), problem.reason)
        for problem in shown
    ]
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
