"""Read comparisons of two things by one measure: Question + Links -> Candidates ("is A longer than B")."""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from nacre.language.base import language
from nacre.records.plan import Aggregate, Attribute, Compute, Edge, Select, Variable
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.graph.shortest_paths import PathStep
from nacre.understanding.linking.index import LinkingIndex
from nacre.understanding.linking.schema.adjectives import measured_properties
from nacre.understanding.parsing.lowering.members import member_link
from nacre.understanding.parsing.state import Candidate
from nacre.understanding.question.types import Cue, Derivation, Link, Question, Ref, Target, token_mask

# a name is meant from this score on
MIN_NAME_SCORE = 0.5
# how many things of one name, and how many measures, are tried
MAX_OPTIONS = 2
# what is compared by "how much more" without an adjective
DEFAULT_RANKING = (">", ("price", "cost"))
# the prior of a reading without its names
BASE_PRIOR = 2.0


class _Comparison(NamedTuple):
    """What a question says of two things: the operator, what it measures, and which words say so."""

    than: int
    operator: str
    concepts: tuple[str, ...]
    asks_yes_no: bool
    is_average: bool
    covered: int


class _MeasurePair(NamedTuple):
    """The property of either side; `reverse`: the adjective means the lower value."""

    left: Ref
    right: Ref
    reverse: bool
    cost: float
    covered: int


def read_comparisons(question: Question, links: Sequence[Link], index: LinkingIndex) -> Iterator[Candidate]:
    """Yield readings of "is A longer than B", "how much more is A than B"."""
    comparison = _comparison(question)
    if comparison is None:
        return
    names = [link for link in links if link.kind == "entity" and link.score >= MIN_NAME_SCORE]
    for before in _longest_names([name for name in names if name.end <= comparison.than]):
        for after in _longest_names([name for name in names if name.start > comparison.than]):
            yield from _readings(before, after, comparison, question, links, index.graph)


def is_comparison(question: Question) -> bool:
    """Whether a question can only compare two things: "how many more ...", "is the average ... than the average"."""
    words, known = question.tokens, language().words
    asks_degree = bool(words) and words[0].norm in known["degree"]
    compares = any(cue.kind in ("compare", "compared", "comparative") and 0 < cue.start <= 2 for cue in question.cues)
    than = next((i for i, token in enumerate(words) if token.norm in known["than"]), 0)
    sides = {cue.start < than for cue in question.cues if cue.kind == "avg"}
    return (asks_degree and compares) or len(sides) == 2


def _comparison(question: Question) -> _Comparison | None:
    words, known = question.tokens, language().words
    than = next((i for i, token in enumerate(words) if token.norm in known["than"]), None)
    if than is None:
        return None
    asks_yes_no = words[0].norm in known["asking_yes_no"]
    if not asks_yes_no and not any(token.norm in known["degree"] for token in words[:than]):
        return None
    comparatives = (cue for cue in question.cues if cue.kind in ("comparative", "compared") and cue.end <= than + 1)
    comparative: Cue | None = next(comparatives, None)
    operator, concepts = comparative.ranking if comparative is not None else DEFAULT_RANKING
    averages = [cue for cue in question.cues if cue.kind == "avg"]
    covered = token_mask(than, than + 1)
    for cue in (*averages, *([comparative] if comparative is not None else [])):
        covered |= token_mask(cue.start, cue.end)
    return _Comparison(than, operator, concepts, asks_yes_no, bool(averages), covered)


def _longest_names(links: Sequence[Link]) -> list[Link]:
    """The things that the longest name may mean."""
    best = max(links, key=lambda link: (link.end - link.start, link.score, -link.start), default=None)
    if best is None:
        return []
    return [link for link in links if link.covered == best.covered and link.score >= best.score][:MAX_OPTIONS]


