"""The classes and properties of a graph that a model asks in SPARQL: Schema -> text, within a number of lines."""

from collections.abc import Collection, Iterator

from nacre.language.tokens import split_name
from nacre.plans.sparql_engine import last_segment
from nacre.plans.sparql_vocabulary import Prefixes, class_pattern, derived_patterns, shown_patterns
from nacre.records.evidence import shorten
from nacre.records.schema import Class, Predicate, Schema

# properties of a class that are shown beside those that a question is about, and characters of their comments (given)
MOST_PROPERTIES, MAX_COMMENT = 20, 60

# properties of a node of a value that are shown with the property that leads to it (given)
MOST_NODE_PROPERTIES = 4

# values of a property that are listed, their characters, and classes that a property leads to (given)
MOST_VALUES, MAX_LISTED, MOST_RANGES = 8, 120, 3


def schema_sparql(
    schema: Schema, prefixes: Prefixes, classes: Collection[str] | None = None, focus: Collection[str] | None = None
) -> str:
    """A paragraph for each class with its properties, the largest class first; only `classes` (IRIs), if given. With a
    `focus`, these properties are shown in full, and of others the most frequent in short. What a property is, is said
    once, and a class with the properties of one that it is within names only that.

    The properties that name things come first, the prefixes last. Derived classes and properties that no store holds
    are shown as their patterns over ?this and ?value.
    """
    chosen = [each for each in schema.shown_classes if each.count and (classes is None or each.iri in classes)]
    names = [p for p in schema.predicates if p.role == "name" and not derived_patterns(schema, p.iri)]
    lines = [f"Names of things: {', '.join(prefixes.short(p.iri) for p in names)}"] if names else []
    described: dict[str, frozenset[str]] = {}
    aside = {each.iri for each in schema.shown_classes} - {each.iri for each in chosen}
    for each in chosen:
        lines += _class_lines(each, schema, prefixes, focus, described, aside)
    used = "\n".join(lines)
    # numbers in strings are cast
    used += " xsd:"
    shown = [f"PREFIX {name}: <{space}>" for space, name in prefixes.names.items() if f"{name}:" in used]
    return "\n".join((*lines, *shown))


def _class_lines(
    each: Class,
    schema: Schema,
    prefixes: Prefixes,
    focus: Collection[str] | None,
    described: dict[str, frozenset[str]],
    aside: set[str],
) -> Iterator[str]:
    """The lines of a class, after those of the classes that are `described`, each with its properties. Nodes of values
    of the classes `aside`, which get no lines of their own, are shown where a property first leads to them."""
    comment = f". {each.comment}" if each.comment else ""
    parents = [iri for iri in each.parents if not class_pattern(schema, iri)]
    above = f", within {', '.join(map(prefixes.short, parents))}" if parents else ""
    pattern = class_pattern(schema, each.iri)
    written = prefixes.shorten(f"{{ {pattern} }}") if pattern else prefixes.short(each.iri)
    yield f"CLASS {written} -- {each.label}, {each.count} things{above}{comment}"
    own = [p for p in schema.shown_predicates if each.iri in p.domains and p.role != "schema"]
    before, shown = frozenset[str]().union(*described.values()), {p.iri for p in own}
    if focus is not None:
        ranked = sorted(own, key=lambda p: (p.iri not in focus, p.role == "identifier", -p.domains[each.iri]))
        shown = {p.iri for p in ranked[: max(MOST_PROPERTIES, sum(p.iri in focus for p in own))]}
    # a derived property has no name in a query
    described[each.iri] = frozenset(iri for iri in shown if not derived_patterns(schema, iri))
    above_it = next((iri for iri in parents if 2 * len(shown & described.get(iri, frozenset())) > len(shown)), "")
    if above_it:
        lacking = sorted(described[above_it] - shown)
        but = f" but {', '.join(map(prefixes.short, lacking))}" if lacking else ""
        yield f"  the properties of {prefixes.short(above_it)}{but}"
    again = [prefixes.short(p.iri) for p in own if p.iri in (shown & before) - described.get(above_it, frozenset())]
    if again:
        yield f"  {', '.join(again)}: as above"
    for predicate in (p for p in own if p.iri in shown - before):
        patterns = tuple(shown_patterns(derived_patterns(schema, predicate.iri)))
        name = prefixes.shorten(" or ".join(patterns)) if patterns else prefixes.short(predicate.iri)
        short = focus is not None and predicate.iri not in focus
        yield f"  {name}{_value_kinds(predicate, schema, prefixes, short=short)}"
        for part in _value_node(predicate, schema, aside):
            yield f"    {prefixes.short(part.iri)}{_value_kinds(part, schema, prefixes, short=True)}"
        aside -= predicate.ranges.keys()
    if len(shown) < len(own):
        yield f"  and {len(own) - len(shown)} more: look them up"


def _value_node(predicate: Predicate, schema: Schema, aside: set[str]) -> list[Predicate]:
    """The properties of the nodes that a property leads to if they state a value, such as a number with its unit:
    nameless things of one class of few properties."""
    if len(predicate.ranges) != 1 or not aside >= predicate.ranges.keys():
        return []
    own = schema.predicates_of(predicate.ranges)
    return own if len(own) <= MOST_NODE_PROPERTIES and all(p.role in ("fact", "text") for p in own) else []


def _value_kinds(predicate: Predicate, schema: Schema, prefixes: Prefixes, *, short: bool) -> str:
    parts = []
    if predicate.has_links:
        ranges = [iri for iri in predicate.ranges if not class_pattern(schema, iri)][:MOST_RANGES]
        parts.append(f"-> {' or '.join(map(prefixes.short, ranges)) or 'things'}")
    if predicate.has_literals:
        ends = (predicate.minimum, predicate.maximum)
        reach = f" {ends[0]:g} to {ends[1]:g}" if ends[0] is not None and ends[1] is not None else ""
        written = f" written as {predicate.written}" if predicate.written and predicate.datatype != "text" else ""
        of = predicate.written if predicate.datatype == "text" else ""
        unit = f" in {predicate.unit}" if predicate.unit else ""
        parts.append(f"{predicate.datatype}{of}{written}{unit}{reach}")
    comment = predicate.comment.rstrip(". ")
    comment = shorten(comment, MAX_COMMENT) if short else comment
    said = split_name(last_segment(predicate.iri)).casefold()
    notes = [text for text in (predicate.label, comment) if text.casefold() not in (said, "")]
    notes = notes[-1:] if comment.casefold() == predicate.label.casefold() else notes
    listed = ", ".join(f'"{value}"' for value in predicate.values[:MOST_VALUES])
    if 0 < len(predicate.values) <= MOST_VALUES and len(listed) <= MAX_LISTED:
        notes.append(f"one of {listed}")
    elif predicate.samples:
        notes.append(f'such as "{predicate.samples[0]}"')
    return f" {', '.join(parts)}{' -- ' if notes else ''}{'. '.join(notes)}"
