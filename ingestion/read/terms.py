"""Turn the parser's terms into texts and sorts, and tell those that can't be kept: terms -> CollectedTerms."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from pyoxigraph import BlankNode, Literal, NamedNode

from ingestion.read.capsules import BLANK, IRI, STRING, TripleCollector
from ingestion.read.statements import REPLACEMENT_MARK

XSD_STRING = "http://www.w3.org/2001/XMLSchema#string"
_IRI = re.compile(r"""[a-zA-Z][a-zA-Z0-9+.-]*:[^\x00-\x20<>"{}|^`\\]*""")
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")
_TAG_FOR = re.compile(r"""(?<=["']@)x-n\d+""")


class InvalidTerm(NamedTuple):
    """A term that can't be kept: a text to find it by, and the reason, "" where leaving it out is no loss."""

    text: str
    reason: str


class CollectedTerms(NamedTuple):
    """Terms that mean something else in another file: blank nodes, what stands for something, what can't be kept; and
    the latter by their numbers."""

    local: list[Any]
    odd: dict[int, InvalidTerm]


def collect_terms(
    terms: Sequence[Any], collector: TripleCollector, loose: bool, tags: dict[str, str]
) -> CollectedTerms:
    """Hand texts, kinds, datatypes and languages of terms to the collector, in the order of their numbers.

    `loose`: the parser did not check IRIs. `tags` are the language tags that others stand for.
    """
    text, sort, number_of = collector.texts.append, collector.sort_of.append, collector.number
    iri, blank, string = map(number_of, (IRI, BLANK, STRING))
    taken = CollectedTerms([], {})
    for number, term in enumerate(terms, len(collector.texts)):
        kind = type(term)
        if kind is NamedNode:
            value = term.value
            text(value)
            sort(iri)
            if loose and not _IRI.fullmatch(value):
                taken.odd[number] = _odd_iri(value)
                taken.local.append(term)
        elif kind is Literal:
            value = term.value
            if REPLACEMENT_MARK in value:
                taken.odd[number] = InvalidTerm(max(value.split(REPLACEMENT_MARK), key=len), "not UTF-8 text")
                taken.local.append(term)
            elif tags:
                value = _TAG_FOR.sub(lambda found: tags.get(found[0], found[0]), value)
                if value != term.value or term.language in tags:
                    taken.local.append(term)
            text(value)
            language = term.language
            if language:
                language = tags.get(language, language)
                direction = str(term).rpartition("--")[2] if _directed(term) else ""
                sort(number_of(("literal", "", f"{language}--{direction}" if direction else language)))
            else:
                datatype = term.datatype.value
                sort(string if datatype == XSD_STRING else number_of(("literal", datatype, "")))
        elif kind is BlankNode:
            text(str(term))
            sort(blank)
            taken.local.append(term)
        else:
            text("")
            sort(blank)
            taken.local.append(term)
            taken.odd[number] = InvalidTerm("<<", "RDF 1.2 triple terms are not supported")
    return taken


def _odd_iri(iri: str) -> InvalidTerm:
    # JSON-LD: a key that the context does not define means nothing
    return InvalidTerm(iri, "not a valid IRI" if REPLACEMENT_MARK in iri or _SCHEME.match(iri) else "")


def _directed(term: Any) -> bool:
    return bool(term.datatype.value.endswith("dirLangString"))
