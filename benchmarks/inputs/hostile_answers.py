"""Answers of a hostile SPARQL endpoint: nothing -> their bodies, types and headers, and the error that each ends in."""

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

JSON_RESULTS = "application/sparql-results+json"
SELECT = "SELECT ?s { ?s ?p ?o }"
CONSTRUCT = "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }"
ENTITIES = (
    b"<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'>%s]><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>&i;"
    % ("".join(f"<!ENTITY {b} '{f'&{a};' * 10}'>" for a, b in zip("abcdefgh", "bcdefghi", strict=True)).encode())
)
# values of headers that should be numbers
NO_NUMBERS = ("\u00b2", "9" * 5000, "-1", "", "ten")


@dataclass(frozen=True)
class HostileAnswer:
    """An answer, and the `kind` of the ToolError it ends in, "" if it is read. Names of headers contain hyphens."""

    content: bytes
    media: str = JSON_RESULTS
    query: str = SELECT
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    kind: str = "unavailable"


def results(value: Any) -> bytes:
    """SPARQL results of one row with this value."""
    row = {"s": {"type": "literal", "value": value}}
    return json.dumps({"head": {"vars": ["s"]}, "results": {"bindings": [row]}}).encode()


def malformed_results() -> dict[str, bytes]:
    """What is no SPARQL result in JSON, by name."""
    return {
        "100,000 open brackets": b"[" * 100_000,
        "100,000 nested brackets": b"[" * 100_000 + b"]" * 100_000,
        "a number of 5,000 digits": (
            b'{"head": {"vars": ["s"]}, "results": {"bindings": [{"s": {"type": "literal", "value": %s}}]}}'
            % (b"9" * 5000)
        ),
        "a number as a value": results(5),
        "a list as a value": results(["x"]),
        "null as a value": results(None),
        "a text as a list of names": b'{"head": {"vars": "s"}, "results": []}',
        "a number as a head": b'{"head": 1}',
        "bytes that are no UTF-8": b"\xff\xfe",
        "null": b"null",
    }


@cache
def too_many_values() -> dict[str, HostileAnswer]:
    """Answers of 1 to 30 MB that would take gigabytes, or would not end, if they were parsed as they are; by name."""
    gzipped = {"Content-Encoding": "gzip"}

    def rows(variables: int, number: int) -> bytes:
        names = ", ".join(f'"v{i}"' for i in range(variables)).encode()
        return b'{"head": {"vars": [%s]}, "results": {"bindings": [%s{}]}}' % (names, b"{}," * number)

    found = {
        "9,000,000 rows of 2,000 columns": HostileAnswer(rows(2000, 9_000_000), kind="too_large"),
        "300,000 rows of 300 columns": HostileAnswer(rows(300, 300_000), kind="too_large"),
        "4,000,000 objects": HostileAnswer(b'{"a": [%s0]}' % (b'{"":0},' * 4_000_000), kind="too_large"),
        "10,000,000 lists": HostileAnswer(b'{"a": [%s0]}' % (b"[]," * 10_000_000)),
        "15,000,000 numbers": HostileAnswer(b'{"a": [%s0]}' % (b"0," * 15_000_000), kind="too_large"),
        "2,000,000 escaped quotes": HostileAnswer(b'{"a": "%s"}' % (b'\\"' * 2_000_000)),
        "2,000,000 nested nodes": HostileAnswer(
            b"<x:a> <x:b> " + b"[<x:b> " * 2_000_000, "text/turtle", CONSTRUCT, kind="too_large"
        ),
        "a literal of 20 MB": HostileAnswer(
            b'<x:a> <x:b> "%s".' % (b"x" * 20_000_000), "text/turtle", CONSTRUCT, kind="too_large"
        ),
        "15,000,000 comments": HostileAnswer(b"#\n" * 15_000_000, "text/turtle", CONSTRUCT, kind="too_large"),
    }
    return {
        name: replace(each, content=gzip.compress(each.content, 1), headers=gzipped) for name, each in found.items()
    }


def header_text(value: str) -> str:
    """A value as it is sent in a header: its bytes in UTF-8."""
    return value.encode().decode("latin-1")


@cache
def inflating(megabytes: int, layers: int = 1) -> bytes:
    """Zeros, compressed so many times."""
    content = bytes(megabytes * 1_000_000)
    for _ in range(layers):
        content = gzip.compress(content, 9)
    return content


def hostile_answers() -> dict[str, HostileAnswer]:
    """All answers that are sent whole, by name."""
    found = {f"results: {name}": HostileAnswer(content) for name, content in malformed_results().items()}
    for value in NO_NUMBERS:
        name = repr(value) if len(value) < 10 else f"{len(value):,} digits"
        sent = header_text(value)
        found[f"X-SPARQL-MaxRows: {name}"] = HostileAnswer(results("x"), headers={"X-SPARQL-MaxRows": sent}, kind="")
        found[f"Retry-After: {name}"] = HostileAnswer(b"later", "text/plain", status=503, headers={"Retry-After": sent})
    found |= too_many_values()
    found["RDF/XML with XML entities"] = HostileAnswer(ENTITIES, "application/rdf+xml", CONSTRUCT)
    found["300 MB in gzip"] = HostileAnswer(inflating(300), headers={"Content-Encoding": "gzip"}, kind="too_large")
    found["Content-Encoding: gzip, gzip, gzip"] = HostileAnswer(
        inflating(10, 3), headers={"Content-Encoding": "gzip, gzip, gzip"}
    )
    found["an error page for terminals"] = HostileAnswer(
        b"\x1b[2J\x1b]0;owned\x07 broken \x9b31m", "text/plain", status=500
    )
    return found
