"""Add the parser's terms to a collector as texts and sorts, and find invalid ones: terms -> CollectedTerms."""

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
    """An invalid term: a text to find it by, and the reason ("" if dropping it loses nothing)."""

    text: str
    reason: str


class CollectedTerms(NamedTuple):
    """The `local` terms, which have another meaning in another file (blank nodes, replaced and invalid terms), and the
    `invalid` terms by their numbers."""

    local: list[Any]
    invalid: dict[int, InvalidTerm]


def collect_terms(
    terms: Sequence[Any], collector: TripleCollector, loose: bool, tags: dict[str, str]
) -> CollectedTerms:
    """Add texts, kinds, datatypes and languages of terms to the collector, in the order of their numbers.

    `loose`: the parser did not check IRIs. `tags` maps replacements to the original language tags.
    """
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
                collected.invalid[number] = _invalid_iri(value)
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
                direction = str(term).rpartition("--")[2] if _has_direction(term) else ""
                sort(number_of(("literal", "", f"{language}--{direction}" if direction else language)))
            else:
                datatype = term.datatype.value
                sort(string if datatype == XSD_STRING else number_of(("literal", datatype, "")))
        elif kind is BlankNode:
            text(str(term))
            sort(blank)
            collected.local.append(term)
        else:
            text("")
            sort(blank)
            collected.local.append(term)
            collected.invalid[number] = InvalidTerm("<<", "RDF 1.2 triple terms are not supported")
    return collected


def _invalid_iri(iri: str) -> InvalidTerm:
    # JSON-LD: a key that the context does not define has no meaning
    return InvalidTerm(iri, "not a valid IRI" if REPLACEMENT_MARK in iri or _SCHEME.match(iri) else "")


def _has_direction(term: Any) -> bool:
    return bool(term.datatype.value.endswith("dirLangString"))
