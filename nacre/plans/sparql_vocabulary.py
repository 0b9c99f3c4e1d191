"""What a SPARQL source states and how it is asked: Schema + properties of the source -> Vocabulary.

A derived pattern of a path is `... ?this PATH ?value`; others are any group pattern. Inner variables get names of
their own.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote

from nacre.errors import ToolError
from nacre.plans.property_path import Alternative, Link, PropertyPath, Repeated, Reverse, parse_path, write_path
from nacre.plans.property_path import Sequence as PathSequence
from nacre.plans.sql_joins import OutputColumn, variable_relation
from nacre.records.evidence import Cell
from nacre.records.plan import Variable
from nacre.records.schema import Column, Schema
from nacre.stores.sparql_source import SparqlTerm, Token, keywords, query_tokens, write_tokens


@dataclass(frozen=True)
class Vocabulary:
    """How a source states what a plan asks for."""

    schema: Schema
    readings: frozenset[str] = frozenset()  # predicates whose literals the source has as numbers of its own
    closed: bool = False  # the source states all superclasses
    dialect: str = ""  # "virtuoso", or "" for standard SPARQL
    factors: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # by predicate and unit, to the usual unit

    def members(self, class_: str) -> tuple[str, ...]:
        """The classes whose members belong to a class: itself and, unless superclasses are stated, its subclasses."""
        found = [class_]
        if not self.closed and not class_pattern(self.schema, class_):
            for each in found:
                found += [c.iri for c in self.schema.classes if each in c.parents and c.iri not in found]
        # the members of derived subclasses are members of stored ones
        return tuple(each for each in found if each == class_ or not class_pattern(self.schema, each))

    def column(self, predicate: str) -> Column:
        """The parts of a predicate's values: from the tables, or without tables from the predicate's datatype."""
        for relation in self.schema.relations:
            for column in relation.columns:
                if column.predicate == predicate:
                    return column
        known = self.schema.predicate_of[predicate]
        low, high = ("low", "high") if known.shape != "single" else ("", "")
        return Column(predicate, "value", low, high, "text" if known.unit or low else "")

    def may_lack(self, variable: Variable, predicate: str) -> bool:
        """Whether things without a value are shown: a predicate with one value a thing does not filter them out."""
        if not self.schema.relations:
            return self.schema.predicate_of[predicate].functional
        columns = variable_relation(variable, self.schema).columns
        return any(c.predicate == predicate and (c.value or c.text) for c in columns)


_THIS, _VALUE = "?this ", " ?value"

_SCOPED = frozenset({"BIND", "OPTIONAL", "MINUS"})  # what is evaluated in a group of its own

_TERMS = frozenset({"variable", "iri", "string", "number", "pname"})


class TracedPattern(NamedTuple):
    """A pattern as lines of a group, the triples of it that a row reads, and their variables."""

    text: str
    triples: tuple[str, ...] = ()
    iris: tuple[str, ...] = ()  # the properties of a pattern whose triples are not known one by one

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of the triples."""
        return tuple(t.text for each in self.triples for t in _tokens(each) if t.kind == "variable")


def derived_patterns(schema: Schema, predicate: str) -> tuple[str, ...]:
    """The patterns of a property that no store holds; () for a stored one. An ingested graph stores all."""
    known = schema.predicate_of.get(predicate)
    return known.patterns if known is not None and not schema.relations else ()


def class_pattern(schema: Schema, class_: str) -> str:
    """The pattern of a class whose members no store types; "" for a stored one."""
    known = schema.class_of.get(class_)
    return known.pattern if known is not None and not schema.relations else ""


def write_statement(schema: Schema, predicate: str, subject: str, value: str, prefix: str) -> str:
    """A triple pattern, or the patterns of a derived property. `prefix` begins the names of inner variables."""
    patterns = derived_patterns(schema, predicate)
    if not patterns:
        return f"{subject} {format_iri(predicate)} {value} ."
    return _union([write_pattern(each, subject, value, f"{prefix}{i or ''}_") for i, each in enumerate(patterns)])


