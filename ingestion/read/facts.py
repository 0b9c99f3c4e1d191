"""All triples of a graph in memory: terms and integer arrays -> Facts, grouped by subject.
Blank nodes are labelled by the content of their facts, so that equal graphs get equal labels."""

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

import numpy as np

from nacre.records.evidence import Term, TermKind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int32]
    Integer = TypeVar("Integer", bound=np.integer[Any])

TermSort = tuple[TermKind, str, str]

OmissionKind = Literal["statement", "file", "not RDF"]


class Omission(NamedTuple):
    """One omission. `line` is 0 if it is unknown or the whole file is meant; `statements` counts merged omissions."""

    kind: OmissionKind
    file: str
    line: int = 0
    text: str = ""
    reason: str = ""
    statements: int = 1

    @property
    def words(self) -> str:
        """One line of text for the user."""
        line = f", line {self.line}" if self.line else ""
        text = f": {self.text}" if self.text else ""
        more = f" ({self.statements} statements)" if self.statements > 1 else ""
        return f"{self.file}{line}{text}: {self.reason}{more}"


@dataclass(frozen=True)
class Omissions:
    """`listed` has the first omissions of each kind; `statements`, `files`, `other_files` (not RDF) count all."""

    listed: tuple[Omission, ...] = ()
    statements: int = 0
    files: int = 0
    other_files: int = 0


NO_OMISSIONS = Omissions()


@dataclass(eq=False, repr=False)
class Facts:
    """All distinct triples of a graph. A term is a number: `texts[t]` is its IRI, blank label or lexical form,
    `sorts[sort_of[t]]` its kind, datatype and language. `subject`, `predicate`, `object`, `graph` are parallel arrays,
    sorted by the first three. `graph` is None if all triples are in the default graph, which otherwise is term 0, the
    empty IRI. `omitted` is what the files contain besides."""

    texts: list[str]
    sorts: list[TermSort]
    sort_of: "NDArray[np.int32]"
    subject: "Ints"
    predicate: "Ints"
    object: "Ints"
    graph: "Ints | None"
    omitted: Omissions = NO_OMISSIONS
    # set by ingestion.meaning: derived rows, hidden rows by reason, classes that are things of the graph themselves,
    # pairs of a thing and a class it is a member of without being typed, codes by property and value, and the places of
    # members in lists, by the thing that has the list and the member
    derived: "NDArray[np.bool_] | None" = None
    aside: "dict[str, NDArray[np.intp]]" = field(default_factory=dict)
    things: "Ints | None" = None
    memberships: "Ints | None" = None
    codes: dict[int, dict[int, set[int]]] = field(default_factory=dict)
    places: dict[tuple[int, int], int] = field(default_factory=dict)
    # languages of labels that a semantic layer prefers, the first one first
    languages: tuple[str, ...] = ()
    # what was not derived because it would have been too much
    limits: tuple[str, ...] = ()

    @property
    def triples(self) -> int:
        """The number of distinct triples that were read; a triple in two named graphs counts twice."""
        return len(self.subject) - (0 if self.derived is None else int(self.derived.sum()))

    def with_texts(self, texts: Mapping[int, str]) -> "Facts":
        """The same facts with other texts for some terms."""
        if not texts:
            return self
        renamed = [texts.get(number, text) for number, text in enumerate(self.texts)]
        return replace(self, texts=renamed)

    def term(self, number: int) -> Term:
        """The term with this number."""
        kind, datatype, language = self.sorts[int(self.sort_of[number])]
        return Term(kind, self.texts[number], datatype, language)

    def kinds(self, kind: TermKind) -> "NDArray[np.bool_]":
        """For each term whether it is of this kind."""
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


IRI: TermSort = ("iri", "", "")

BLANK: TermSort = ("blank", "", "")

STRING: TermSort = ("literal", "", "")


