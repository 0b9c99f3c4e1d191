"""Find one thing of a graph: its name or IRI -> the thing with its classes and facts, and others of that name."""

import re
from dataclasses import dataclass

from nacre.access.browse.local_thing import local_thing
from nacre.access.labels import look_up_labels
from nacre.access.text_lexicon import lexicon_for
from nacre.errors import ToolError
from nacre.language.tokens import name_tokens
from nacre.records.browse import BrowseLimits, Thing
from nacre.records.turn import LONGEST_QUESTION, Rewrite
from nacre.stores.catalog import Graph
from nacre.understanding.understand import understand

# facts of one thing in either direction, and other things of its name (given)
MOST_FACTS, MOST_INCOMING, MOST_ALIKE = 200, 50, 8
IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|^`\\]+")


@dataclass(frozen=True)
class NamedThing:
    """The thing that a name means best, and the IRIs of further things that it may mean."""

    thing: Thing
    alike: tuple[str, ...]


def find_thing(graph: Graph, name: str, seconds: float) -> NamedThing:
    """The thing that a name or an IRI means best, without passages; raises ToolError `unknown_name` if there is none.

    Blocking. Facts that are not looked up within `seconds` are left out.
    """
    name = name.strip().encode(errors="replace").decode()
    if not name or len(name) > LONGEST_QUESTION:
        raise ToolError("refused", f"A name has 1 to {LONGEST_QUESTION} characters.")
    iri, alike = _resolve(graph, name)
    thing = local_thing(graph, iri, BrowseLimits(MOST_FACTS, MOST_INCOMING, passages=False, seconds=seconds))
    if thing is None:
        # it has a name, but nothing was looked up in time
        thing = Thing(iri, look_up_labels(graph, [iri]).get(iri, name), (), (), (), complete=False)
    return NamedThing(thing, alike)


def _resolve(graph: Graph, name: str) -> tuple[str, tuple[str, ...]]:
    """The IRI that is meant, and others that may be."""
    if IRI.fullmatch(name) and look_up_labels(graph, [name]).get(name):
        return name, ()
    names = lexicon_for(graph, name)
    words = name_tokens(name)
    spelt = [each for each in names.exact(words) if each.kind == "entity"] if words else []
    if words and not spelt:
        spelt = [n for n in names.find_containing([(word,) for word in words], MOST_ALIKE) if n.kind == "entity"]
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
    return keys[0], tuple(keys[1 : MOST_ALIKE + 1])