def write_membership(schema: Schema, class_: str, subject: str, prefix: str) -> str:
    """`subject a class`, or the pattern of a derived class."""
    pattern = class_pattern(schema, class_)
    return write_pattern(pattern, subject, "", f"{prefix}_") if pattern else f"{subject} a {format_iri(class_)} ."


def write_pattern(pattern: str, subject: str, value: str, prefix: str) -> str:
    """A pattern of `subject` and `value` ("" for a class) as lines of a group."""
    return _scoped(rename_variables(pattern, subject, value, prefix), value)


def trace_statement(schema: Schema, predicate: str, subject: str, value: str, prefix: str) -> TracedPattern:
    """A derived property written so that the triples it reads have variables."""
    parts = [
        _trace(each, subject, value, f"{prefix}{i or ''}_")
        for i, each in enumerate(derived_patterns(schema, predicate))
    ]
    return TracedPattern(
        _union([part.text for part in parts]),
        tuple(triple for part in parts for triple in part.triples),
        tuple(iri for part in parts for iri in part.iris),
    )


def trace_membership(schema: Schema, class_: str, subject: str, prefix: str) -> TracedPattern:
    """A derived class written so that the triples it reads have variables."""
    return _trace(class_pattern(schema, class_), subject, "", f"{prefix}_")


def path_of(pattern: str) -> tuple[str, str] | None:
    """What a pattern says of ?this, and its path from ?this to ?value; None for other patterns.

    >>> path_of("?this a <http://e/C> . ?this <http://e/a>/<http://e/b> ?value")
    ('?this a <http://e/C> . ', '<http://e/a>/<http://e/b>')
    """
    before, _, path = pattern.rpartition(_THIS)
    if not path.endswith(_VALUE):
        return None
    try:
        parse_path(path.removesuffix(_VALUE))
    except ToolError:
        return None
    return before, path.removesuffix(_VALUE)


def plain_statements(pattern: str) -> list[tuple[str, str, str]]:
    """The triple patterns that a pattern begins with, up to the first that is no plain one.

    >>> plain_statements("?this <urn:a> ?m . ?m <urn:b> 5 ; <urn:c> ?value . FILTER(?value > 1)")
    [('?this', '<urn:a>', '?m'), ('?m', '<urn:b>', '5'), ('?m', '<urn:c>', '?value')]
    """
    found: list[tuple[str, str, str]] = []
    terms: list[str] = []
    tokens = [*_tokens(pattern), Token("mark", ".")]
    for index, token in enumerate(tokens):
        if token.kind in _TERMS and len(terms) < 3:
            terms.append(token.text)
        elif token.kind == "mark" and token.text in ".;," and len(terms) == 3:
            if any(t.text in ("^^", "/", "^", "|") for t in tokens[max(0, index - 3) : index]):
                break
            found.append((terms[0], terms[1], terms[2]))
            terms = terms[: {".": 0, ";": 1, ",": 2}[token.text]]
        elif token.kind == "word" and len(terms) == 3:
            # a statement without a full stop before a keyword
            found.append((terms[0], terms[1], terms[2]))
            break
        elif token.kind == "mark" and token.text in ".;" and not terms:
            continue
        else:
            break
    return found


def pattern_iris(pattern: str) -> tuple[str, ...]:
    """The IRIs of a pattern, each once, without brackets."""
    return tuple(dict.fromkeys(token.text[1:-1] for token in _tokens(pattern) if token.kind == "iri"))


def rename_variables(pattern: str, subject: str, value: str, prefix: str) -> str:
    """A pattern with `subject` for ?this and `value` for ?value; the names of other variables begin with `prefix`."""
    names = {"?this": subject, **({"?value": value} if value else {})}
    return write_tokens([_renamed(token, names, prefix) for token in _tokens(pattern)])


