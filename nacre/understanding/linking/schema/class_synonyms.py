"""What kinds of things are called besides their own names: which links such words leave: Links -> Links."""

from collections.abc import Iterable, Iterator, Mapping

from nacre.language.forms.nouns import wording_entry
from nacre.language.thesaurus import kind_synonyms
from nacre.language.tokens import Token
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.question.types import Link, Question

# the vocabulary of thesauri
SKOS_NAMESPACE = "http://www.w3.org/2004/02/skos/core#"
# nodes by a word that they are called by, which is none of their names
ClassSynonyms = Mapping[str, frozenset[int]]


def class_hypernyms(graph: SchemaGraph, called: Iterable[tuple[str, ...]]) -> Iterator[tuple[int, str]]:
    """Nodes with a word of English that says more widely what they are, where no kind is `called` so: "animals" of a
    graph of horses."""
    names = set(called)
    for node in graph.nodes:
        for word in sorted(kind_synonyms().get(node.words[-1], ())) if node.classes and node.words else ():
            if (word,) not in names:
                yield node.index, word


def prefer_class_synonyms(
    links: Iterable[Link], question: Question, besides: ClassSynonyms, graph: SchemaGraph
) -> list[Link]:
    """The links without those that a word for a kind rules out."""
    found = list(links)
    for at, token in enumerate(question.tokens):
        nodes = _called(token, besides)
        if nodes:
            named = [x for x in found if x.kind == "class" and x.refs[0].node in nodes and _is(x, at)]
            out = [x for x in found if x not in named and _ruled_out(x, at, token, named, graph)]
            # neither does another word of such a phrase name what it names
            sorts = {(x.refs[0].node, i) for x in out if not _is(x, at) for i in range(x.start, x.end)}
            out += [x for x in found if x.kind == "class" and (x.refs[0].node, x.start) in sorts]
            # "green tea" says what its "green" would say alone
            whole = [x for x in found if x.kind == "entity" and x.match == "whole" and x.start < at and x.end == at + 1]
            out += [x for x in found if x.end <= at and any(w.start <= x.start and x.keys == w.keys for w in whole)]
            found = [x for x in found if x not in out]
            if _sorts(question, at) and any(x.kind == "class" and x.start < at < x.end for x in found):
                # "kinds of cherries" are what cherries are sorted into
                found = [x for x in found if x not in named]
    return found


def _called(token: Token, besides: ClassSynonyms) -> frozenset[int]:
    return besides.get(token.lemma, frozenset()) | besides.get(token.norm, frozenset())


def _is(link: Link, at: int) -> bool:
    """Whether a link is of this word alone."""
    return (link.start, link.end) == (at, at + 1)


def _ruled_out(link: Link, at: int, token: Token, named: list[Link], graph: SchemaGraph) -> bool:
    """Whether a link takes a word for a kind, or a phrase that ends in it, for something else: the "cherry" of "cherry
    sort" where cherries are things, the names that hold the word, or the sorts below "sour cherry", no cherries."""
    best = max((x.score for x in named), default=0.0)
    if not best:
        return False
    node = graph.nodes[link.refs[0].node]
    things = frozenset[str]().union(*(graph.nodes[x.refs[0].node].relations for x in named))
    # a subclass of the things is what is asked for
    ends_so = node.words[-1:] == (token.lemma,)
    only_sorts = not node.relations & things and _is_concept(node.index, graph)
    if _is(link, at) and link.kind != "class":
        return link.match == "part" and token.text.islower()
    if _is(link, at):
        return link.match == "partial" and link.score < best and (only_sorts or not ends_so)
    return link.kind == "class" and link.end == at + 1 and ends_so and only_sorts


def _is_concept(node: int, graph: SchemaGraph) -> bool:
    """Whether the things of a node are concepts of a thesaurus."""
    return any(step.predicate.startswith(SKOS_NAMESPACE) for step in graph.steps[node])


def _sorts(question: Question, at: int) -> bool:
    """Whether "kinds of", "types of" stands before a word."""
    before = question.tokens[max(0, at - 2) : at]
    return len(before) == 2 and before[1].norm == "of" and before[0].lemma in wording_entry("sorting")
