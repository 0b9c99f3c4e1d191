"""Count the links of a plan that the question mentions: Body + words -> int (to choose between paths)."""

from collections.abc import Sequence

from nacre.language.base import language
from nacre.language.forms.nouns import wording_entry
from nacre.language.thesaurus import function_words
from nacre.records.plan import Body, Edge, Select
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.question.types import Link, Question


def mentioned_words(links: Sequence[Link], question: Question, graph: SchemaGraph) -> frozenset[str]:
    """Return the words of a question and of the properties that it names, without generic words and names."""
    properties = {ref.predicate for link in links for ref in link.refs[:1] if ref.predicate}
    named = {word for predicate in properties for word in graph.words[predicate]}
    return words_outside_names(links, question) | (named - language().words["generic"] - function_words())


def words_outside_names(links: Sequence[Link], question: Question) -> frozenset[str]:
    """Return the words of a question without generic words and names."""
    names = 0
    for link in links:
        names |= link.covered if link.kind in ("entity", "value") else 0
    said = {
        token.lemma for i, token in enumerate(question.tokens) if i not in question.stopwords and not names >> i & 1
    }
    return frozenset(said - language().words["generic"] - function_words())


def count_mentioned_edges(body: Body, mentioned: frozenset[str], graph: SchemaGraph) -> int:
    """Return how many links of a plan have a mentioned word in their name.

    The place of birth is meant where somebody was born, and not the place of death.
    """
    if not isinstance(body, Select):
        return 0
    return sum(is_mentioned_edge(edge, body, mentioned, graph) for edge in body.edges)


def is_mentioned_edge(edge: Edge, body: Select, mentioned: frozenset[str], graph: SchemaGraph) -> bool:
    """Whether a link of a plan has a mentioned word in its name.

    A word that only names a class at one of the ends does not count: "site" of a "site manager" does not mention the
    site.
    """
    ends = (variable for variable in body.variables if variable.name in (edge.subject, edge.object))
    classes = [each for variable in ends for each in variable.classes if each in graph.node_of_class]
    words = graph.words[edge.predicate]
    found = [word for word in words if _is_mentioned(word, mentioned)]
    class_words = {word for each in classes for word in graph.nodes[graph.node_of_class[each]].words}
    return bool(found) and (len(found) == len(words) or not class_words.issuperset(found))


def _is_mentioned(word: str, mentioned: frozenset[str]) -> bool:
    """Whether a word is mentioned, or is the agent noun of a mentioned verb: "borrower" where somebody borrows."""
    is_agent = word[-2:] in wording_entry("agents")
    return word in mentioned or (is_agent and (word[:-2] in mentioned or word[:-1] in mentioned))
