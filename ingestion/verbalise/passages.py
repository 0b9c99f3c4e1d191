"""Verbalise the facts of each thing in plain English: Facts + Schema -> passages."""

from collections.abc import Iterator
from itertools import compress
from operator import ne
from typing import TYPE_CHECKING

import numpy as np

from ingestion.read.capsules import Facts, change_mask, unique_counts
from ingestion.verbalise.complex_sentences import SentenceWriter
from ingestion.verbalise.neighbours import BLANK, GroupedPairs
from ingestion.verbalise.object_phrases import NUMBER
from ingestion.verbalise.packing import pack_passages
from ingestion.verbalise.predicate_wording import LINKS, THING
from ingestion.verbalise.sentence_parts import capitalise_sentence
from ingestion.vocabulary import SCHEMA_TYPES
from nacre.records.facts import Passage, Sentence
from nacre.records.schema import Schema

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int32]
    Longs = NDArray[np.int64]
    Flags = NDArray[np.bool_]

MANY = 256  # things that are verbalised at once


def verbalise(facts: Facts, schema: Schema) -> Iterator[Passage]:
    """Passages about every described thing, in the order of the capsules, without declarations of the schema.

    Linked blank nodes are verbalised with the things that link to them. The sentences of a thing are ordered: texts,
    classes, names, facts, incoming links. Long passages are split; every part has the title.
    """
    writer = _Writer(facts, schema)
    for first in range(0, len(writer.things), MANY):
        yield from writer.passages(first, min(first + MANY, len(writer.things)))


class _Writer:
    """The things with a passage, in order, and their facts, by the index in `things`.

    Nearly all facts are `plain` and are verbalised for many things at once. The `rest` and incoming `links` are
    verbalised one by one.
    """

    def __init__(self, facts: Facts, schema: Schema) -> None:
        self.writer = writer = SentenceWriter(facts, schema)
        self.is_literal = facts.is_literal
        declared = _declared(facts, schema, writer)
        self.things = _things(writer, declared)
        self.index = np.full(len(facts.texts), -1, dtype=np.int32)
        self.index[self.things] = np.arange(len(self.things), dtype=np.int32)
        plain, links = _plain(facts, writer), writer.near.incoming
        shown = ~declared[links.terms]
        self.plain = self._by_index(facts.subject[plain], facts.predicate[plain], facts.object[plain])
        self.rest = self._by_index(facts.subject[~plain], facts.predicate[~plain], facts.object[~plain])
        self.links = self._by_index(links.things[shown], links.predicates[shown], links.terms[shown])
        self.before = {number: way.before for number, way in writer.ways.items()}
        self.one = {number: way.one for number, way in writer.ways.items()}
        self.place = np.zeros(len(facts.texts), dtype=np.int64)
        self.has_unit = np.zeros(len(facts.texts), dtype=bool)
        for number, way in writer.ways.items():
            self.place[number], self.has_unit[number] = way.place, bool(way.predicate.unit)

    def passages(self, first: int, last: int) -> Iterator[Passage]:
        """The passages about the things from `first` to before `last`."""
        sentences, sorted_places = self._said(first, last)
        places: list[int] = []
        for index, groups in self.rest.between(first, last):
            for number, objects in groups:
                for place, sentence in self.writer.facts(self.things[index], number, objects):
                    sentences.append(sentence)
                    places.append(THING * (index - first) + place)
        for index, groups in self.links.between(first, last):
            for sentence in self.writer.links(self.things[index], groups):
                sentences.append(sentence)
                places.append(THING * (index - first) + LINKS)
        all_places = np.concatenate((sorted_places, np.array(places, dtype=np.int64)))
        order = all_places.argsort(kind="stable")
        ends = all_places[order].searchsorted(THING * np.arange(1, last - first + 1))
        told = list(map(sentences.__getitem__, order.tolist()))
        start = 0
        for thing, end in zip(self.things[first:last], ends.tolist(), strict=True):
            yield from pack_passages(
                self.writer.texts[thing], capitalise_sentence(self.writer.title[thing]), told[start:end]
            )
            start = end

    def _said(self, first: int, last: int) -> "tuple[list[Sentence], Longs]":
        """The sentences of the plain facts and their places, computed by column, since there are so many."""
        rows = self.plain.rows(first, last)
        indexes, predicates, objects = self.plain.things[rows], self.plain.predicates[rows], self.plain.terms[rows]
        texts, ways = self.writer.texts, self.writer.ways
        numbers, values = predicates.tolist(), objects.tolist()
        things = list(map(self.things.__getitem__, indexes.tolist()))
        names = list(map(self.writer.title.__getitem__, things))
        words = list(map(self.writer.objects.usual.__getitem__, values))
        for row in (self.has_unit[predicates] & self.is_literal[objects]).nonzero()[0].tolist():
            if NUMBER.fullmatch(words[row]):
                words[row] = f"{words[row]} {ways[numbers[row]].predicate.unit}"
        said = [
            f"{before}{name}{one}{what}."
            for before, name, one, what in zip(
                map(self.before.__getitem__, numbers), names, map(self.one.__getitem__, numbers), words, strict=True
            )
        ]
        triples = zip(
            map(self.writer.written, things),
            map(texts.__getitem__, numbers),
            map(texts.__getitem__, values),
            strict=True,
        )
        sentences = map(Sentence, map(capitalise_sentence, said), triples)
        new = list(map(ne, words, names))
        places = THING * (indexes - first).astype(np.int64) + self.place[predicates]
        return list(compress(sentences, new)), places[np.array(new, dtype=bool)]

    def _by_index(self, things: "Ints", predicates: "Ints", terms: "Ints") -> GroupedPairs:
        """The pairs of the things that get a passage."""
        indexes = self.index[things]
        order = indexes.argsort(kind="stable")
        order = order[indexes[order].searchsorted(0) :]
        return GroupedPairs(indexes[order], predicates[order], terms[order], len(self.things))


