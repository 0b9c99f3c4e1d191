"""Two things compared by one measure: Question + Links -> Candidates ("is A longer than B", "how much more is A")."""

from collections.abc import Iterator, Sequence

from nacre.language.base import language
from nacre.records.plan import Aggregate, Attribute, Body, Compute, Edge, Select, Variable
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.graph.shortest_paths import PathStep
from nacre.understanding.linking.index import LinkingIndex
from nacre.understanding.linking.schema.adjectives import measured_properties
from nacre.understanding.parsing.candidate import Candidate
from nacre.understanding.parsing.lowering.members import member_link
from nacre.understanding.question.types import Derivation, Link, Question, Ref, Target, token_mask

SURE = 0.5
# the measure of "how much more" without an adjective is looked for among these
MOST = 2


def read_comparisons(question: Question, links: Sequence[Link], known: LinkingIndex) -> Iterator[Candidate]:
    """Readings that compare one named thing with another."""
    than = next((i for i, t in enumerate(question.tokens) if t.norm in language().words["than"]), None)
    if than is None:
        return
    named = [x for x in links if x.kind == "entity" and x.score >= SURE]
    befores = _longest([x for x in named if x.end <= than])
    afters = _longest([x for x in named if x.start > than])
    cue = next((c for c in question.cues if c.kind in ("comparative", "compared") and c.end <= than + 1), None)
    asks = question.tokens[0].norm in language().words["asking_yes_no"]
    amount = any(t.norm in language().words["degree"] for t in question.tokens[:than])
    if not (asks or amount):
        return
    average = next((c for c in question.cues if c.kind == "avg"), None)
    op, _, concepts = cue.value.partition(" ") if cue is not None else (">", "", "price|cost")
    said = 1 << than
    for each in (c for c in question.cues if c.kind == "avg"):
        said |= token_mask(each.start, each.end)
    if cue is not None:
        said |= token_mask(cue.start, cue.end)
    measuring = tuple(concepts.split("|"))
    for before, after in ((b, a) for b in befores for a in afters):
        own = [x.refs[0].node for x in (before, after)]
        # the average of a thing is that of the things that hang on it
        steps = [member_link(known.graph, node) if average is not None else None for node in own]
        nodes = [step.target if step is not None else node for step, node in zip(steps, own, strict=True)]
        for left, right, reverse, cost, named_by in _measures(known.graph, nodes, links, than, measuring):
            mask = said | before.covered | after.covered | named_by
            sides = [
                _side(known.graph, x, ref, step)
                for x, ref, step in ((before, left, steps[0]), (after, right, steps[1]))
            ]
            if sides[0] is None or sides[1] is None:
                continue
            up = (op == ">") != reverse
            body: Body = Compute(">" if up else "<", sides[0], sides[1])
            if not asks:
                body = Compute("-", *(sides if up else sides[::-1]))  # type: ignore[arg-type]
            derivation = Derivation(
                (Target(left, "avg"),), (), (), None, (Ref(left.node),), "", mask,
                2.0 + _worth(before, question) + _worth(after, question) - cost, ("compared",), (before, after),
            )  # fmt: skip
            yield Candidate(derivation, body, 0.0, 0, 0, 0)


def is_comparison(question: Question) -> bool:
    """Whether a question can only compare two things: "how many more ...", "is the average ... than the average"."""
    degree = bool(question.tokens) and question.tokens[0].norm in language().words["degree"]
    apart = any(c.kind in ("compare", "compared", "comparative") and 0 < c.start <= 2 for c in question.cues)
    than = next((i for i, t in enumerate(question.tokens) if t.norm in language().words["than"]), 0)
    sides = {c.start < than for c in question.cues if c.kind == "avg"}
    return (degree and apart) or len(sides) == 2


def _worth(link: Link, question: Question) -> float:
    """What a name adds to the prior: as in the parser, its score for each of its words."""
    words = sum(1 for i in range(link.start, link.end) if link.covered >> i & 1 and i not in question.stopwords)
    return link.score * max(1, words)


def _longest(links: Sequence[Link]) -> list[Link]:
    """All that the longest of the names may name."""
    best = max(links, key=lambda x: (x.end - x.start, x.score, -x.start), default=None)
    return [] if best is None else [x for x in links if x.covered == best.covered and x.score >= best.score][:MOST]


def _measures(
    graph: SchemaGraph, nodes: Sequence[int], links: Sequence[Link], than: int, concepts: tuple[str, ...]
) -> Iterator[tuple[Ref, Ref, bool, float, int]]:
    """The property of either side: one that the question names, else what the adjective measures.

    Each with whether less of it is more, what it costs, and the words that name it.
    """
    said = {
        x.refs[0].predicate: x
        for x in sorted(links, key=lambda x: x.score)
        if x.kind == "property" and x.refs[0].predicate and graph.is_numeric(x.refs[0].predicate)
    }
    for predicate, link in said.items():
        if link.end <= than and all(predicate in graph.literals[node] for node in nodes):
            yield Ref(nodes[0], predicate), Ref(nodes[1], predicate), False, 1 - link.score, link.covered
    for left, reverse, cost in measured_properties(graph, nodes[0], concepts)[:MOST]:
        for right, _, other in measured_properties(graph, nodes[1], concepts)[:MOST]:
            if right.predicate == left.predicate:
                yield left, right, reverse, cost + other, 0


def _side(graph: SchemaGraph, link: Link, ref: Ref, step: PathStep | None) -> Select | None:
    """The average of a property over one side's things, or over what hangs on them by a step."""
    found = _measured(graph, link.refs[0].node, ref, link.keys, link.label, step)
    if found is None:
        return None
    variables, edges, owner = found
    return Select((Aggregate("avg", Attribute(owner, ref.predicate)),), variables, edges)


def _measured(
    graph: SchemaGraph, at: int, ref: Ref, keys: tuple[str, ...], label: str, step: PathStep | None = None
) -> tuple[tuple[Variable, ...], tuple[Edge, ...], str] | None:
    """Named things (or what hangs on them by a step), what ties them to the owner of a property, and that owner; None
    where it is further than a step."""
    node = graph.nodes[at]
    variables = [Variable("thing", node.classes, node.without, keys, label)]
    edges: list[Edge] = []
    owner = "thing"
    if step is not None:
        node, owner = graph.nodes[step.target], "member"
        variables.append(Variable(owner, node.classes, node.without))
        edges.append(Edge(owner, step.predicate, "thing"))
    if ref.node != node.index:
        ways = graph.cheapest_paths(node.index, ref.node)
        if not ways or len(ways[0][1]) != 1:
            return None
        step = ways[0][1][0]
        there = graph.nodes[ref.node]
        before, owner = owner, "owner"
        variables.append(Variable(owner, there.classes, there.without))
        edges.append(Edge(before, step.predicate, owner) if step.forward else Edge(owner, step.predicate, before))
    return tuple(variables), tuple(edges), owner
