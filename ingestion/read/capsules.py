"""Compact storage of all triples in memory: terms and integer arrays -> facts, grouped by subject."""

from array import array
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from ingestion.read.omissions import NO_OMISSIONS, Omissions
from nacre.records.facts import Capsule, Fact, Term, TermKind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int32]
    Integer = TypeVar("Integer", bound=np.integer[Any])

TermSort = tuple[TermKind, str, str]


class Facts:
    """All distinct triples of a graph.

    A term is a number: `texts[t]` is its IRI, blank label or lexical form, `sorts[sort_of[t]]` its kind, datatype and
    language. `subject`, `predicate`, `object`, `graph` are parallel arrays, sorted by subject, predicate, object.
    `graph` is None if all triples are in the default graph; otherwise term 0, the empty IRI, is the default graph.
    `omitted` is what the files contain besides these triples.
    """

    def __init__(
        self,
        texts: list[str],
        sorts: list[TermSort],
        sort_of: "NDArray[np.int32]",
        subject: "Ints",
        predicate: "Ints",
        object: "Ints",
        graph: "Ints | None",
        omitted: Omissions = NO_OMISSIONS,
    ) -> None:
        self.texts = texts
        self.sorts = sorts
        self.sort_of = sort_of
        self.subject = subject
        self.predicate = predicate
        self.object = object
        self.graph = graph
        self.omitted = omitted
        # set by ingestion.meaning: derived rows, hidden rows by reason, classes that are things of the graph
        # themselves, pairs of a thing and a class it is a member of without being typed, and codes by property and
        # value
        self.derived: NDArray[np.bool_] | None = None
        self.aside: dict[str, NDArray[np.intp]] = {}
        self.things: Ints | None = None
        self.memberships: Ints | None = None
        self.codes: dict[int, dict[int, set[int]]] = {}
        # languages of labels that a semantic layer prefers, the first one first
        self.languages: tuple[str, ...] = ()
        # what was not derived because it would have been too much
        self.limits: tuple[str, ...] = ()

    @property
    def triples(self) -> int:
        """The number of distinct triples that were read; a triple in two named graphs counts twice."""
        return len(self.subject) - (0 if self.derived is None else int(self.derived.sum()))

    def with_texts(self, texts: Mapping[int, str]) -> "Facts":
        """The same facts with other texts for some terms."""
        if not texts:
            return self
        renamed = [texts.get(number, text) for number, text in enumerate(self.texts)]
        columns = (self.subject, self.predicate, self.object)
        return Facts(renamed, self.sorts, self.sort_of, *columns, self.graph, self.omitted)

    def term(self, number: int) -> Term:
        """The term with this number."""
        kind, datatype, language = self.sorts[int(self.sort_of[number])]
        return Term(kind, self.texts[number], datatype, language)

    def kinds(self, kind: TermKind) -> "NDArray[np.bool_]":
        """For each term whether it is of this kind."""
        import numpy as np

        flags = np.array([sort[0] == kind for sort in self.sorts], dtype=bool)
        return flags[self.sort_of]

    @cached_property
    def predicates(self) -> list[int]:
        """All terms that are predicates, in order."""
        predicates: list[int] = unique_counts(self.predicate)[0].tolist()
        return predicates

    @cached_property
    def is_literal(self) -> "NDArray[np.bool_]":
        return self.kinds("literal")

    def capsules(self) -> Iterator[Capsule]:
        """The facts of each subject, subjects and facts in the order of their texts."""
        import numpy as np

        starts = np.flatnonzero(change_mask(self.subject))
        ends = np.append(starts[1:], len(self.subject))
        texts, subject = self.texts, self.subject
        order = sorted(range(len(starts)), key=lambda i: texts[subject[starts[i]]])
        for i in order:
            start, end = int(starts[i]), int(ends[i])
            facts = [
                Fact(
                    texts[self.predicate[row]],
                    self.term(self.object[row]),
                    "" if self.graph is None else texts[self.graph[row]],
                )
                for row in range(start, end)
            ]
            facts.sort()
            yield Capsule(self.term(subject[start]), tuple(facts))


