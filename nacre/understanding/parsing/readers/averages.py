"""How many things of one kind each of another has on average: Question + Links -> Candidates, a number by a number."""

from collections.abc import Iterator, Sequence

from nacre.language.base import language
from nacre.records.plan import Aggregate, Compute, Edge, Itself, Select
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.parsing.candidate import Candidate
from nacre.understanding.parsing.lowering.joins import Joins, find_joins
from nacre.understanding.question.types import Derivation, Link, Question, Ref, Target, token_mask

AVERAGE_COUNT_RULE = "count by count"
# names that are read for the same words
MOST = 2
_CUES = ("count", "avg", "group")


def read_averages(question: Question, links: Sequence[Link], graph: SchemaGraph) -> Iterator[Candidate]:
    """Readings of "how many books does a shelf have on average", "the average number of books per shelf"; none where a
    property has such a number, or the question says more."""
    counting = next((c for c in question.cues if c.kind == "count"), None)
    if counting is None or not any(c.kind == "avg" for c in question.cues) or question.numbers:
        return
    kinds = [x for x in links if x.kind == "class" and x.start >= counting.end]
    first = min((x.start for x in kinds), default=0)
    counted = [x for x in kinds if x.start == first]
    held = [x for x in links if x.kind == "property" and x.start <= first < x.end and x.refs[0].predicate]
    if any(_is_number_of(x.refs[0].predicate, graph) for x in held):
        return
    after = [x for x in kinds if x.start >= max((c.end for c in counted), default=0)]
    mask = 0
    for cue in question.cues:
        mask |= token_mask(cue.start, cue.end) if cue.kind in _CUES else 0
    for thing in sorted(counted, key=lambda x: -x.score)[:MOST]:
        for owner in sorted(after, key=lambda x: -x.score)[:MOST]:
            used = mask | thing.covered | owner.covered
            if all(used >> i & 1 or i in question.stopwords for i in range(len(question.tokens))):
                yield from _reading(thing, owner, used, graph)


def _reading(thing: Link, owner: Link, covered: int, graph: SchemaGraph) -> Iterator[Candidate]:
    one, other = Ref(thing.refs[0].node), Ref(owner.refs[0].node)
    joins = find_joins(graph, [one, other], frozenset()) if one.node != other.node else None
    if joins is None or not _told_apart(joins, one, graph):
        return
    name = joins.variables[one].name
    variables = tuple(joins.variables.values())
    left = Select((Aggregate("count", Itself(name)),), variables, tuple(joins.edges))
    every = joins.variables[other]
    right = Select((Aggregate("count", Itself(every.name)),), (every,))
    derivation = Derivation(
        (Target(one, "count"),), (), (), None, (one, other), "", covered, 1.0 + thing.score + owner.score - joins.cost,
        (AVERAGE_COUNT_RULE,), (thing, owner),
    )  # fmt: skip
    yield Candidate(derivation, Compute("/", left, right), joins.cost, joins.steps, joins.ambiguous, 0)


def _is_number_of(predicate: str, graph: SchemaGraph) -> bool:
    """Whether a property says how many there are; not which one it is: the "episode number"."""
    return graph.is_numeric(predicate) and graph.words[predicate][-1] not in language().words["identifying"]


def _told_apart(joins: Joins, one: Ref, graph: SchemaGraph) -> bool:
    """Whether each of the things that are counted hangs on one of the others, so that none counts for two."""
    here, left = joins.variables[one].name, list(joins.edges)
    while left:
        step: Edge | None = next((e for e in left if e.subject == here), None)
        if step is None or not graph.about(step.predicate).functional:
            return False
        left.remove(step)
        here = step.object
    return True
