"""Link names of languages and countries to their codes in the data: Question -> Links ("in French", of "fr")."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from nacre.language.base import load_language_data
from nacre.language.tokens import fold, tokenize
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.question.types import Link, Question, Ref, token_mask

# Words of the longest name that is looked up.
MAX_NAME_TOKENS = 4
CODES_FILE = "resources/codes.yaml"


class CodeLinker:
    """The names of the codes in a graph. It never changes after it is built."""

    def __init__(self, graph: SchemaGraph) -> None:
        self._values_of_name = _values_of_name(graph)

    def links(self, question: Question) -> Iterator[Link]:
        """The values whose complete names the question contains."""
        norms = [t.norm for t in question.tokens]
        for start in range(len(norms) if self._values_of_name else 0):
            for end in range(start + 1, min(len(norms), start + MAX_NAME_TOKENS) + 1):
                for ref, value in self._values_of_name.get(tuple(norms[start:end]), ()):
                    label = question.text[question.tokens[start].start : question.tokens[end - 1].end]
                    mask = token_mask(start, end)
                    yield Link(start, end, "value", (ref,), 1.0, mask, True, value, (), label, "whole")


def _values_of_name(graph: SchemaGraph) -> Mapping[tuple[str, ...], Sequence[tuple[Ref, str]]]:
    """The properties and values by the name of a code. Properties with other values than codes are left out."""
    found: dict[tuple[str, ...], list[tuple[Ref, str]]] = defaultdict(list)
    for kind, labels in _property_labels().items():
        for about in graph.schema.predicates:
            if not labels & set(graph.words[about.iri]) or not about.values:
                continue
            names = [_names()[kind].get(_main_code(value)) for value in about.values]
            if None in names:
                continue
            for value, name in zip(about.values, names, strict=True):
                found[name or ()] += [(Ref(node, about.iri), value) for node in graph.property_nodes(about.iri)]
    return dict(found)


def _main_code(value: str) -> str:
    """The part of a code before its region: "pt" of "pt-BR"."""
    return fold(value).partition("-")[0].partition("_")[0]


@cache
def _property_labels() -> Mapping[str, frozenset[str]]:
    """The words of labels of properties with codes, by kind of code."""
    return {kind: frozenset(each["called"]) for kind, each in load_language_data(CODES_FILE).items()}


@cache
def _names() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """The words of the name of each code, by kind of code."""
    return {
        kind: {fold(code): tuple(t.norm for t in tokenize(name)) for code, name in each["names"].items()}
        for kind, each in load_language_data(CODES_FILE).items()
    }
