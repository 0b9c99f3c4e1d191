"""Propose links of columns to things of the graph that a table is added to: texts and their triples -> links.

A column refers to a class if its texts name things of this class, each of them one, and its heading names the class or
nearly all texts do. RDF files and earlier tables of the graph are read before; nothing is searched without tables.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from ingestion.induce.names import lowercase_name
from ingestion.read.facts import IRI, TripleCollector
from ingestion.vocabulary import (
    EMPTY_TYPES,
    NOTATION,
    SCHEMA_TYPES,
    TYPE,
    is_other_name,
    language_rank,
    local_name,
    member_name,
    name_rank,
)
from nacre.extensions.spreadsheets.links import (
    FoundLink,
    SheetColumn,
    SheetTable,
    are_numbers,
    has_key_word,
    without_key,
    words_of,
)
from nacre.language.tokens import fold, unquoted
from nacre.language.word_forms import plural, singular

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int32]

# the least share of different texts that name things of a class, and their number; the share if the heading names it;
# letters of a word, and those that an inflected form has more (given)
MIN_SHARE, MIN_TEXTS, MIN_CALLED_SHARE, MIN_STEM, MAX_ENDING = 0.95, 3, 0.8, 3, 2

# what texts may be of things, the best first
WAYS = ("name", "code", "IRI")

GUESS = (
    "That is a guess by what things of the graph are called. A column stays text if its metadata (CSV on the Web) "
    "state the datatype string, or if that is selected on the page before the table is read."
)


def graph_links(
    columns: Sequence[tuple[SheetTable, SheetColumn]], collector: TripleCollector, without: Collection[str]
) -> list[FoundLink | None]:
    """The links of columns of tables to things that were read before, but for those of the classes in `without`."""
    if not columns or not collector:
        return [None] * len(columns)
    return GraphThings(collector, without).links(columns)


def folded(text: str) -> str:
    """A text without case, accents and doubled blanks.

    >>> folded(" Édith  Lamb")
    'edith lamb'
    """
    return " ".join(fold(text).split())


class GraphThings:
    """The things that were read before the tables, by what they are called. Classes in `without` are left out."""

    def __init__(self, collector: TripleCollector, without: Collection[str]) -> None:
        self._texts, self._sorts = collector.texts, list(collector.sorts)
        self._sort_of = np.array(collector.sort_of, dtype=np.int32)
        # copied, since an array can't grow while its memory is used
        rows = [np.array(collector.rows[size], dtype=np.int32).reshape(-1, size)[:, :3] for size in (3, 4)]
        self._subject, self._predicate, self._object = np.concatenate(rows).T
        left_out = {*SCHEMA_TYPES, *EMPTY_TYPES, *without}
        is_iri = self._sort_of == collector.number(IRI)
        types = self._rows(lambda iri: iri == TYPE)
        classes = [n for n in np.unique(self._object[types]).tolist() if is_iri[n] and self._texts[n] not in left_out]
        types = types[np.isin(self._object[types], classes) & is_iri[self._subject[types]]]
        pairs = np.unique(np.stack((self._subject[types], self._object[types]), axis=1), axis=0)
        self._things, self._classes = pairs.T
        self._sizes = np.bincount(self._classes, minlength=1)
        self._rows_by_way = {
            "name": self._rows(lambda iri: name_rank(iri) is not None or is_other_name(iri)),
            "code": self._rows(lambda iri: iri == NOTATION or has_key_word(unquoted(member_name(iri)))),
        }
        self._labels: defaultdict[int, list[tuple[str, str]]] = defaultdict(list)
        for class_, text in self._named_rows("name", np.unique(self._classes)):
            self._labels[class_].append((self._texts[text], self._sorts[self._sort_of[text]][2]))
        for class_ in classes:
            # a class without a label is called as its IRI ends
            self._labels[class_] = self._labels[class_] or [(lowercase_name(_end(self._texts[class_])), "")]

    def links(self, columns: Sequence[tuple[SheetTable, SheetColumn]]) -> list[FoundLink | None]:
        """The link of each column of some tables, if it has one."""
        # other columns have values rather than names or keys
        able = [column.type.name == "text" or has_key_word(column.name) for _, column in columns]
        texts = [
            {folded(text) for text in column.profile.distinct if is_able} - {""}
            for (_, column), is_able in zip(columns, able, strict=True)
        ]
        found: list[FoundLink | None] = [None] * len(columns)
        for way in WAYS:
            wanted = set().union(*(own for own, link in zip(texts, found, strict=True) if link is None))
            named = self._named(way, wanted) if wanted else {}
            for n, (table, column) in enumerate(columns):
                if found[n] is None and (class_ := self._class_of(column, table, texts[n], named, way)) is not None:
                    found[n] = self._link(class_, way)
        return found

    def _named(self, way: str, wanted: Collection[str]) -> dict[str, dict[int, int]]:
        """The only thing of each class that is called so, by the wanted texts."""
        found: defaultdict[str, set[int]] = defaultdict(set)
        for thing, text in self._names(way, np.unique(self._things)):
            if text in wanted:
                found[text].add(thing)
        rows = np.flatnonzero(np.isin(self._things, list(set().union(*found.values()))))
        classes: defaultdict[int, list[int]] = defaultdict(list)
        for thing, class_ in zip(self._things[rows].tolist(), self._classes[rows].tolist(), strict=True):
            classes[thing].append(class_)
        named = {}
        for text, things in found.items():
            counts = Counter(class_ for thing in things for class_ in classes[thing])
            named[text] = {class_: thing for thing in things for class_ in classes[thing] if counts[class_] == 1}
        return named

    def _class_of(
        self,
        column: SheetColumn,
        table: SheetTable,
        texts: Collection[str],
        named: Mapping[str, Mapping[int, int]],
        way: str,
    ) -> int | None:
        """The class that a column refers to: that of its heading, else the only one with nearly all of its texts."""
        by_class: defaultdict[int, dict[str, int]] = defaultdict(dict)
        for text in texts:
            for class_, thing in named.get(text, {}).items():
                by_class[class_][text] = thing
        ranked = sorted(by_class, key=lambda c: (-len(by_class[c]), self._sizes[c], self._texts[c]))
        own = without_key(column.name)
        is_own = column == table.key or (column == table.name and (column.profile.is_unique or not own))
        if column.type.name == "text" or has_key_word(column.name):
            for class_ in ranked:
                if len(by_class[class_]) >= MIN_CALLED_SHARE * len(texts) and self._is_called(column.name, class_):
                    # rows that are called like the class are such things rather than about them
                    return None if is_own and self._is_called(table.label, class_) else class_
        # numbers of phones and the like that hardly repeat are those of the same people in another table
        hardly_repeats = 2 * len(texts) > column.profile.filled
        is_code = way == "code" and has_key_word(column.name) and hardly_repeats
        if is_own or is_code or column.type.name != "text" or len(texts) < MIN_TEXTS or are_numbers(texts):
            return None
        likely = [class_ for class_ in ranked if len(by_class[class_]) >= MIN_SHARE * len(texts)]
        others = chain.from_iterable(by_class[class_].items() for class_ in likely)
        is_one = all(by_class[likely[0]].get(text, thing) == thing for text, thing in others)
        return likely[0] if likely and is_one else None

    def _link(self, class_: int, way: str) -> FoundLink:
        found: defaultdict[str, set[int]] = defaultdict(set)
        for thing, text in self._names(way, self._things[self._classes == class_]):
            found[text].add(thing)
        iris = {text: self._texts[things.pop()] for text, things in found.items() if len(things) == 1}
        names = [(language_rank(language), text) for text, language in self._labels[class_]]
        (_, language), label = min(names)
        # of other languages the plural is not known
        return FoundLink(label if language else plural(label), f"{way} (a guess)", lambda text: iris.get(folded(text)))

    def _is_called(self, heading: str, class_: int) -> bool:
        """Whether a heading begins or ends with a name of a class, in any form of its words."""
        own = without_key(heading)
        for text, _ in self._labels[class_]:
            name = words_of(text)
            parts = (own[-len(name) :], own[: len(name)])
            if name and any(len(part) == len(name) and all(map(_is_form, part, name)) for part in parts):
                return True
        return False

    def _names(self, way: str, things: "Ints") -> Iterator[tuple[int, str]]:
        """The things with the texts that they are called in a way, folded."""
        if way == "IRI":
            for thing in things.tolist():
                yield thing, folded(self._texts[thing])
                yield thing, folded(_end(self._texts[thing]))
            return
        for thing, text in self._named_rows(way, things):
            yield thing, folded(self._texts[text])

    def _named_rows(self, way: str, things: "Ints") -> Iterator[tuple[int, int]]:
        is_meant = np.zeros(len(self._texts), dtype=bool)
        is_meant[things] = True
        rows = self._rows_by_way[way]
        rows = rows[is_meant[self._subject[rows]]]
        return zip(self._subject[rows].tolist(), self._object[rows].tolist(), strict=True)

    def _rows(self, is_wanted: Callable[[str], object]) -> "NDArray[np.intp]":
        """The places of the triples whose predicates are wanted."""
        predicates = [n for n in np.unique(self._predicate).tolist() if is_wanted(self._texts[n])]
        return np.flatnonzero(np.isin(self._predicate, predicates))


def _end(iri: str) -> str:
    return unquoted(local_name(iri))


def _is_form(one: str, other: str) -> bool:
    """Whether two words are the same one, or differ by an ending."""
    short, long = sorted((one, other), key=len)
    ends = long.startswith(short) and len(short) >= MIN_STEM and len(long) - len(short) <= MAX_ENDING
    return ends or singular(one) == singular(other)