IRI: TermSort = ("iri", "", "")
BLANK: TermSort = ("blank", "", "")
STRING: TermSort = ("literal", "", "")


class TripleCollector:
    """Collects terms (a text in `texts` and a sort in `sort_of` each) and triples. `facts()` sorts the triples and
    drops duplicates."""

    def __init__(self) -> None:
        self.texts: list[str] = [""]
        self.sort_of = array("i", [0])
        self._sorts: dict[TermSort, int] = {IRI: 0, BLANK: 1, STRING: 2}
        # the numbers of all statements in order: without and with a graph
        self._triples, self._quads = array("I"), array("I")

    def number(self, sort: TermSort) -> int:
        """The number of a sort in `sort_of`."""
        return self._sorts.setdefault(sort, len(self._sorts))

    def __bool__(self) -> bool:
        return bool(self._triples or self._quads)

    def add(self, numbers: "array[int]", size: int) -> None:
        """Add statements: the numbers of three terms each, or of four with the graph."""
        rows = self._quads if size == 4 else self._triples
        rows.extend(numbers)

    def facts(self, omitted: Omissions = NO_OMISSIONS) -> Facts:
        """The finished facts; the collector is empty afterwards."""
        import numpy as np

        triples, quads = _rows(self._triples, 3), _rows(self._quads, 4)
        self._triples, self._quads = array("I"), array("I")
        named = bool(quads[:, 3].any())
        columns = [np.concatenate((triples[:, n], quads[:, n])) for n in range(3)]
        if named:
            columns.append(np.concatenate((np.zeros(len(triples), dtype=np.int32), quads[:, 3])))
        del triples, quads
        arrays = _sort_rows(columns, len(self.texts))
        return Facts(
            self.texts,
            list(self._sorts),
            np.array(self.sort_of, dtype=np.int32),
            arrays[0],
            arrays[1],
            arrays[2],
            arrays[3] if named else None,
            omitted,
        )


def unique_counts(numbers: "NDArray[Integer]") -> "tuple[NDArray[Integer], NDArray[np.int64]]":
    """The distinct numbers in order, and the count of each."""
    import numpy as np

    if not len(numbers):
        return numbers, np.zeros(0, dtype=np.int64)
    ordered = np.sort(numbers)
    edges = np.concatenate((change_mask(ordered), (True,))).nonzero()[0]
    return ordered[edges[:-1]], edges[1:] - edges[:-1]


def change_mask(numbers: "NDArray[Integer]") -> "NDArray[np.bool_]":
    """For each number whether it differs from the previous one; True for the first."""
    import numpy as np

    found = np.empty(len(numbers), dtype=bool)
    found[:1] = True
    np.not_equal(numbers[1:], numbers[:-1], out=found[1:])
    return found


def _rows(numbers: "array[int]", size: int) -> "Ints":
    import numpy as np

    return np.frombuffer(numbers if numbers else b"", dtype=np.int32).reshape(-1, size)


def _sort_rows(columns: "list[Ints]", terms: int) -> "list[Ints]":
    """Rows sorted by their columns, without duplicates."""
    import numpy as np

    bits = max(terms, 1).bit_length()
    if len(columns) * bits > 63:
        order = np.lexsort(tuple(reversed(columns)))
        columns = [column[order] for column in columns]
        new = np.zeros(len(order), dtype=bool)
        for column in columns:
            new |= change_mask(column)
        return columns if new.all() else [column[new] for column in columns]
    # sorting one integer for each row is several times faster than sorting rows
    keys = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        keys <<= bits
        keys |= column
    keys.sort()
    new = change_mask(keys)
    if not new.all():
        keys = keys[new]
    found = []
    for _ in columns:
        found.append((keys & ((1 << bits) - 1)).astype(np.int32))
        keys >>= bits
    return found[::-1]
