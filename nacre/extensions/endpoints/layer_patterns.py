"""The SPARQL patterns of what a layer derives: resolved entries + ProbeResult -> patterns over ?this and ?value.

What a pattern uses of earlier derived properties is written into it. `of` is a part of the pattern.
"""

from collections.abc import Iterable, Sequence

from ingestion.layer.entries import LAYER_NAMESPACE, ClassEntry, CodeEntry, PropertyEntry
from ingestion.layer.layer_file import iri_variants
from ingestion.vocabulary import LAYER_NAME, TYPE
from nacre.errors import IngestionError, ToolError
from nacre.extensions.endpoints.describe_endpoint import DeclaredSchema
from nacre.extensions.endpoints.probe import MOST_PREDICATES, ProbeResult
from nacre.plans.property_path import (
    Alternative,
    Link,
    PropertyPath,
    Repeated,
    Reverse,
    may_match,
    parse_path,
    required_paths,
    write_path,
)
from nacre.plans.property_path import Sequence as PathSequence
from nacre.plans.sparql_vocabulary import format_iri, format_literal, pattern_iris
from nacre.stores.sparql_source import query_tokens, write_tokens

# names of things, or codes of a property, that a layer may give: each query has all of them (given)
MAX_GIVEN = 100

# the classes of ?this, where there are several
_OF = "?nacre_of"


class GivesNothing(IngestionError):
    """The graph has nothing of what an entry reads."""


