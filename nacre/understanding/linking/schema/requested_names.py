"""Treat a request for names as one for the things: Links -> Links: "names of the presses" are the presses."""

from collections.abc import Sequence

from nacre.language.base import language
from nacre.language.thesaurus import function_words
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.question.types import Link, Question

# Words between "name" and the class, at most: "names of all the presses".
MAX_WORDS_IN_BETWEEN = 3


def absorb_name_words(links: Sequence[Link], question: Question, graph: SchemaGraph) -> list[Link]:
    """The links, in which a class includes the word "name" next to it, unless its things have a property of that
    name."""
    found = list(links)
    for at, token in enumerate(question.tokens):
        if token.lemma not in language().words["called_by"]:
            continue
        here = [x for x in found if x.kind in ("property", "class") and x.start <= at < x.end]
        classes = [x for x in found if x.kind == "class" and x.exact and not x.start <= at < x.end]
        for link in classes:
            span = _span_with_name(link, at, question)
            node = graph.nodes[link.refs[0].node]
            has_property = any(node.relations & graph.nodes[ref.node].relations for x in here for ref in x.refs[:1])
            if span is None or not node.named or has_property:
                continue
            start, end = span
            whole = link._replace(start=start, end=end, covered=((1 << (end - start)) - 1) << start)
            found = [*(x for x in found if x not in here or x.end - x.start > 1), whole]
    return found


def _span_with_name(link: Link, at: int, question: Question) -> tuple[int, int] | None:
    """The span of "names of the presses" or "press names"."""
    words = question.tokens
    between = [t.norm for t in words[at + 1 : link.start]]
    is_near = 0 < len(between) <= MAX_WORDS_IN_BETWEEN and function_words().issuperset(between)
    if is_near and between[0] in language().words["of"]:
        return at, link.end
    return (link.start, at + 1) if link.end == at else None