class TripleCollector:
    """Collects terms (a text and a sort each) and triples; `facts()` sorts the triples and drops duplicates. `rows` has
    the numbers of all statements in order, by their size: without and with a graph."""

    def __init__(self) -> None:
        self.texts: list[str] = [""]
        self.sort_of = array("i", [0])
        self.sorts: dict[TermSort, int] = {IRI: 0, BLANK: 1, STRING: 2}
        self.rows = {3: array("I"), 4: array("I")}

    def number(self, sort: TermSort) -> int:
        """The number of a sort in `sort_of`."""
        return self.sorts.setdefault(sort, len(self.sorts))

    def __bool__(self) -> bool:
        return any(self.rows.values())

    def add(self, numbers: "array[int]", size: int) -> None:
        """Add statements: the numbers of three terms each, or of four with the graph."""
        if self.rows[size]:
            self.rows[size].extend(numbers)
        else:
            self.rows[size] = numbers

    def facts(self, omitted: Omissions = NO_OMISSIONS) -> Facts:
        """The finished facts; the collector can't be used afterwards."""
        triples, quads = (np.frombuffer(self.rows.pop(n) or b"", np.int32).reshape(-1, n) for n in (3, 4))
        named = bool(quads[:, 3].any())
        # not copied if there are only triples
        columns = [np.concatenate((triples[:, n], quads[:, n])) if len(quads) else triples[:, n] for n in range(3)]
        if named:
            columns.append(np.concatenate((np.zeros(len(triples), dtype=np.int32), quads[:, 3])))
        del triples, quads
        subject, predicate, target, *graph = _sort_rows(columns, len(self.texts))
        sort_of, graphs = np.array(self.sort_of, dtype=np.int32), graph[0] if named else None
        return Facts(self.texts, list(self.sorts), sort_of, subject, predicate, target, graphs, omitted)


def unique_counts(numbers: "NDArray[Integer]") -> "tuple[NDArray[Integer], NDArray[np.int64]]":
    """The distinct numbers in order, and the count of each."""
    if not len(numbers):
        return numbers, np.zeros(0, dtype=np.int64)
    ordered = np.sort(numbers)
    edges = np.concatenate((change_mask(ordered), (True,))).nonzero()[0]
    return ordered[edges[:-1]], edges[1:] - edges[:-1]


def change_mask(numbers: "NDArray[Integer]") -> "NDArray[np.bool_]":
    """For each number whether it differs from the previous one; True for the first."""
    found = np.empty(len(numbers), dtype=bool)
    found[:1] = True
    np.not_equal(numbers[1:], numbers[:-1], out=found[1:])
    return found


def _sort_rows(columns: "list[Ints]", terms: int) -> "list[Ints]":
    """Rows sorted by their columns, without duplicates; `columns` is empty afterwards, which frees their memory."""
    # a graph has few predicates, so their places among each other take fewer bits than their numbers
    used = np.flatnonzero(np.bincount(columns[1], minlength=1)).astype(np.int32)
    bits = max(terms, 1).bit_length()
    widths = [bits, len(used).bit_length(), *([bits] * (len(columns) - 2))]
    if sum(widths) > 63:
        order = np.lexsort(tuple(reversed(columns)))
        columns = [column[order] for column in columns]
        new = np.zeros(len(order), dtype=bool)
        for column in columns:
            new |= change_mask(column)
        return columns if new.all() else [column[new] for column in columns]
    # sorting one integer for each row is several times faster than sorting rows
    places = np.zeros(terms + 1, dtype=np.int32)
    places[used] = np.arange(len(used), dtype=np.int32)
    columns[1] = places[columns[1]]
    keys = np.zeros(len(columns[0]), dtype=np.int64)
    for width in widths:
        keys <<= width
        keys |= columns.pop(0)
    keys.sort()
    new = change_mask(keys)
    if not new.all():
        keys = keys[new]
    found: list[Ints] = []
    for width in reversed(widths):
        found.insert(0, (keys & ((1 << width) - 1)).astype(np.int32))
        keys >>= width
    found[1] = used[found[1]]
    return found


