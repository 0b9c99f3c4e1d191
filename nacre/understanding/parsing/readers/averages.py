"""Read averages of counts: Question + Links -> Candidates, a count by a count ("books per shelf on average")."""

from collections.abc import Iterator, Sequence

from nacre.language.base import language
from nacre.records.plan import Aggregate, Compute, Edge, Itself, Select
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.parsing.candidate import Candidate
from nacre.understanding.parsing.lowering.joins import Joins, find_joins
from nacre.understanding.question.types import Derivation, Link, Question, Ref, Target, token_mask

AVERAGE_COUNT_RULE = "count by count"
# how many names for the same words are read
MAX_NAMES = 2
# cues that such a question may have
CUE_KINDS = ("count", "avg", "group")
# the prior of a reading without its names
BASE_PRIOR = 1.0


def read_averages(question: Question, links: Sequence[Link], graph: SchemaGraph) -> Iterator[Candidate]:
    """Yield readings of "how many books does a shelf have on average", "the average number of books per shelf".

    None if a property holds such a number, or if the question says more.
    """
    count = next((cue for cue in question.cues if cue.kind == "count"), None)
    if count is None or not any(cue.kind == "avg" for cue in question.cues) or question.numbers:
        return
    classes = [link for link in links if link.kind == "class" and link.start >= count.end]
    first = min((link.start for link in classes), default=0)
    counted = [link for link in classes if link.start == first]
    properties = [link for link in links if link.kind == "property" and link.start <= first < link.end]
    if any(_holds_number(link.refs[0].predicate, graph) for link in properties if link.refs[0].predicate):
        return
    end = max((link.end for link in counted), default=0)
    owners = [link for link in classes if link.start >= end]
    cues = 0
    for cue in question.cues:
        cues |= token_mask(cue.start, cue.end) if cue.kind in CUE_KINDS else 0
    for thing in sorted(counted, key=lambda link: -link.score)[:MAX_NAMES]:
        for owner in sorted(owners, key=lambda link: -link.score)[:MAX_NAMES]:
            covered = cues | thing.covered | owner.covered
            if all(covered >> i & 1 or i in question.stopwords for i in range(len(question.tokens))):
                yield from _reading(thing, owner, covered, graph)


def _reading(thing: Link, owner: Link, covered: int, graph: SchemaGraph) -> Iterator[Candidate]:
    counted, per = Ref(thing.refs[0].node), Ref(owner.refs[0].node)
    joins = find_joins(graph, [counted, per], frozenset()) if counted.node != per.node else None
    if joins is None or not _has_one_owner(joins, counted, graph):
        return
    variable = joins.variables[per]
    number_of_things = Select(
        (Aggregate("count", Itself(joins.variables[counted].name)),), tuple(joins.variables.values()), joins.edges
    )
    number_of_owners = Select((Aggregate("count", Itself(variable.name)),), (variable,))
    derivation = Derivation(
        targets=(Target(counted, "count"),),
        conditions=(),
        group=(),
        order=None,
        nodes=(counted, per),
        combine="",
        covered=covered,
        prior=BASE_PRIOR + thing.score + owner.score - joins.cost,
        trace=(AVERAGE_COUNT_RULE,),
        links=(thing, owner),
    )
    body = Compute("/", number_of_things, number_of_owners)
    yield Candidate(derivation, body, joins.cost, joins.steps, joins.ambiguous, 0)


def _holds_number(predicate: str, graph: SchemaGraph) -> bool:
    """Whether a property says how many there are; the "episode number" identifies an episode."""
    return graph.is_numeric(predicate) and graph.words[predicate][-1] not in language().words["identifying"]


def _has_one_owner(joins: Joins, counted: Ref, graph: SchemaGraph) -> bool:
    """Whether each counted thing belongs to one owner, so that none counts twice."""
    here, edges = joins.variables[counted].name, list(joins.edges)
    while edges:
        edge: Edge | None = next((each for each in edges if each.subject == here), None)
        if edge is None or not graph.about(edge.predicate).functional:
            return False
        edges.remove(edge)
        here = edge.object
    return True
