"""Read choices among named things: Question + Links -> Candidates ("which is wider, A or B")."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from nacre.language.base import language
from nacre.language.thesaurus import english_data, gradable_adjective
from nacre.understanding.linking.graph.nodes import SchemaNode
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.index import LinkingIndex
from nacre.understanding.linking.schema.adjectives import measured_properties
from nacre.understanding.parsing.lowering.lower import lower_derivation
from nacre.understanding.parsing.state import Candidate
from nacre.understanding.question.types import (
    Condition,
    Cue,
    Derivation,
    Link,
    Ordering,
    Question,
    Ref,
    Target,
    token_mask,
)

# a name is meant from this score on
MIN_NAME_SCORE = 0.5
# how many things there are to choose among, and how many measures are tried
MIN_THINGS, MAX_MEASURES = 2, 2
# how much worse a property may be named than the best one
SCORE_MARGIN = 0.05
# cues that say by what things are compared, in the order in which they are tried
COMPARING_KINDS = ("compared", "compare", "superlative", "most")
_UP = frozenset((">", "up"))
# the prior of a reading without its names
BASE_PRIOR = 2.0


class _Measure(NamedTuple):
    """What things are compared by: a property, or how many things are linked to them."""

    ref: Ref
    descending: bool
    is_count: bool
    cost: float
    covered: int
    hints: frozenset[str] = frozenset()


def read_choices(question: Question, links: Sequence[Link], index: LinkingIndex) -> Iterator[Candidate]:
    """Yield readings that choose among named things, which "or" parts and which are compared with nothing else."""
    if any(token.norm in language().words["than"] for token in question.tokens):
        return
    entities = [link for link in links if link.kind == "entity" and link.score >= MIN_NAME_SCORE]
    names = _longest_names(entities)
    if len(names) < MIN_THINGS or not _are_alternatives(names, question):
        return
    cue = _comparing_cue(question, names)
    if cue is not None and not _restricts_place(names[0], cue, question):
        for things in _possible_things(names, entities, index.graph):
            yield from _readings(things, cue, links, index.graph)


def _longest_names(links: Sequence[Link]) -> list[Link]:
    """The longest names that do not overlap, in the order of the question."""
    found: list[Link] = []
    for link in sorted(links, key=lambda each: (-each.covered.bit_count(), -each.score, each.refs)):
        if not any(link.covered & other.covered for other in found):
            found.append(link)
    return sorted(found, key=lambda link: link.start)


def _are_alternatives(names: Sequence[Link], question: Question) -> bool:
    """Whether only "or", commas and articles stand between the names; or "and", after "which of"."""
    words, known = question.tokens, language().words
    between = [range(one.end, other.start) for one, other in pairwise(names)]
    if not all(i in question.stopwords for gap in between for i in gap):
        return False
    before = [token.norm for token in words[: names[0].start] if token.norm not in known["article"]]
    follows_which_of = len(before) == 2 and before[0] in known["asking_which"] and before[1] in known["choosing_of"]
    conjunctions = known["either"] | known["joining"] if follows_which_of else known["either"]
    return any(words[i].norm in conjunctions for gap in between for i in gap)


def _comparing_cue(question: Question, names: Sequence[Link]) -> Cue | None:
    """What says which of the things is chosen: "longer", "more", "the highest", "first"."""
    covered = 0
    for name in names:
        covered |= name.covered
    cues = [
        cue for kind in COMPARING_KINDS for cue in question.cues if cue.kind == kind and not covered >> cue.start & 1
    ]
    for i, token in enumerate(question.tokens):
        word = english_data()["at_end"].get(token.norm, "")
        adjective = gradable_adjective(token._replace(norm=word, lemma=word)) if word else None
        if adjective is not None and not covered >> i & 1:
            direction = "up" if adjective.descending else "down"
            cues.append(Cue(i, i + 1, "superlative", f"{direction} {'|'.join(adjective.concepts)}"))
    return next((cue for cue in cues if cue.kind != "compare" or cue.value in ("<", ">")), None)


def _restricts_place(first: Link, cue: Cue, question: Question) -> bool:
    """Whether the names only say where something else is: "the largest orchard in A or B"."""
    known = language().words
    before = [i for i in range(first.start) if question.tokens[i].norm not in known["article"]]
    if not before or question.tokens[before[-1]].norm not in known["locating"]:
        return False
    return cue.start < first.start or any(i not in question.stopwords for i in before)


def _possible_things(names: Sequence[Link], entities: Sequence[Link], graph: SchemaGraph) -> Iterator[tuple[Link, ...]]:
    """The named things, of classes that belong together if several things share a name."""
    found: set[tuple[Link, ...]] = set()
    options = [[each for each in entities if (each.start, each.end) == (name.start, name.end)] for name in names]
    for first in options[0]:

        def distance(other: Link, first: Link = first) -> tuple[int, float]:
            node = _common_class((first, other), graph)
            return (node.count if node else sum(each.count for each in graph.nodes)), -other.score

        things = (first, *(min(others, key=distance) for others in options[1:]))
        if things not in found:
            found.add(things)
            yield things


def _tables(things: Sequence[Link], graph: SchemaGraph) -> frozenset[str]:
    """The tables of the classes of things."""
    return frozenset(table for thing in things for table in graph.nodes[thing.refs[0].node].relations)


def _common_class(things: Sequence[Link], graph: SchemaGraph) -> SchemaNode | None:
    """The narrowest class of all things."""
    tables = _tables(things, graph)
    classes = (node for node in graph.nodes if tables <= node.relations)
    return min(classes, key=lambda node: (node.count, node.index), default=None)


def _readings(things: Sequence[Link], cue: Cue, links: Sequence[Link], graph: SchemaGraph) -> Iterator[Candidate]:
    """The readings that choose among these things."""
    node = _common_class(things, graph)
    if node is None:
        return
    root, tables = Ref(node.index), _tables(things, graph)
    keys = tuple(dict.fromkeys(key for thing in things for key in thing.keys))
    among = Condition(root, "is", (), False, keys, " or ".join(thing.label for thing in things))
    covered = token_mask(cue.start, cue.end)
    nouns = (link for link in links if link.kind == "class" and graph.nodes[link.refs[0].node].relations & tables)
    for link in (*things, *nouns):
        covered |= link.covered
    for measure in _measures(root, cue, covered, links, graph):
        derivation = Derivation(
            targets=(Target(root),),
            conditions=(among,),
            group=(root,) if measure.is_count else (),
            order=Ordering(measure.ref, measure.descending, "count" if measure.is_count else "", 1),
            nodes=(root,),
            combine="",
            covered=covered | measure.covered,
            prior=BASE_PRIOR + sum(thing.score for thing in things) - measure.cost,
            trace=("choice",),
            links=tuple(things),
            hints=measure.hints,
        )
        lowered = lower_derivation(derivation, graph)
        if lowered is not None:
            yield Candidate(derivation, lowered.body, 0.0, 0, 0, 0)


def _measures(root: Ref, cue: Cue, covered: int, links: Sequence[Link], graph: SchemaGraph) -> Iterator[_Measure]:
    """What is compared: a named number or date, a number of things, or what an adjective measures."""
    direction, _, concepts = cue.value.partition(" ")
    up = direction in _UP
    free = [link for link in links if not link.covered & covered]
    properties = sorted((link for link in free if link.kind == "property"), key=lambda link: (-link.score, link.start))
    stated = list(_stated_measures(root, up, properties, graph))
    counted = list(_counted_measures(root, up, free, properties, graph))
    yield from stated
    yield from counted
    if stated or counted or not concepts:
        return
    for ref, reverse, cost in measured_properties(graph, root.node, tuple(concepts.split("|")))[:MAX_MEASURES]:
        # how many people a town has does not say how big its clubs are
        if ref.node == root.node or not graph.nodes[ref.node].named:
            yield _Measure(ref, up != reverse, False, cost, 0)


def _stated_measures(root: Ref, up: bool, properties: Sequence[Link], graph: SchemaGraph) -> Iterator[_Measure]:
    """Numbers and dates that the question names."""
    ordered = [
        link
        for link in properties
        if (predicate := link.refs[0].predicate) and (graph.is_numeric(predicate) or graph.is_date(predicate))
    ]
    best = [link for link in ordered if link.score >= ordered[0].score - SCORE_MARGIN]
    for link in best[:MAX_MEASURES]:
        ref = link.refs[0]
        own = Ref(root.node, ref.predicate) if ref.predicate in graph.literals[root.node] else ref
        yield _Measure(own, up, False, 1 - link.score, link.covered)


def _counted_measures(
    root: Ref, up: bool, links: Sequence[Link], properties: Sequence[Link], graph: SchemaGraph
) -> Iterator[_Measure]:
    """The number of things of a class that the question names."""
    hints = frozenset(ref.via for link in properties for ref in link.refs if ref.via and link.score >= MIN_NAME_SCORE)
    own = graph.nodes[root.node].relations
    classes = [link for link in links if link.kind == "class" and not graph.nodes[link.refs[0].node].relations & own]
    for link in sorted(classes, key=lambda each: -each.score)[:MAX_MEASURES]:
        covered = link.covered
        for each in properties:
            covered |= each.covered if any(ref.via in hints for ref in each.refs) else 0
        yield _Measure(Ref(link.refs[0].node), up, True, 1 - link.score, covered, hints)