# each round includes facts one link further away; nodes that are still equal are numbered in the order of the file
ROUNDS = 5

LENGTH = 8  # bytes that encode the length of a text

MAX_UNHASHED = 128  # bytes of a term that is used as it is, since hashing it would take longer


def blank_node_labels(facts: Facts) -> dict[int, str]:
    """A label for each blank node: a hash of its facts and its neighbours' hashes, computed in bounded time."""
    blank = facts.kinds("blank")
    if not blank.any():
        return {}
    rows = np.flatnonzero(blank[facts.subject] | blank[facts.object])
    columns = [column[rows] for column in (facts.subject, facts.predicate, facts.object)]
    hashes = [(p, _hash(facts.texts[p].encode())) for p in np.unique(columns[1]).tolist()]
    out, back = ({p: way + name for p, name in hashes} for way in (b">", b"<"))
    edges = list(zip(*(column.tolist() for column in columns), strict=True))
    nodes = np.flatnonzero(blank).tolist()
    # stored as they are hashed in the next round, with their lengths in front
    names = dict.fromkeys(nodes, _with_length(b""))
    ends = np.unique(np.concatenate((columns[0], columns[2])))
    known = _term_bytes(facts, ends[~blank[ends]])
    distinct = 1
    for _ in range(ROUNDS):
        known.update(names)
        seen: dict[int, list[bytes]] = {node: [] for node in nodes}
        for s, p, o in edges:
            if s in seen:
                seen[s].append(out[p] + known[o])
            if o in seen:
                seen[o].append(back[p] + known[s])
        names = {node: _hash(known[node] + b"".join(sorted(around))) for node, around in seen.items()}
        now = len(set(names.values()))
        if now == distinct or now == len(nodes):
            break
        distinct = now
    count: Counter[bytes] = Counter()
    labels = {}
    for node in nodes:
        name = names[node][LENGTH:]
        count[name] += 1
        labels[node] = f"_:b{name.hex()}" if count[name] == 1 else f"_:b{name.hex()}x{count[name]}"
    return labels


def _term_bytes(facts: Facts, numbers: "NDArray[np.int32]") -> dict[int, bytes]:
    """The input of hashes for IRIs and literals, by number: kind, datatype, language and text (hashed if long)."""
    sorts = [_with_length("\0".join(sort).encode()) for sort in facts.sorts]
    found = {}
    for number, sort in zip(numbers.tolist(), facts.sort_of[numbers].tolist(), strict=True):
        content = sorts[sort] + facts.texts[number].encode(errors="surrogatepass")
        found[number] = _with_length(content) if len(content) <= MAX_UNHASHED else _hash(content)
    return found


def _hash(data: bytes) -> bytes:
    return _HASH_LENGTH + blake2b(data, digest_size=8).digest()


def _with_length(text: bytes) -> bytes:
    return len(text).to_bytes(LENGTH, "big") + text


_HASH_LENGTH = (8).to_bytes(LENGTH, "big")

MAX_LISTED_OMISSIONS = 1000


def count_omissions(found: Iterable[Omission]) -> Omissions:
    """Count omissions, and list the first `MAX_LISTED_OMISSIONS` of each kind.

    >>> count_omissions([Omission("statement", "a.nt", 3, "x", "no triple", 2)]).statements
    2
    """
    counts: dict[OmissionKind, int] = {"statement": 0, "file": 0, "not RDF": 0}
    listed: dict[OmissionKind, list[Omission]] = {kind: [] for kind in counts}
    for each in found:
        counts[each.kind] += each.statements
        if len(listed[each.kind]) < MAX_LISTED_OMISSIONS:
            listed[each.kind].append(each)
    every = tuple(each for kind in listed.values() for each in kind)
    return Omissions(every, counts["statement"], counts["file"], counts["not RDF"])
