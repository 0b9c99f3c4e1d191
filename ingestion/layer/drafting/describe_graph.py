"""Describe a graph for whoever drafts a layer: Facts -> a text for each class, with shapes, samples and one example."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ingestion.induce.names.column_names import namespace_word
from ingestion.layer.format.prefixes import known_prefixes
from ingestion.read.capsules import Facts, unique_counts
from ingestion.vocabulary import (
    COMMENT_PREDICATES,
    EMPTY_TYPES,
    LABEL,
    SCHEMA_PREDICATES,
    SCHEMA_TYPES,
    TYPE,
    local_name,
    name_rank,
)

SAMPLES, SAMPLE_LENGTH = 3, 60
# of one example: depth, lines, lines of one node
MAX_DEPTH, MAX_LINES, MAX_CHILDREN = 4, 30, 14
# members of a class that are examined
MAX_MEMBERS = 2000
MAX_COMMENT = 160


@dataclass(frozen=True)
class GraphText:
    """The prefixes of a graph, and a text for each class, the largest first."""

    prefixes: Mapping[str, str]
    classes: tuple[str, ...]


def describe_graph(facts: Facts) -> GraphText:
    """The classes of the data with their properties."""
    description = _Description(facts)
    return GraphText(description.prefixes, tuple(description.class_texts()))


class _Description:
    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._type = next((n for n in facts.predicates if facts.texts[n] == TYPE), -1)
        self._spaces = {iri: prefix for prefix, iri in known_prefixes().items()}
        self.prefixes: dict[str, str] = {}
        self._comments = {n for n in facts.predicates if facts.texts[n] in COMMENT_PREDICATES}
        self._named = {n for n in facts.predicates if name_rank(facts.texts[n]) is not None}

    def class_texts(self) -> Iterator[str]:
        facts = self._facts
        typed = np.flatnonzero(facts.predicate == self._type)
        classes, counts = unique_counts(facts.object[typed])
        order = sorted(
            zip(classes.tolist(), counts.tolist(), strict=True),
            key=lambda c: (facts.texts[c[0]] in EMPTY_TYPES, -c[1], facts.texts[c[0]]),
        )
        for number, count in order:
            if facts.texts[number] in SCHEMA_TYPES or facts.is_literal[number]:
                continue
            members = facts.subject[typed[facts.object[typed] == number]]
            yield "\n".join(self._class(number, count, members[:MAX_MEMBERS].tolist()))

    def _class(self, number: int, count: int, members: list[int]) -> Iterator[str]:
        about = self._about(number)
        yield f"CLASS {self._curie(self._facts.texts[number])} ({count} things){about}"
        subjects: Counter[int] = Counter()
        samples: dict[int, list[int]] = defaultdict(list)
        for member in members:
            seen = set()
            for row in self._rows(member):
                predicate, value = int(self._facts.predicate[row]), int(self._facts.object[row])
                if predicate == self._type:
                    continue
                seen.add(predicate)
                if len(samples[predicate]) < SAMPLES and value not in samples[predicate]:
                    samples[predicate].append(value)
            subjects.update(seen)
        for predicate, have in subjects.most_common():
            iri = self._facts.texts[predicate]
            if iri in SCHEMA_PREDICATES:
                continue
            values = " | ".join(self._value(value) for value in samples[predicate])
            share = "" if have == len(members) else f" {100 * have // len(members)} %"
            yield f"  {self._curie(iri)}{share}{self._about(predicate)}: {values}"
        example = max(members[:50], key=lambda m: len(self._rows(m)), default=None)
        if example is not None and any(self._is_node(v) for each in samples.values() for v in each):
            yield "  example:"
            lines = list(self._tree(example, 2, {example}))
            yield from lines[:MAX_LINES]

    def _tree(self, subject: int, depth: int, above: set[int]) -> Iterator[str]:
        facts = self._facts
        for row in list(self._rows(subject))[:MAX_CHILDREN]:
            predicate, value = int(facts.predicate[row]), int(facts.object[row])
            shown = "a" if predicate == self._type else self._curie(facts.texts[predicate])
            yield f"{'  ' * depth}{shown} {self._value(value)}"
            if self._is_node(value) and value not in above and depth < 2 + MAX_DEPTH:
                yield from self._tree(value, depth + 1, above | {value})

    def _is_node(self, number: int) -> bool:
        """Whether a value is described by triples of its own."""
        return not self._facts.is_literal[number] and len(self._rows(number)) > 0

    def _value(self, number: int) -> str:
        facts = self._facts
        kind, datatype, language = facts.sorts[int(facts.sort_of[number])]
        text = " ".join(facts.texts[number].split())
        if kind == "literal":
            tail = f"@{language}" if language else f" ({local_name(datatype)})" if datatype else ""
            short = text if len(text) <= SAMPLE_LENGTH else text[: SAMPLE_LENGTH - 3] + "..."
            return f'"{short}"{tail}'
        name = next(
            (facts.texts[int(facts.object[r])] for r in self._rows(number) if int(facts.predicate[r]) in self._named),
            "",
        )
        types = [
            self._facts.texts[int(facts.object[r])] for r in self._rows(number) if facts.predicate[r] == self._type
        ]
        types = [self._curie(iri) for iri in sorted(types, key=lambda iri: iri in EMPTY_TYPES)]
        shown = "[]" if kind == "blank" else self._curie(text)
        return f"{shown}{f' a {types[0]}' if types else ''}{f' {name[:SAMPLE_LENGTH]!r}' if name else ''}"

    def _about(self, number: int) -> str:
        """Label and comment of a class or property."""
        facts = self._facts
        labels = [
            facts.texts[int(facts.object[r])]
            for r in self._rows(number)
            if facts.texts[int(facts.predicate[r])] == LABEL
        ]
        comments = [
            facts.texts[int(facts.object[r])] for r in self._rows(number) if int(facts.predicate[r]) in self._comments
        ]
        shown = "; ".join(" ".join(text.split())[:MAX_COMMENT] for text in (*labels[:1], *comments[:1]))
        return f" ({shown})" if shown else ""

    def _rows(self, subject: int) -> range:
        low, high = self._facts.subject.searchsorted(np.array((subject, subject + 1), dtype=np.int32)).tolist()
        return range(low, high)

    def _curie(self, iri: str) -> str:
        cut = max(iri.rfind("#"), iri.rfind("/"), iri.rfind(":")) + 1
        space, local = iri[:cut], iri[cut:]
        if not local or not all(c.isalnum() or c in "_-." for c in local):
            return f"<{iri}>"
        if space not in self._spaces:
            base = word = namespace_word(iri) or "ns"
            number = 1
            while word in self._spaces.values():
                number += 1
                word = f"{base}{number}"
            self._spaces[space] = word
        self.prefixes[self._spaces[space]] = space
        return f"{self._spaces[space]}:{local}"
