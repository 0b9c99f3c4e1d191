"""Write RDF terms and values in SPARQL, and read them from its results: IRI, text, number <-> SPARQL."""

import re
from urllib.parse import quote

from nacre.records.evidence import Cell
from nacre.stores.sparql.sparql_source import SparqlTerm

XSD = "http://www.w3.org/2001/XMLSchema#"
# blank nodes of an ingested graph are queried by IRIs with this prefix
BLANK_PREFIX = "urn:nacre:blank:"
_OUTSIDE = re.compile(r'[\x00-\x20<>"{}|^`\\]')
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
_INTEGERS = frozenset(
    XSD + name
    for name in ("integer", "int", "long", "short", "byte", "nonNegativeInteger", "positiveInteger", "unsignedInt")
)
_REALS = frozenset(XSD + name for name in ("decimal", "double", "float"))


def format_iri(text: str) -> str:
    """An IRI, or the IRI of a blank node, with invalid characters percent-encoded.

    >>> format_iri("http://example.org/a b"), format_iri("_:b1")
    ('<http://example.org/a%20b>', '<urn:nacre:blank:b1>')
    """
    named = BLANK_PREFIX + text[2:] if text.startswith("_:") else text
    return f"<{_OUTSIDE.sub(lambda found: quote(found[0], safe=''), named)}>"


def format_literal(value: str | int | float | bool) -> str:
    """A value as a literal; a truth value as 1 or 0, as in rows.

    >>> format_literal('say "x"'), format_literal(True), format_literal(3), format_literal(0.5)
    ('"say \\\\"x\\\\""', '1', '3', '5e-1')
    """
    if isinstance(value, str):
        return '"' + "".join(_ESCAPES.get(letter, letter) for letter in value if letter != "\x00") + '"'
    if isinstance(value, float):
        return _double(value)
    return str(int(value))


def _double(value: float) -> str:
    """The shortest form that reads back as the same number."""
    forms = (f"{value:.{digits}e}".partition("e") for digits in range(18))
    return next(f"{mantissa}e{int(power)}" for mantissa, _, power in forms if float(f"{mantissa}e{power}") == value)


def cell_value(term: SparqlTerm | None) -> Cell:
    """The value of a term in a row: numbers as numbers, truth values as 1 or 0, invalid numbers and all else as text.

    >>> cell_value(SparqlTerm("literal", "5", XSD + "integer")), cell_value(SparqlTerm("iri", BLANK_PREFIX + "b1"))
    (5, '_:b1')
    >>> cell_value(SparqlTerm("literal", "five", XSD + "integer"))
    'five'
    """
    if term is None:
        return None
    if term.kind == "iri":
        return "_:" + term.value.removeprefix(BLANK_PREFIX) if term.value.startswith(BLANK_PREFIX) else term.value
    try:
        if term.datatype in _INTEGERS:
            return int(term.value)
        if term.datatype in _REALS:
            number = float(term.value)
            return number if abs(number) < float("inf") else None
    except ValueError:
        return term.value
    if term.datatype == XSD + "boolean":
        return int(term.value in ("true", "1"))
    return term.value