def _things(writer: SentenceWriter, declared: "Flags") -> list[int]:
    """The things that get a passage, in the order of their texts."""
    there = (writer.near.outgoing.sizes > 0) & ~declared
    there &= (np.frombuffer(writer.near.kind, dtype=np.uint8) != BLANK) | (writer.near.incoming.sizes == 0)
    return sorted(np.flatnonzero(there).tolist(), key=writer.texts.__getitem__)


def _declared(facts: Facts, schema: Schema, writer: SentenceWriter) -> "Flags":
    """The subjects that are classes, predicates or other schema terms."""
    texts = facts.texts
    rows = np.flatnonzero(np.isin(facts.predicate, writer.types))
    kinds = [n for n in unique_counts(facts.object[rows])[0].tolist() if texts[n] in SCHEMA_TYPES]
    declared = np.zeros(len(texts), dtype=bool)
    declared[facts.subject[rows[np.isin(facts.object[rows], kinds)]]] = True
    known = schema.class_of.keys() | schema.predicate_of.keys()
    # a concept with members is a thing too
    thing = np.zeros(len(texts), dtype=bool)
    thing[facts.subject[rows[~np.isin(facts.object[rows], kinds)]]] = True
    subjects = np.flatnonzero((writer.near.outgoing.sizes > 0) & facts.kinds("iri") & ~thing)
    declared[[n for n in subjects.tolist() if texts[n] in known]] = True
    return declared


def _plain(facts: Facts, writer: SentenceWriter) -> "Flags":
    """The plain facts: one object of a predicate, with a usual phrase."""
    plain = np.zeros(len(facts.texts), dtype=bool)
    plain[[number for number, way in writer.ways.items() if not way.is_name and not way.is_text]] = True
    usual = np.array(list(map(bool, writer.objects.usual)))
    new = change_mask(facts.subject) | change_mask(facts.predicate)
    single = new & np.append(new[1:], True)
    found: Flags = single & plain[facts.predicate] & usual[facts.object]
    return found