def _renamed(token: Token, names: dict[str, str], prefix: str) -> Token:
    if token.kind == "variable":
        return token._replace(text=names.get(token.text, f"{prefix}{token.text[1:]}"))
    if token.kind == "blank":
        # a label may be in one group of a query only
        return token._replace(kind="variable", text=f"{prefix}b{''.join(c for c in token.text[2:] if c.isalnum())}")
    return token


@lru_cache(maxsize=512)
def _tokens(pattern: str) -> tuple[Token, ...]:
    return tuple(query_tokens(pattern))


def _scoped(text: str, value: str) -> str:
    """A pattern in a group of its own where it needs one: with BIND a value may stay without one."""
    words = keywords(_tokens(text))
    if not words & _SCOPED:
        return text if text.rstrip().endswith((".", "}", ")")) else f"{text} ."
    bound = f" FILTER(BOUND({value}))" if value and "BIND" in words else ""
    return f"{{ {text}{bound} }}"


def _union(patterns: Sequence[str]) -> str:
    return patterns[0] if len(patterns) == 1 else " UNION ".join(f"{{ {pattern} }}" for pattern in patterns)


def _trace(pattern: str, subject: str, value: str, prefix: str) -> TracedPattern:
    found = path_of(pattern) if value else None
    if found is not None:
        text, triples = _steps(parse_path(found[1]), subject, value, f"{prefix}s")
        before = rename_variables(found[0], subject, value, prefix)
        return TracedPattern(_scoped(f"{before} {text}", ""), tuple(triples))
    text = rename_variables(pattern, subject, value, prefix)
    plain = tuple(f"{' '.join(each)} ." for each in plain_statements(text))
    return TracedPattern(_scoped(text, value), plain, () if plain else pattern_iris(pattern))


def _steps(path: PropertyPath, start: str, end: str, name: str) -> tuple[str, list[str]]:
    """A path as triple patterns with variables between them; repeated steps stay a path, without triples."""
    if isinstance(path, Link):
        triple = f"{start} {format_iri(path.iri)} {end} ."
        return triple, [triple]
    if isinstance(path, Reverse):
        return _steps(path.path, end, start, name)
    if isinstance(path, Alternative):
        # letters, since the steps of a sequence have numbers
        parts = [_steps(part, start, end, f"{name}{chr(97 + i % 26)}") for i, part in enumerate(path.parts)]
        return _union([text for text, _ in parts]), [triple for _, triples in parts for triple in triples]
    if isinstance(path, Repeated):
        return f"{start} {write_path(path)} {end} .", []
    return _sequence_steps(path, start, end, name)


def _sequence_steps(path: PathSequence, start: str, end: str, name: str) -> tuple[str, list[str]]:
    places = [start, *(f"{name}{i}" for i in range(1, len(path.parts))), end]
    texts: list[str] = []
    triples: list[str] = []
    for i, part in enumerate(path.parts):
        text, own = _steps(part, places[i], places[i + 1], f"{name}{i}")
        texts.append(f"{{ {text} }}" if " UNION " in text else text)
        triples += own
    return " ".join(texts), triples


def shown_patterns(patterns: Sequence[str]) -> Iterator[str]:
    """Patterns as people and models read them: a path alone, others in braces."""
    for each in patterns:
        found = path_of(each)
        yield found[1] if found is not None else f"{{ {each} }}"


XSD = "http://www.w3.org/2001/XMLSchema#"

BLANK_PREFIX = "urn:nacre:blank:"  # blank nodes of an ingested graph are queried by IRIs with this prefix

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
        # the shortest form that reads back as the same number
        forms = (f"{value:.{digits}e}".partition("e") for digits in range(18))
        return next(f"{mantissa}e{int(power)}" for mantissa, _, power in forms if float(f"{mantissa}e{power}") == value)
    return str(int(value))