def _readings(
    before: Link,
    after: Link,
    comparison: _Comparison,
    question: Question,
    links: Sequence[Link],
    graph: SchemaGraph,
) -> Iterator[Candidate]:
    own = [link.refs[0].node for link in (before, after)]
    # the average of a thing is that of the things that belong to it
    steps = [member_link(graph, node) if comparison.is_average else None for node in own]
    nodes = [step.target if step is not None else node for step, node in zip(steps, own, strict=True)]
    for pair in _measures(nodes, links, comparison, graph):
        # of dates the earliest: they have no average
        are_dates = comparison.asks_yes_no and all(graph.is_date(each.predicate) for each in (pair.left, pair.right))
        function: Literal["avg", "min"] = "min" if are_dates else "avg"
        left = _side(graph, before, pair.left, steps[0], function)
        right = _side(graph, after, pair.right, steps[1], function)
        if left is None or right is None:
            continue
        is_more = (comparison.operator == ">") != pair.reverse
        if comparison.asks_yes_no:
            body = Compute(">" if is_more else "<", left, right)
        else:
            body = Compute("-", left, right) if is_more else Compute("-", right, left)
        derivation = Derivation(
            targets=(Target(pair.left, function),),
            conditions=(),
            group=(),
            order=None,
            nodes=(Ref(pair.left.node),),
            combine="",
            covered=comparison.covered | before.covered | after.covered | pair.covered,
            prior=BASE_PRIOR + _worth(before, question) + _worth(after, question) - pair.cost,
            trace=("compared",),
            links=(before, after),
        )
        yield Candidate(derivation, body, 0.0, 0, 0, 0)


def _worth(link: Link, question: Question) -> float:
    """What a name adds to the prior: as in the parser, its score for each content word."""
    words = sum(1 for i in range(link.start, link.end) if link.covered >> i & 1 and i not in question.stopwords)
    return link.score * max(1, words)


def _measures(
    nodes: Sequence[int], links: Sequence[Link], comparison: _Comparison, graph: SchemaGraph
) -> Iterator[_MeasurePair]:
    """The property of either side: one that the question names, else what the adjective measures."""
    numeric = [
        link
        for link in links
        if link.kind == "property" and link.refs[0].predicate and graph.is_numeric(link.refs[0].predicate)
    ]
    named = {link.refs[0].predicate: link for link in sorted(numeric, key=lambda link: link.score)}
    for predicate, link in named.items():
        if link.end <= comparison.than and all(predicate in graph.literals[node] for node in nodes):
            left, right = (Ref(node, predicate) for node in nodes)
            yield _MeasurePair(left, right, False, 1 - link.score, link.covered)
    for left, reverse, cost in measured_properties(graph, nodes[0], comparison.concepts)[:MAX_OPTIONS]:
        for right, _, other_cost in measured_properties(graph, nodes[1], comparison.concepts)[:MAX_OPTIONS]:
            if right.predicate == left.predicate:
                yield _MeasurePair(left, right, reverse, cost + other_cost, 0)


def _side(
    graph: SchemaGraph, link: Link, ref: Ref, step: PathStep | None, function: Literal["avg", "min"]
) -> Select | None:
    """A number of a property over the things of one side, or over what belongs to them by a step.

    None if the owner of the property is further than a step away.
    """
    node, owner = graph.nodes[link.refs[0].node], "thing"
    variables = [Variable("thing", node.classes, node.without, link.keys, link.label)]
    edges: list[Edge] = []
    if step is not None:
        node, owner = graph.nodes[step.target], "member"
        variables.append(Variable(owner, node.classes, node.without))
        edges.append(Edge(owner, step.predicate, "thing"))
    if ref.node != node.index:
        paths = graph.cheapest_paths(node.index, ref.node)
        if not paths or len(paths[0][1]) != 1:
            return None
        (last,) = paths[0][1]
        before, owner, end = owner, "owner", graph.nodes[ref.node]
        variables.append(Variable(owner, end.classes, end.without))
        edges.append(Edge(before, last.predicate, owner) if last.forward else Edge(owner, last.predicate, before))
    return Select((Aggregate(function, Attribute(owner, ref.predicate)),), tuple(variables), tuple(edges))
