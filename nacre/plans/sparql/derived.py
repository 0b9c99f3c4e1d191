"""Write what a semantic layer derives where nothing of it is stored: pattern over ?this and ?value -> lines of a group.

A pattern of a path is `... ?this PATH ?value`; others are any group pattern. Inner variables get names of their own.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from nacre.errors import ToolError
from nacre.plans.sparql.property_path import Alternative, Link, PropertyPath, Repeated, Reverse, parse_path, write_path
from nacre.plans.sparql.property_path import Sequence as PathSequence
from nacre.plans.sparql.terms import format_iri
from nacre.records.schema import Schema
from nacre.stores.sparql.query_tokens import Token, keywords, query_tokens, write_tokens

_THIS, _VALUE = "?this ", " ?value"
# what is evaluated in a group of its own
_SCOPED = frozenset({"BIND", "OPTIONAL", "MINUS"})
_TERMS = frozenset({"variable", "iri", "string", "number", "pname"})


class TracedPattern(NamedTuple):
    """A pattern as lines of a group, the triples of it that a row reads, and their variables. `iris`: the properties of
    a pattern whose triples are not known one by one."""

    text: str
    triples: tuple[str, ...] = ()
    iris: tuple[str, ...] = ()

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
