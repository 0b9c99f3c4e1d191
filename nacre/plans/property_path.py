"""The structure of a SPARQL property path: text -> PropertyPath; and the triples along it between two things."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from nacre.errors import ToolError
from nacre.stores.sparql_source import Token, query_tokens
from nacre.stores.sqlite.triples import Triple

_TERMS = frozenset({"variable", "iri", "blank", "string", "number", "pname"})

MAX_REPETITIONS, MAX_LOOKS = 50, 2000  # links that + and * follow, and triples that a search along a path looks at


@dataclass(frozen=True)
class Link:
    """One property."""

    iri: str


@dataclass(frozen=True)
class Reverse:
    """A path from its end to its start."""

    path: "PropertyPath"


@dataclass(frozen=True)
class Sequence:
    """One path after another."""

    parts: "tuple[PropertyPath, ...]"


@dataclass(frozen=True)
class Alternative:
    """One of several paths."""

    parts: "tuple[PropertyPath, ...]"


@dataclass(frozen=True)
class Repeated:
    """A path several times: `?` is none or once, `*` none or more, `+` once or more."""

    path: "PropertyPath"
    mark: str


PropertyPath = Link | Reverse | Sequence | Alternative | Repeated


def parse_path(text: str) -> PropertyPath:
    """The structure of a path with full IRIs; raises ToolError.

    >>> parse_path("<http://e/a>/^<http://e/b>")
    Sequence(parts=(Link(iri='http://e/a'), Reverse(path=Link(iri='http://e/b'))))
    """
    tokens = query_tokens(text)
    path, rest = _alternative(tokens)
    if rest:
        raise ToolError("syntax", f"the path {text!r} can't be read from '{rest[0].text}' on.")
    return path


def write_path(path: PropertyPath) -> str:
    """A path as text that `parse_path` reads."""
    if isinstance(path, Link):
        return f"<{path.iri}>"
    if isinstance(path, Reverse):
        return f"^{_bracketed(path.path)}"
    if isinstance(path, Repeated):
        return f"{_bracketed(path.path)}{path.mark}"
    mark = "/" if isinstance(path, Sequence) else "|"
    return mark.join(
        f"({write_path(each)})" if isinstance(each, Sequence | Alternative) else write_path(each) for each in path.parts
    )


def required_paths(pattern: str) -> list[PropertyPath]:
    """The properties and paths of the statements that a group pattern begins with; it gives nothing without them.

    >>> [write_path(p) for p in required_paths('?this ^<urn:a> ?v, "x"@en ; <urn:b> 1 OPTIONAL { ?v <urn:c> 1 }')]
    ['^<urn:a>', '<urn:b>']
    """
    found: list[PropertyPath] = []
    tokens = query_tokens(pattern)
    while tokens and (tokens[0].kind in _TERMS or tokens[0].text == ";"):
        tokens = tokens[1:]
        if tokens and tokens[0].kind == "variable":
            tokens = tokens[1:]
        else:
            try:
                path, tokens = _alternative(tokens)
            except ToolError:
                return found
            found.append(path)
        tokens = _after_objects(tokens)
    return found


def may_match(path: PropertyPath, is_used: Callable[[str], bool]) -> bool:
    """Whether a path can lead anywhere in a graph of which `is_used` knows the properties."""
    if isinstance(path, Link):
        return is_used(path.iri)
    if isinstance(path, Reverse | Repeated):
        return (isinstance(path, Repeated) and path.mark in "?*") or may_match(path.path, is_used)
    found = (may_match(part, is_used) for part in path.parts)
    return all(found) if isinstance(path, Sequence) else any(found)


def _after_objects(tokens: list[Token]) -> list[Token]:
    """The tokens from the next statement on, which begins with a subject or with ";"; [] where no statement follows."""
    while tokens and tokens[0].kind in _TERMS:
        tokens = tokens[1:]
        if tokens and tokens[0].text == "^^":
            tokens = tokens[2:]
        elif tokens and tokens[0].kind == "language":
            tokens = tokens[1:]
        if not tokens or tokens[0].text != ",":
            break
        tokens = tokens[1:]
    while tokens and tokens[0].text == ".":
        tokens = tokens[1:]
    return tokens


def _bracketed(path: PropertyPath) -> str:
    return write_path(path) if isinstance(path, Link) else f"({write_path(path)})"


def _alternative(tokens: list[Token]) -> tuple[PropertyPath, list[Token]]:
    return _joined(tokens, "|", _sequence, Alternative)


def _sequence(tokens: list[Token]) -> tuple[PropertyPath, list[Token]]:
    return _joined(tokens, "/", _element, Sequence)


def _joined(
    tokens: list[Token],
    mark: str,
    part: Callable[[list[Token]], tuple[PropertyPath, list[Token]]],
    whole: Callable[[tuple[PropertyPath, ...]], PropertyPath],
) -> tuple[PropertyPath, list[Token]]:
    first, rest = part(tokens)
    parts = [first]
    while rest and rest[0].text == mark:
        following, rest = part(rest[1:])
        parts.append(following)
    return (parts[0] if len(parts) == 1 else whole(tuple(parts))), rest


def _element(tokens: list[Token]) -> tuple[PropertyPath, list[Token]]:
    if not tokens:
        raise ToolError("syntax", "a path ends too early.")
    head, rest = tokens[0], tokens[1:]
    if head.text == "^":
        path, rest = _element(rest)
        return Reverse(path), rest
    if head.kind == "iri":
        found: PropertyPath = Link(head.text[1:-1])
    elif head.text == "(":
        found, rest = _alternative(rest)
        if not rest or rest[0].text != ")":
            raise ToolError("syntax", "a path lacks ')'.")
        rest = rest[1:]
    else:
        raise ToolError("syntax", f"a path can't have '{head.text}' here.")
    while rest and rest[0].text in ("?", "*", "+"):
        found, rest = Repeated(found, rest[0].text), rest[1:]
    return found, rest


class PathTriples:
    """Finds the triples along a path; `outgoing` and `incoming` give the triples of a thing by one property."""

    def __init__(
        self, outgoing: Callable[[str, str], list[Triple]], incoming: Callable[[str, str], list[Triple]]
    ) -> None:
        self._outgoing, self._incoming = outgoing, incoming
        self._looks = 0

    def between(self, path: PropertyPath, start: str, end: str) -> tuple[Triple, ...]:
        """The triples of one way from start to end; none if there is no way, or it takes too many looks."""
        self._looks = 0
        return next((triples for reached, triples in self._steps(path, start, ()) if reached == end), ())

    def _steps(
        self, path: PropertyPath, start: str, before: tuple[Triple, ...], *, back: bool = False
    ) -> Iterator[tuple[str, tuple[Triple, ...]]]:
        """Where a path leads from a thing, each with the triples on the way."""
        if isinstance(path, Link):
            self._looks += 1
            if self._looks > MAX_LOOKS:
                return
            for triple in (self._incoming if back else self._outgoing)(start, path.iri):
                yield triple[0] if back else triple[2], (*before, triple)
        elif isinstance(path, Reverse):
            yield from self._steps(path.path, start, before, back=not back)
        elif isinstance(path, Alternative):
            for part in path.parts:
                yield from self._steps(part, start, before, back=back)
        elif isinstance(path, Sequence):
            first, *rest = reversed(path.parts) if back else path.parts
            for reached, triples in self._steps(first, start, before, back=back):
                if rest:
                    following = tuple(reversed(rest)) if back else tuple(rest)
                    yield from self._steps(Sequence(following), reached, triples, back=back)
                else:
                    yield reached, triples
        else:
            yield from self._repeated(path, start, before, back=back)

    def _repeated(
        self, path: Repeated, start: str, before: tuple[Triple, ...], *, back: bool
    ) -> Iterator[tuple[str, tuple[Triple, ...]]]:
        if path.mark in "?*":
            yield start, before
        seen = {start}
        level = [(start, before)]
        for _ in range(1 if path.mark == "?" else MAX_REPETITIONS):
            following = []
            for here, triples in level:
                for reached, more in self._steps(path.path, here, triples, back=back):
                    if reached not in seen:
                        seen.add(reached)
                        following.append((reached, more))
            yield from following
            level = following
            if not level:
                return
