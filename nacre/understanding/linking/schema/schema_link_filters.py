"""Filter and extend the links of classes and properties among themselves: Links -> Links."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from itertools import product

from nacre.understanding.linking.graph.nodes import SchemaNode
from nacre.understanding.linking.schema.schema_terms import LEMMA_SCORE
from nacre.understanding.question.types import Link, Question, Ref

# Links of one kind that are kept for a span.
MAX_TERM_LINKS_PER_SPAN = 10
# The factor on the score of the rarer of two classes with the same name.
RARER_CLASS_FACTOR = 0.9
# Minimum score of a link next to an exact one of the same span.
MIN_RIVAL_SCORE = 0.45


def add_class_properties(links: list[Link], question: Question) -> list[Link]:
    """The links, with properties joined to the class right before or after them if another property only resembles
    both: the "loan amount" is the amount of a loan, not a "number of loans"."""
    similar = {(x.start, x.end) for x in links if x.kind == "property" and not x.exact}
    starts = {x.start for x in links if x.kind == "class"}
    # "project outcomes" does not mention projects.
    classes = [x for x in links if x.kind == "class" and x.exact and x.end not in starts]
    properties = [x for x in links if x.kind == "property" and x.exact and x.refs[0].predicate]
    joined = []
    for own, kind in product(properties, classes):
        if kind.refs[0].node != own.refs[0].node or kind.covered & own.covered:
            continue
        first, last = sorted((kind, own), key=lambda x: x.start)
        between = range(first.end, last.start)
        is_near = not between if first is kind else between and all(i in question.stopwords for i in between)
        if is_near and (first.start, last.end) in similar:
            whole = own._replace(start=first.start, end=last.end, covered=kind.covered | own.covered)
            joined.append(whole._replace(score=min(kind.score, own.score)))
    return [*links, *joined]


def drop_repeated_classes(links: list[Link]) -> list[Link]:
    """The links without the class of a verb that names a link of the class right before it: in "suppliers deliver" the
    verb does not mention suppliers again."""
    named = {(x.end, x.refs[0].node) for x in links if x.kind == "class" and x.exact}
    verbs = {(x.start, x.end) for x in links if x.kind == "property" and x.refs[0].via}
    return [
        x
        for x in links
        if not (
            x.kind == "class" and x.match == "like" and (x.start, x.end) in verbs and (x.start, x.refs[0].node) in named
        )
    ]


def lower_rarer_classes(links: list[Link], nodes: Sequence[SchemaNode]) -> list[Link]:
    """The links, with a lower score for a class if one with more things has the same name."""
    classes = {x: node for x in links if x.kind == "class" and (node := nodes[x.refs[0].node]).classes}
    most: dict[tuple[int, int, tuple[str, ...]], int] = defaultdict(int)
    for x, node in classes.items():
        most[x.start, x.end, node.words] = max(most[x.start, x.end, node.words], node.count)
    rarer = {x for x, node in classes.items() if node.count < most[x.start, x.end, node.words]}
    return [x._replace(score=x.score * RARER_CLASS_FACTOR) if x in rarer else x for x in links]


def drop_hidden_rivals(links: list[Link], hidden_nodes: Collection[int]) -> list[Link]:
    """The links without the names of things of hidden classes, where the same words name a thing of a shown class."""
    entities = [x for x in links if x.kind == "entity" and hidden_nodes]
    shown = {(x.start, x.end) for x in entities if x.refs[0].node not in hidden_nodes}
    hidden = {x for x in entities if x.refs[0].node in hidden_nodes and (x.start, x.end) in shown}
    return [x for x in links if x not in hidden] if hidden else links


def best_links(links: list[Link]) -> list[Link]:
    """The best links of each span. A span with an exact link keeps no weak ones."""
    exact = {(x.start, x.end) for x in links if x.exact and x.score >= LEMMA_SCORE}
    spans: dict[tuple[int, int, str], list[Link]] = defaultdict(list)
    for link in links:
        if link.score >= MIN_RIVAL_SCORE or (link.start, link.end) not in exact:
            spans[link.start, link.end, link.kind].append(link)
    best = []
    for of_span in spans.values():
        first: dict[tuple[Ref, ...], Link] = {}
        for link in sorted(of_span, key=lambda x: (-x.score, x.refs)):
            first.setdefault(link.refs, link)
        best += list(first.values())[:MAX_TERM_LINKS_PER_SPAN]
    return sorted(best, key=lambda x: (x.start, x.end, x.kind, -x.score, x.refs))
