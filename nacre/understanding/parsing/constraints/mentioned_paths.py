"""Count the links of a plan that the question mentions: Body + words -> int (to choose between paths)."""

from collections.abc import Sequence

from nacre.language.base import language
from nacre.language.forms.nouns import wording_entry
from nacre.language.thesaurus import function_words
from nacre.records.plan import Body, Select
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.question.types import Link, Question


def mentioned_words(links: Sequence[Link], question: Question, graph: SchemaGraph) -> frozenset[str]:
    """Return the words of a question and of the properties that it names, without generic words and names."""
    properties = {ref.predicate for link in links for ref in link.refs[:1] if ref.predicate}
    named = {word for predicate in properties for word in graph.words[predicate]}
    names = 0
    for link in links:
        names |= link.covered if link.kind in ("entity", "value") else 0
    said = {
        token.lemma for i, token in enumerate(question.tokens) if i not in question.stopwords and not names >> i & 1
    }
    return frozenset((named | said) - language().words["generic"] - function_words())


def count_mentioned_edges(body: Body, mentioned: frozenset[str], graph: SchemaGraph) -> int:
    """Return how many links of a plan have a mentioned word in their name.

    The place of birth is meant where somebody was born, and not the place of death. A word that only names a class at
    one of the ends does not count: "site" of a "site manager" does not mention the site.
    """
    if not isinstance(body, Select):
        return 0
    classes = {variable.name: variable.classes for variable in body.variables}
    count = 0
    for edge in body.edges:
        words = graph.words[edge.predicate]
        ends = [each for each in (*classes[edge.subject], *classes[edge.object]) if each in graph.node_of_class]
        class_words = {word for each in ends for word in graph.nodes[graph.node_of_class[each]].words}
        found = [word for word in words if _is_mentioned(word, mentioned)]
        count += bool(found) and (len(found) == len(words) or not class_words.issuperset(found))
    return count


def _is_mentioned(word: str, mentioned: frozenset[str]) -> bool:
    """Whether a word is mentioned, or is the agent noun of a mentioned verb: "borrower" where somebody borrows."""
    is_agent = word[-2:] in wording_entry("agents")
    return word in mentioned or (is_agent and (word[:-2] in mentioned or word[:-1] in mentioned))
