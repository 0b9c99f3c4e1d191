"""Which links of a plan the question names: Candidates + Question -> those that follow the most of them."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from nacre.language.base import language, word_list
from nacre.language.thesaurus import function_words
from nacre.plans.inspect_select import predicates_of
from nacre.records.plan import Edge, Select
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.parsing.state import Candidate, ParseContext
from nacre.understanding.question.types import Link, Question


def prefer_named_links(candidates: list[Candidate], context: ParseContext) -> list[Candidate]:
    """Drop the readings that leave a named link out or follow one without a name, where another reading that asks the
    same of the same names does not.

    What a workshop "is owned by" is not what somebody works in.
    """
    question, graph = context.question, context.graph
    rivals: dict[object, list[tuple[int, _Losses]]] = defaultdict(list)
    keyed = [(each, _asked(each, graph), _losses(each, question, graph)) for each in candidates]
    for each, asked, losses in keyed:
        rivals[asked].append((each.derivation.covered, losses))
    return [
        each
        for each, asked, losses in keyed
        if not any(
            other.is_less(losses) and each.derivation.covered & ~covered == 0 for covered, other in rivals[asked]
        )
    ]


class _Losses(NamedTuple):
    """How many links a reading names without following them, how many it follows unnamed, and how many in all."""

    unfollowed: int
    unnamed: int
    edges: int

    def is_less(self, other: "_Losses") -> bool:
        """Whether a reading follows more of what is named, over no more unnamed links."""
        if self.unfollowed < other.unfollowed:
            return self.unnamed <= other.unnamed
        return self.unfollowed == other.unfollowed and self.unnamed < other.unnamed and self.edges <= other.edges


def _asked(candidate: Candidate, graph: SchemaGraph) -> object:
    """What a reading asks for, and the words that it takes for names, values and classes."""
    d = candidate.derivation
    names = (link for link in d.links if link.kind != "property" and not named_predicates(link, graph))
    targets = tuple((target.function, target.ref.node, target.ref.predicate) for target in d.targets)
    spans = frozenset((link.start, link.end, link.kind) for link in names)
    return targets, spans, d.combine, len(d.group), d.order is None, len(d.conditions), candidate.body.kind


def _losses(candidate: Candidate, question: Question, graph: SchemaGraph) -> _Losses:
    body, links = candidate.body, candidate.derivation.links
    if not isinstance(body, Select):
        return _Losses(0, 0, 0)
    followed = predicates_of(body)
    # a part of a name ("values" of "value type") does not say which link is meant
    whole = [link for link in links if link.kind != "property" or not link.match.endswith("partial")]
    sure = (link for link in whole if not link.match.endswith(("like", "partial")))
    named = [predicates for link in sure if (predicates := named_predicates(link, graph))]
    unnamed = len(body.edges) - len(named_edges(body, whole, question, graph))
    return _Losses(sum(not predicates & followed for predicates in named), unnamed, len(body.edges))


def named_predicates(link: Link, graph: SchemaGraph) -> set[str]:
    """The links between things that a mention names, also where it stands for the things that they lead to."""
    if link.kind == "class":
        return {predicate for (_, predicate), node in graph.mixed_target.items() if node == link.refs[0].node}
    return {ref.via for ref in link.refs if ref.via} if link.kind == "property" else set()


def named_edges(body: Select, links: Sequence[Link], question: Question, graph: SchemaGraph) -> list[Edge]:
    """The links of a plan that words of the question name, each as often as it is named.

    The place of birth is meant where somebody was born, and not the place of death.
    """
    left = Counter(predicate for link in links for predicate in _first_predicates(link, graph))
    words = _mentioned_words(links, question, graph)
    found: dict[str, list[Edge]] = {}
    for edge in body.edges:
        same = found.setdefault(edge.predicate, [])
        if len(same) < max(left[edge.predicate], int(_is_mentioned_edge(edge, body, words, graph))):
            same.append(edge)
    return [edge for same in found.values() for edge in same]


def _first_predicates(link: Link, graph: SchemaGraph) -> set[str]:
    first = link.refs[0].predicate if link.kind == "property" else ""
    return {first} if first else named_predicates(link, graph)


def _mentioned_words(links: Sequence[Link], question: Question, graph: SchemaGraph) -> frozenset[str]:
    """The words of a question and of the properties that it names, without generic words and names."""
    names = 0
    for link in links:
        names |= link.covered if link.kind in ("entity", "value") else 0
    said = {t.lemma for i, t in enumerate(question.tokens) if i not in question.stopwords and not names >> i & 1}
    properties = {ref.predicate for link in links for ref in link.refs[:1] if ref.predicate}
    said.update(word for predicate in properties for word in graph.words[predicate])
    return frozenset(said - language().words["generic"] - function_words())


def _is_mentioned_edge(edge: Edge, body: Select, mentioned: frozenset[str], graph: SchemaGraph) -> bool:
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
    is_agent = word[-2:] in word_list("wording", "agents")
    return word in mentioned or (is_agent and (word[:-2] in mentioned or word[:-1] in mentioned))