class DerivedPatterns:
    """The patterns of the classes and properties that were derived so far, by IRI."""

    def __init__(self, probed: ProbeResult) -> None:
        self.classes: dict[str, str] = {}
        self.properties: dict[str, list[str]] = {}
        self._paths: dict[str, str] = {}
        self._probed = probed
        self._said = DeclaredSchema(probed.said)
        # an endpoint may have more predicates than were counted
        self._is_complete = len(probed.predicates) < MOST_PREDICATES

    def add_class(self, entry: ClassEntry) -> str:
        """The pattern of a derived class. Raises IngestionError for what is not possible at an endpoint."""
        pattern = self._inlined(entry.where)
        self._check_used(pattern)
        if entry.iri in self._probed.classes:
            pattern = f"{{ {self._membership((entry.iri,))} }} UNION {{ {pattern} }}"
        self.classes[entry.iri] = pattern
        return pattern

    def add_property(self, entry: PropertyEntry) -> str:
        """The pattern of a derived property. Raises IngestionError for what is not possible at an endpoint."""
        before = f"{self._membership(entry.of)} " if entry.of else ""
        if entry.path:
            path = self._path(entry.path)
            others = [self._paths[entry.iri]] if entry.iri in self._paths else []
            self._paths[entry.iri] = "|".join([*others, path])
            pattern = f"{before}?this {path} ?value"
        else:
            where = self._inlined(entry.where)
            self._check_used(where)
            pattern = f"{before}{where}"
        if entry.iri not in self.properties and entry.iri in self._probed.predicates:
            self.properties[entry.iri] = [f"?this <{entry.iri}> ?value"]
        self.properties.setdefault(entry.iri, []).append(pattern)
        return pattern

    def code_patterns(self, entry: CodeEntry) -> list[str]:
        """The patterns of a property whose codes a layer explains: a value is the meaning of its code, or the value
        that is stored. Other entries still read the codes."""
        stored = f"?this <{entry.key}> ?value"
        patterns = self.properties.get(entry.key, [stored])
        if entry.key not in self._probed.predicates or stored not in patterns:
            raise GivesNothing("the graph has no such property.")
        rows = [f"({format_literal(code)} {format_literal(entry.meanings[code])})" for code in entry.meanings]
        if len(rows) > MAX_GIVEN:
            raise IngestionError(f"over an endpoint a property has at most {MAX_GIVEN} codes.")
        pattern = (
            f"?this <{entry.key}> ?raw . OPTIONAL {{ VALUES (?code ?meaning) {{ {' '.join(rows)} }}"
            " FILTER(STR(?raw) = ?code) } BIND(COALESCE(?meaning, ?raw) AS ?value)"
        )
        return [pattern if each == stored else each for each in patterns]

    def add_names(self, names: Iterable[tuple[str, str]]) -> None:
        """The names that a layer gives to single things, as a property."""
        rows = [f"({format_iri(iri)} {format_literal(name)})" for iri, name in names]
        self.properties[LAYER_NAME] = [f"VALUES (?this ?value) {{ {' '.join(rows)} }}"]

    def _membership(self, classes: Sequence[str]) -> str:
        """That ?this is of one of these classes or of their subclasses."""
        wanted = set(classes)
        known = self._probed.classes
        stored = sorted(iri for iri in known if wanted & self._said.ancestors(iri))
        parts = [self.classes[iri] for iri in classes if iri in self.classes]
        if stored and len(stored) == 1:
            parts.append(f"?this <{TYPE}> <{stored[0]}> .")
        elif stored:
            parts.append(f"VALUES {_OF} {{ {' '.join(f'<{iri}>' for iri in stored)} }} ?this <{TYPE}> {_OF} .")
        if not parts:
            raise GivesNothing("nothing is of its class.")
        if len(parts) > 1:
            return " UNION ".join(f"{{ {part} }}" for part in parts)
        # a pattern may end without a full stop
        return parts[0] if parts[0].rstrip().endswith((".", "}", ")")) else f"{parts[0]} ."

    def _path(self, text: str) -> str:
        path = self._in_used_scheme(parse_path(self._inlined(text)))
        if isinstance(path, Repeated) and path.mark in "?*":
            # a layer derives no pair of a thing and itself
            path = path.path if path.mark == "?" else Repeated(path.path, "+")
        if _may_be_empty(path):
            raise IngestionError("its path may have no link, which an endpoint can't tell from a value.")
        if self._is_complete and not may_match(path, {*self._probed.predicates, TYPE}.__contains__):
            raise GivesNothing("the graph has none of the properties of its path.")
        return write_path(path)

    def _inlined(self, text: str) -> str:
        """A pattern or path with the paths of derived properties instead of their IRIs."""
        tokens = []
        for token in query_tokens(text):
            iri = token.text[1:-1] if token.kind == "iri" else ""
            if iri in self._paths:
                token = token._replace(text=f"({self._paths[iri]})")
            elif iri in self.classes or iri in self.properties:
                raise IngestionError(f"it uses '{iri}', which a pattern derives; write that pattern into it.")
            elif iri.startswith(LAYER_NAMESPACE):
                raise GivesNothing(f"it uses '{iri}', which nothing gives at an endpoint.")
            tokens.append(token)
        return write_tokens(tokens)

    def _in_used_scheme(self, path: PropertyPath) -> PropertyPath:
        """A path with the forms of its IRIs that the graph uses."""
        if isinstance(path, Link):
            used = [Link(iri) for iri in iri_variants(path.iri) if iri in self._probed.predicates]
            return path if not used else used[0] if len(used) == 1 else Alternative(tuple(used))
        if isinstance(path, Reverse):
            return Reverse(self._in_used_scheme(path.path))
        if isinstance(path, Repeated):
            return Repeated(self._in_used_scheme(path.path), path.mark)
        return type(path)(tuple(map(self._in_used_scheme, path.parts)))

    def _check_used(self, pattern: str) -> None:
        """Raises GivesNothing if a property that a pattern needs is not in the graph."""
        if not self._is_complete:
            return
        paths = required_paths(pattern)
        known = {*self._probed.predicates, TYPE}
        if not all(may_match(path, known.__contains__) for path in paths) or (
            not paths and known.isdisjoint(pattern_iris(pattern))
        ):
            raise GivesNothing("the graph has none of what it reads.")


def _may_be_empty(path: PropertyPath) -> bool:
    """Whether a path leads from a thing to itself without a link."""
    if isinstance(path, Link):
        return False
    if isinstance(path, Reverse):
        return _may_be_empty(path.path)
    if isinstance(path, Repeated):
        return path.mark in "?*" or _may_be_empty(path.path)
    found: Iterable[bool] = map(_may_be_empty, path.parts)
    return all(found) if isinstance(path, PathSequence) else any(found)


def single_property(path: str) -> str:
    """The property that a path consists of; "" for longer ones."""
    try:
        found = parse_path(path)
    except ToolError:
        return ""
    return found.iri if isinstance(found, Link) else ""
