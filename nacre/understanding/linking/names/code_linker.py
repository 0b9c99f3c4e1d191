"""Names of languages and countries where the data has their codes: Question -> Links ("in French", of "fr")."""

from collections import defaultdict
from collections.abc import Iterator
from functools import cache

from nacre.language.base import load_language_data
from nacre.language.tokens import fold, tokenize
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.question.types import Link, Question, Ref

# words of the longest name that is looked for
MAX_NAME_TOKENS = 4


class CodeLinker:
    """What the codes of a graph stand for; built once a version, then only read."""

    def __init__(self, graph: SchemaGraph) -> None:
        self.known: dict[tuple[str, ...], list[tuple[Ref, str]]] = defaultdict(list)
        for kind, called in _called().items():
            for about in graph.schema.predicates:
                if not called & set(graph.words[about.iri]) or not about.values:
                    continue
                names = [_names()[kind].get(_code(value)) for value in about.values]
                if None in names:
                    continue
                for value, name in zip(about.values, names, strict=True):
                    self.known[name or ()] += [
                        (Ref(node, about.iri), value) for node in graph.property_nodes(about.iri)
                    ]

    def links(self, question: Question) -> Iterator[Link]:
        """The values whose names stretches of the question say in full."""
        norms = [t.norm for t in question.tokens]
        for start in range(len(norms) if self.known else 0):
            for end in range(start + 1, min(len(norms), start + MAX_NAME_TOKENS) + 1):
                for ref, value in self.known.get(tuple(norms[start:end]), ()):
                    covered = (1 << end) - (1 << start)
                    label = question.text[question.tokens[start].start : question.tokens[end - 1].end]
                    yield Link(start, end, "value", (ref,), 1.0, covered, True, value, (), label, "whole")


def _code(value: str) -> str:
    """The part of a code that says which it is: of "pt-BR" the language."""
    return fold(value).partition("-")[0].partition("_")[0]


@cache
def _called() -> dict[str, frozenset[str]]:
    return {kind: frozenset(each["called"]) for kind, each in load_language_data("resources/codes.yaml").items()}


@cache
def _names() -> dict[str, dict[str, tuple[str, ...]]]:
    """The words of the name of each code, by kind."""
    return {
        kind: {fold(code): tuple(t.norm for t in tokenize(name)) for code, name in each["names"].items()}
        for kind, each in load_language_data("resources/codes.yaml").items()
    }
