"""What a graph says of one thing: its name or IRI -> its kinds, its facts, and what links to it."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nacre.access.labels import look_up_labels
from nacre.access.local_thing import local_thing
from nacre.access.text_lexicon import lexicon_for
from nacre.errors import ToolError
from nacre.language.tokens import name_tokens
from nacre.records.browse import BrowseLimits, PredicateFacts
from nacre.records.turn import LONGEST_QUESTION, Rewrite
from nacre.stores.catalog import Graph
from nacre.understanding.understand import understand

# of one thing (given)
MOST_FACTS, MOST_INCOMING, MOST_ALIKE, LONGEST_VALUE = 200, 50, 8, 1000
IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|^`\\]+")


@dataclass(frozen=True)
class ThingFact:
    """One triple: the predicate in words and as its IRI, and its other end with its label where that is a thing."""

    property: str
    predicate: str
    value: str
    label: str


@dataclass(frozen=True)
class NamedThing:
    """A thing, its `facts`, and under `incoming` the facts of others that lead to it. `alike` are further things that
    the name may mean; `truncated`: there is more than is told."""

    iri: str
    label: str
    kinds: list[str]
    facts: list[ThingFact]
    incoming: list[ThingFact]
    alike: list[str]
    truncated: bool


def find_thing(graph: Graph, name: str, seconds: float) -> NamedThing:
    """The thing that a name or an IRI means best; raises ToolError `unknown_name` where it means none.

    Blocking; what is not looked up within `seconds` is left out.
    """
    name = name.strip().encode(errors="replace").decode()
    if not name or len(name) > LONGEST_QUESTION:
        raise ToolError("refused", f"A name has 1 to {LONGEST_QUESTION} characters.")
    iri, alike = _meant(graph, name)
    found = local_thing(graph, iri, BrowseLimits(MOST_FACTS, MOST_INCOMING, passages=False, seconds=seconds))
    if found is None:
        # it has a name, but nothing was looked up in time
        return NamedThing(iri, look_up_labels(graph, [iri]).get(iri, name), [], [], [], alike, truncated=True)
    facts, incoming = list(_stated(found.facts)), list(_stated(found.linking))
    more = any(each.more for each in (*found.facts, *found.linking))
    return NamedThing(
        iri,
        found.label,
        [end.text for end in found.classes],
        facts[:MOST_FACTS],
        incoming[:MOST_INCOMING],
        alike,
        more or not found.complete or len(facts) > MOST_FACTS or len(incoming) > MOST_INCOMING,
    )


def _stated(facts: Iterable[PredicateFacts]) -> Iterator[ThingFact]:
    """Facts one by one; of a thing its IRI and its name, of a literal its text."""
    for each in facts:
        for end in each.ends:
            value = end.iri or end.text[:LONGEST_VALUE]
            yield ThingFact(each.label, each.predicate, value, end.text if end.iri else "")


def _meant(graph: Graph, name: str) -> tuple[str, list[str]]:
    """The IRI that is meant, and others that might be."""
    if IRI.fullmatch(name) and look_up_labels(graph, [name]).get(name):
        return name, []
    names = lexicon_for(graph, name)
    words = name_tokens(name)
    spelt = [each for each in names.exact(words) if each.kind == "entity"] if words else []
    if words and not spelt:
        spelt = [n for n in names.holding([(word,) for word in words], MOST_ALIKE) if n.kind == "entity"]
    # a name that the data gives before one that only an IRI gives
    targets = [each.target for each in sorted(spelt, key=lambda each: each.weight < 0)]
    nearest = ""
    if not targets:
        read = understand(Rewrite(name), graph.schema, names)
        targets = [each.target for each in read.mentions if each.kind == "entity"]
        nearest = next((near for _, near in read.unknown if near), "")
    keys = [iri for iri in dict.fromkeys(targets) if IRI.fullmatch(iri)]
    if not keys:
        hint = f" The nearest name is {nearest!r}." if nearest else " Try the tool search."
        raise ToolError("unknown_name", f"No thing of this graph is called {name[:100]!r}.{hint}")
    return keys[0], keys[1 : MOST_ALIKE + 1]
