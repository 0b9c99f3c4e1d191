"""Find what a word for a class rules out: Links -> Links ("animals" in a graph of horses)."""

from collections.abc import Iterable, Iterator, Mapping

from nacre.language.base import word_list
from nacre.language.thesaurus import kind_synonyms
from nacre.language.tokens import Token
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.question.types import Link, Question

# The vocabulary of thesauri.
SKOS_NAMESPACE = "http://www.w3.org/2004/02/skos/core#"
# Class nodes by a word for their things that is not one of their names.
ClassSynonyms = Mapping[str, frozenset[int]]


def class_hypernyms(graph: SchemaGraph, class_names: Iterable[tuple[str, ...]]) -> Iterator[tuple[int, str]]:
    """Nodes with an English word for a wider class that is not a class name of the graph: "animals" for horses."""
    names = set(class_names)
    for node in graph.nodes:
        for word in sorted(kind_synonyms().get(node.words[-1], ())) if node.classes and node.words else ():
            if (word,) not in names and word not in graph.unions.words:
                yield node.index, word


def prefer_class_synonyms(
    links: Iterable[Link], question: Question, synonyms: ClassSynonyms, graph: SchemaGraph
) -> list[Link]:
    """The links without those that a word for a class rules out."""
    found = list(links)
    for at, token in enumerate(question.tokens):
        nodes = synonyms.get(token.lemma, frozenset()) | synonyms.get(token.norm, frozenset())
        if nodes:
            found = _prefer_classes(found, question, at, nodes, graph)
    return found


def _prefer_classes(
    links: list[Link], question: Question, at: int, nodes: frozenset[int], graph: SchemaGraph
) -> list[Link]:
    """The links without those that contradict the class meant by the word at a place."""
    token = question.tokens[at]
    meant = [x for x in links if x.kind == "class" and x.refs[0].node in nodes and _covers_only(x, at)]
    out = [x for x in links if x not in meant and _is_ruled_out(x, at, token, meant, graph)]
    # The other words of a ruled-out phrase do not name its class either.
    phrases = {(x.refs[0].node, i) for x in out if not _covers_only(x, at) for i in range(x.start, x.end)}
    out += [x for x in links if x.kind == "class" and (x.refs[0].node, x.start) in phrases]
    # "green tea" as a whole says what "green" alone would say.
    whole = [x for x in links if x.kind == "entity" and x.match == "whole" and x.start < at and x.end == at + 1]
    out += [x for x in links if x.end <= at and any(w.start <= x.start and x.keys == w.keys for w in whole)]
    left = [x for x in links if x not in out]
    if _follows_sorting_word(question, at) and any(x.kind == "class" and x.start < at < x.end for x in left):
        # "kinds of cherries" asks for the categories of cherries.
        left = [x for x in left if x not in meant]
    return left


def _covers_only(link: Link, at: int) -> bool:
    return (link.start, link.end) == (at, at + 1)


def _is_ruled_out(link: Link, at: int, token: Token, meant: list[Link], graph: SchemaGraph) -> bool:
    """Whether a link takes a word for a class, or a phrase that ends in it, for something else.

    This holds for the "cherry" of "cherry sort" if cherries are things, for names that contain the word, and for the
    concepts below "sour cherry", which are not cherries.
    """
    best = max((x.score for x in meant), default=0.0)
    if not best:
        return False
    node = graph.nodes[link.refs[0].node]
    things = frozenset[str]().union(*(graph.nodes[x.refs[0].node].relations for x in meant))
    # A subclass of the things is what the question asks for.
    has_same_head = node.words[-1:] == (token.lemma,)
    is_only_concept = not node.relations & things and _has_concepts(node.index, graph)
    if _covers_only(link, at) and link.kind != "class":
        return link.match == "part" and token.text.islower()
    if _covers_only(link, at):
        return link.match == "partial" and link.score < best and (is_only_concept or not has_same_head)
    return link.kind == "class" and link.end == at + 1 and has_same_head and is_only_concept


def _has_concepts(node: int, graph: SchemaGraph) -> bool:
    """Whether the things of a node are concepts of a thesaurus."""
    return any(step.predicate.startswith(SKOS_NAMESPACE) for step in graph.steps[node])


def _follows_sorting_word(question: Question, at: int) -> bool:
    """Whether "kinds of" or "types of" stands before a word."""
    before = question.tokens[max(0, at - 2) : at]
    return len(before) == 2 and before[1].norm == "of" and before[0].lemma in word_list("wording", "sorting")
