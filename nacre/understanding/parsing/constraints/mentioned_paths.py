"""Which of several ways between things the question speaks of: Body + links + Question -> how many of its links."""

from collections.abc import Sequence

from nacre.language.base import language
from nacre.language.forms.nouns import wording_entry
from nacre.language.thesaurus import function_words
from nacre.records.plan import Body, Select
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.question.types import Link, Question


def mentioned_words(links: Sequence[Link], question: Question, graph: SchemaGraph) -> frozenset[str]:
    """The words of a question and of the properties that it names, but for those that say little."""
    named = {word for x in links for ref in x.refs[:1] if ref.predicate for word in graph.words[ref.predicate]}
    names = 0
    for link in links:
        names |= link.covered if link.kind in ("entity", "value") else 0
    asked = {t.lemma for i, t in enumerate(question.tokens) if i not in question.stopwords and not names >> i & 1}
    return frozenset((named | asked) - language().words["generic"] - function_words())


def count_mentioned_edges(body: Body, said: frozenset[str], graph: SchemaGraph) -> int:
    """How many links of a plan have a name with a word that was said: the place of birth, and not of death, where
    somebody was born. A word that names what stands at one of its ends says nothing of a link alone: the site of the
    "site manager"."""
    if not isinstance(body, Select):
        return 0
    kinds = {v.name: v.classes for v in body.variables}
    found = 0
    for edge in body.edges:
        words = graph.words[edge.predicate]
        ends = [c for c in (*kinds[edge.subject], *kinds[edge.object]) if c in graph.node_of_class]
        own = {word for c in ends for word in graph.nodes[graph.node_of_class[c]].words}
        told = [word for word in words if _says(word, said)]
        found += bool(told) and (len(told) == len(words) or not own.issuperset(told))
    return found


def _says(word: str, said: frozenset[str]) -> bool:
    """Whether a word was said, or is the noun for who does what was: "borrower" where somebody borrows."""
    return word in said or (word[-2:] in wording_entry("agents") and (word[:-2] in said or word[:-1] in said))