def cell_value(term: SparqlTerm | None) -> Cell:
    """The value of a term in a row: numbers as numbers, truth values as 1 or 0, invalid numbers and others as text."""
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
    return int(term.value in ("true", "1")) if term.datatype == XSD + "boolean" else term.value


@dataclass(frozen=True)
class SparqlQuery:
    """A SELECT. `names[i]` is the variable that `outputs[i]` shows; a label has the variable of its IRI."""

    text: str
    outputs: tuple[OutputColumn, ...]
    names: tuple[str, ...]
    ordered: bool = False  # the query sorts its rows
    last_first: bool = False  # its rows are to be sorted by what they show, in reverse
    params: tuple[Cell, ...] = ()


def distinct_names(names: Sequence[str]) -> str:
    """The variables of a projection, each once."""
    return " ".join(dict.fromkeys(names))


# well-known prefixes
COMMON_PREFIXES = {
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#": "rdf",
    "http://www.w3.org/2000/01/rdf-schema#": "rdfs",
    "http://www.w3.org/2001/XMLSchema#": "xsd",
    "http://www.w3.org/2002/07/owl#": "owl",
    "http://www.w3.org/2004/02/skos/core#": "skos",
}

_WRITTEN_IRI = re.compile(r"<([^<>\s]+)>")
_LOCAL = re.compile(r"[A-Za-z_][\w-]*")
_DECLARED = re.compile(r"\bPREFIX\s+([^\s:<>]*):", re.IGNORECASE)

# words without a colon are matched too, so that none is tried again at each of its hyphens
_USED = re.compile(r"(?<![\w<:/#])(?:([A-Za-z][\w-]*+):(?=[A-Za-z_])|[A-Za-z][\w-]*+)")


@dataclass(frozen=True)
class Prefixes:
    """Namespaces with a short name each."""

    names: Mapping[str, str]

    def short(self, iri: str) -> str:
        """An IRI with its prefix, or in angle brackets."""
        space, local = _split(iri)
        return f"{self.names[space]}:{local}" if space in self.names and _LOCAL.fullmatch(local) else format_iri(iri)

    def shorten(self, text: str) -> str:
        """SPARQL with the IRIs that have a prefix written short, on one line."""
        return " ".join(_WRITTEN_IRI.sub(lambda found: self.short(found[1]), text).split())

    def full(self, name: str) -> str:
        """The IRI of a name as `short` gives it; other text as it is."""
        prefix, colon, local = name.strip().partition(":")
        spaces = {short: space for space, short in self.names.items()}
        return spaces[prefix] + local if colon and prefix in spaces else name.strip().strip("<>")

    def declare(self, query: str) -> str:
        """The query with the declarations of the prefixes that it uses and does not declare."""
        spaces = {short: space for space, short in self.names.items()}
        own = set(_DECLARED.findall(query))
        missing = sorted({used for used in _USED.findall(query) if used in spaces and used not in own})
        return "".join(f"PREFIX {short}: <{spaces[short]}>\n" for short in missing) + query


def schema_prefixes(schema: Schema) -> Prefixes:
    """A prefix for each namespace of classes and properties: the last word of the namespace."""
    named = [*(each.iri for each in schema.classes), *(each.iri for each in schema.predicates)]
    spaces = {_split(iri)[0] for iri in named}
    found: dict[str, str] = dict(COMMON_PREFIXES)
    for space in sorted(spaces):
        if space in found or not space:
            continue
        words = re.findall(r"[a-z][a-z0-9]*", space.lower().removeprefix("https:").removeprefix("http:"))
        name = base = next((w for w in reversed(words) if w not in ("org", "com", "net", "www")), "ns")
        number = 1
        while name in found.values():
            number += 1
            name = f"{base}{number}"
        found[space] = name
    return Prefixes(found)


def _split(iri: str) -> tuple[str, str]:
    place = max(iri.rfind("#"), iri.rfind("/"), iri.rfind(":")) + 1
    return iri[:place], iri[place:]
