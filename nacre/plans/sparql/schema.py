"""Describe the classes and properties of a graph for a writer of SPARQL: Schema -> lines, and IRIs with prefixes."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from nacre.plans.sparql.derived import class_pattern, derived_patterns, shown_patterns
from nacre.plans.sparql.terms import format_iri as written
from nacre.records.schema import Class, Predicate, Schema

# well-known prefixes
COMMON_PREFIXES = {
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#": "rdf",
    "http://www.w3.org/2000/01/rdf-schema#": "rdfs",
    "http://www.w3.org/2001/XMLSchema#": "xsd",
    "http://www.w3.org/2002/07/owl#": "owl",
    "http://www.w3.org/2004/02/skos/core#": "skos",
}
# values of a property that are listed, and classes that a property leads to
MOST_VALUES, MOST_RANGES = 8, 3
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
        """An IRI with its prefix, or in angle brackets.

        >>> Prefixes({"http://x.org/v#": "v"}).short("http://x.org/v#City")
        'v:City'
        """
        space, local = _split(iri)
        return f"{self.names[space]}:{local}" if space in self.names and _LOCAL.fullmatch(local) else written(iri)

    def shorten(self, text: str) -> str:
        """SPARQL with the IRIs that have a prefix written short, on one line.

        >>> Prefixes({"http://x.org/v#": "v"}).shorten("<http://x.org/v#a>/<urn:b>")
        'v:a/<urn:b>'
        """
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


def schema_sparql(schema: Schema, prefixes: Prefixes, classes: Collection[str] | None = None) -> str:
    """A paragraph for each class with its properties, the largest class first; only `classes` (IRIs), if given.

    The properties that name things come first, the prefixes last. Derived classes and properties that no store holds
    are shown as their patterns over ?this and ?value.
    """
    chosen = [each for each in schema.shown_classes if each.count and (classes is None or each.iri in classes)]
    names = [p for p in schema.predicates if p.role == "name" and not derived_patterns(schema, p.iri)]
    lines = [f"Names of things: {', '.join(prefixes.short(p.iri) for p in names)}"] if names else []
    for each in chosen:
        lines += _class(each, schema, prefixes)
    used = "\n".join(lines)
    shown = [f"PREFIX {name}: <{space}>" for space, name in prefixes.names.items() if f"{name}:" in used]
    return "\n".join((*lines, *shown))


def _class(each: Class, schema: Schema, prefixes: Prefixes) -> Iterator[str]:
    comment = f". {each.comment}" if each.comment else ""
    parents = [iri for iri in each.parents if not class_pattern(schema, iri)]
    above = f", within {', '.join(map(prefixes.short, parents))}" if parents else ""
    pattern = class_pattern(schema, each.iri)
    written = prefixes.shorten(f"{{ {pattern} }}") if pattern else prefixes.short(each.iri)
    yield f"CLASS {written} -- {each.label}, {each.count} things{above}{comment}"
    for predicate in schema.shown_predicates:
        if each.iri in predicate.domains and predicate.role != "schema":
            patterns = tuple(shown_patterns(derived_patterns(schema, predicate.iri)))
            name = prefixes.shorten(" or ".join(patterns)) if patterns else prefixes.short(predicate.iri)
            yield f"  {name}{_values(predicate, schema, prefixes)}"


def _values(predicate: Predicate, schema: Schema, prefixes: Prefixes) -> str:
    parts = []
    if predicate.has_links:
        ranges = [iri for iri in predicate.ranges if not class_pattern(schema, iri)][:MOST_RANGES]
        parts.append(f"-> {' or '.join(map(prefixes.short, ranges)) or 'things'}")
    if predicate.has_literals:
        ends = (predicate.minimum, predicate.maximum)
        reach = f" {ends[0]:g} to {ends[1]:g}" if ends[0] is not None and ends[1] is not None else ""
        parts.append(f"{predicate.datatype}{f' in {predicate.unit}' if predicate.unit else ''}{reach}")
    notes = [predicate.label, *([predicate.comment.rstrip(". ")] if predicate.comment else [])]
    if predicate.values and len(predicate.values) <= MOST_VALUES:
        notes.append("one of " + ", ".join(f'"{value}"' for value in predicate.values))
    elif predicate.samples:
        notes.append(f'such as "{predicate.samples[0]}"')
    return f" {', '.join(parts)} -- {'. '.join(notes)}"


def _split(iri: str) -> tuple[str, str]:
    place = max(iri.rfind("#"), iri.rfind("/"), iri.rfind(":")) + 1
    return iri[:place], iri[place:]
