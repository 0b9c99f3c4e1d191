"""Names that are asked for of things which have no property called so: "names of the presses" are the presses."""

from collections.abc import Sequence

from nacre.language.base import language
from nacre.language.thesaurus import function_words
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.question.types import Link, Question

# words at most between "name" and the kind: "names of all the presses"
MAX_WORDS_IN_BETWEEN = 3


def absorb_name_words(links: Sequence[Link], question: Question, graph: SchemaGraph) -> list[Link]:
    """The links, where kinds take in the word for their names, and no other kind's property does."""
    found = list(links)
    for at, token in enumerate(question.tokens):
        if token.lemma not in language().words["called_by"]:
            continue
        here = [x for x in found if x.kind in ("property", "class") and x.start <= at < x.end]
        kinds = [x for x in found if x.kind == "class" and x.exact and not x.start <= at < x.end]
        for kind in kinds:
            span = _span(kind, at, question)
            node = graph.nodes[kind.refs[0].node]
            if (
                span is None
                or not node.named
                or any(node.relations & graph.nodes[ref.node].relations for x in here for ref in x.refs[:1])
            ):
                continue
            start, end = span
            whole = kind._replace(start=start, end=end, covered=((1 << (end - start)) - 1) << start)
            found = [*(x for x in found if x not in here or x.end - x.start > 1), whole]
    return found


def _span(kind: Link, at: int, question: Question) -> tuple[int, int] | None:
    """The stretch of "names of the presses" or "press names"."""
    words = question.tokens
    between = [t.norm for t in words[at + 1 : kind.start]]
    if (
        0 < len(between) <= MAX_WORDS_IN_BETWEEN
        and between[0] in language().words["of"]
        and function_words().issuperset(between)
    ):
        return at, kind.end
    return (kind.start, at + 1) if kind.end == at else None
