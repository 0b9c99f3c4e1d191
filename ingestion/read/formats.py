"""Detect the format of an RDF file: name and first bytes -> format, "" if it is not RDF."""

import re
from os.path import splitext

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
    return FORMATS.get(splitext(stem)[1] if suffix in {".gz", ".gzip"} else suffix, "")


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
