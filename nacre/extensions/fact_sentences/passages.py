"""Verbalise the facts of each thing in plain English: Facts + Schema -> passages.

Sentences that need more than a pattern come last: facts of a thing with one predicate, or incoming links -> sentences.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from heapq import nsmallest
from itertools import compress, repeat
from operator import ne
from typing import TYPE_CHECKING

import numpy as np

from ingestion.index.passages import (
    PASSAGE_LENGTH,
    bounded_spans,
    capitalise_sentence,
    clean_text,
    label_in_sentence,
    list_names,
    pack_passages,
)
from ingestion.read.facts import Facts, change_mask, unique_counts
from ingestion.vocabulary import SCHEMA_TYPES, TYPE, language_rank, local_name
from nacre.extensions.fact_sentences.phrases import (
    BLANK,
    CLASSES,
    LINKS,
    LITERAL,
    NAMES,
    NUMBER,
    OBJECTS,
    TEXTS,
    THING,
    GroupedPairs,
    Neighbours,
    ObjectGroups,
    ObjectPhrases,
    PredicateWording,
    Titles,
    boolean_sentence,
    predicate_wordings,
)
from nacre.language.labels import parse_boolean
from nacre.language.word_forms import singular
from nacre.records.evidence import Passage, Sentence
from nacre.records.schema import Schema

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int32]
    Longs = NDArray[np.int64]
    Flags = NDArray[np.bool_]

MANY = 256  # things that are verbalised at once


def verbalise(facts: Facts, schema: Schema) -> Iterator[Passage]:
    """Passages about every described thing, in the order of their IRIs, without declarations of the schema.

    Linked blank nodes are verbalised with the things that link to them. The sentences of a thing are ordered: texts,
    classes, names, facts, incoming links. Long passages are split; every part has the title.
    """
    writer = _Writer(facts, schema)
    for first in range(0, len(writer.things), MANY):
        yield from writer.passages(first, min(first + MANY, len(writer.things)))


class _Writer:
    """The things with a passage, in order, and their facts, by the index in `things`. Nearly all facts are `plain` and
    are verbalised for many things at once. The `rest` and incoming `links` are verbalised one by one."""

    def __init__(self, facts: Facts, schema: Schema) -> None:
        self.writer = writer = SentenceWriter(facts, schema)
        self.is_literal = facts.is_literal
        declared = _declared(facts, schema, writer)
        self.things = _things(writer, declared)
        self.index = np.full(len(facts.texts), -1, dtype=np.int32)
        self.index[self.things] = np.arange(len(self.things), dtype=np.int32)
        (plain, rest), links = _plain(facts, writer), writer.near.incoming
        shown = ~declared[links.terms]
        self.plain = self._by_index(facts.subject[plain], facts.predicate[plain], facts.object[plain])
        self.rest = self._by_index(facts.subject[rest], facts.predicate[rest], facts.object[rest])
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
        ordered = list(map(sentences.__getitem__, order.tolist()))
        start = 0
        for thing, end in zip(self.things[first:last], ends.tolist(), strict=True):
            yield from pack_passages(
                self.writer.texts[thing], capitalise_sentence(self.writer.title[thing]), ordered[start:end]
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
            f"{before}{name}{one}{what}." if before else capitalise_sentence(f"{name}{one}{what}.")
            for before, name, one, what in zip(
                map(self.before.__getitem__, numbers), names, map(self.one.__getitem__, numbers), words, strict=True
            )
        ]
        subjects = map(self.writer.written.__getitem__, things)
        terms = subjects, map(texts.__getitem__, numbers), map(texts.__getitem__, values)
        # without the function that a named tuple calls for each
        fields = zip(said, zip(*terms, strict=True), repeat(None), repeat(0), repeat(0), strict=False)
        sentences = map(partial(tuple.__new__, Sentence), fields)
        new = list(map(ne, words, names))
        places = THING * (indexes - first).astype(np.int64) + self.place[predicates]
        return list(compress(sentences, new)), places[np.array(new, dtype=bool)]

    def _by_index(self, things: "Ints", predicates: "Ints", terms: "Ints") -> GroupedPairs:
        """The pairs of the things that get a passage."""
        indexes = self.index[things]
        order = indexes.argsort(kind="stable")
        order = order[indexes[order].searchsorted(0) :]
        return GroupedPairs(indexes[order], predicates[order], terms[order], len(self.things))


NumberedSentences = Iterable[tuple[int, Sentence]]


class SentenceWriter:
    """Writes sentences with the titles, phrases, wordings of predicates and links of a graph."""

    def __init__(self, facts: Facts, schema: Schema) -> None:
        predicates = [(number, facts.texts[number]) for number in facts.predicates]
        self.texts = facts.texts
        self.ways = predicate_wordings(schema, predicates)
        self.types = [number for number, iri in predicates if iri == TYPE]
        self.near = Neighbours(facts, self.ways)
        titles = Titles(facts, self.near, self.ways)
        self.title = titles.of
        self.objects = ObjectPhrases(facts, self.near, titles, self.ways)
        self._class_of = schema.class_of
        self._kind = self.near.kind
        # terms as parts of a triple
        pairs = zip(self._kind, facts.texts, strict=True)
        self.written = [f"_:{text}" if kind == BLANK else text for kind, text in pairs]
        self._languages = {i: sort[2] for i, sort in enumerate(facts.sorts) if sort[2]}
        self._sort_of = facts.sort_of.data
        self._linking = set(self.near.incoming.terms.tolist())
        self._type_sets: dict[tuple[int, ...], tuple[str, int]] = {}

    def facts(self, thing: int, number: int, objects: list[int]) -> NumberedSentences:
        """The sentences about a thing with one predicate (texts, classes, names, facts), each with its place."""
        way = self.ways.get(number)
        if way is not None:
            return self._facts(thing, number, way, objects)
        said = self._classes(thing, number, objects) if number in self.types else None
        return () if said is None else ((CLASSES, said),)

    def _facts(self, thing: int, number: int, way: PredicateWording, objects: list[int]) -> NumberedSentences:
        if self._languages and not way.is_name and len(objects) > 1:
            objects = self._preferred(objects)
        if way.is_text or not self.objects.long.isdisjoint(objects):
            long = [o for o in objects if o in self.objects.long or (way.is_text and self._kind[o] == LITERAL)]
            for said in (each for o in long for each in self._verbatim(thing, number, o)):
                yield TEXTS + way.turn, said
            objects = [o for o in objects if o not in long]
        if way.is_name:
            names = [o for o in objects if self._kind[o] == LITERAL]
            for said in self._also_called(thing, number, names):
                yield NAMES + way.turn, said
            objects = [o for o in objects if self._kind[o] != LITERAL]
        for said in self._said(thing, number, way, objects):
            yield way.place, said

    def _classes(self, thing: int, number: int, objects: list[int]) -> Sentence | None:
        """The classes, the rarest first."""
        key = tuple(objects)
        if key not in self._type_sets:
            known = self._class_of
            found = sorted(
                (known[iri].count, clean_text(known[iri].label), o) for o in key if (iri := self.texts[o]) in known
            )
            names = [singular(label_in_sentence(label, local_name(self.texts[o]))) for _, label, o in found]
            article = "an" if names and names[0][:1].lower() in "aeiou" else "a"
            said = f" is {article} {list_names(list(dict.fromkeys(names))[:OBJECTS])}." if names else ""
            self._type_sets[key] = said, found[0][2] if found else -1
        said, first = self._type_sets[key]
        return self._sentence(self.title[thing] + said, thing, number, first) if said else None

    def _verbatim(self, thing: int, number: int, value: int) -> Iterator[Sentence]:
        """The sentences of a text; those of a long text cite themselves and their place in it."""
        text = self.texts[value]
        for start, end in bounded_spans(text):
            if said := clean_text(text[start:end]):
                if len(text) <= PASSAGE_LENGTH:
                    yield self._sentence(said, thing, number, value)
                else:
                    triple = (self.written[thing], self.texts[number], text[start:end])
                    yield Sentence(capitalise_sentence(said), triple, None, start, end)

    def _also_called(self, thing: int, number: int, values: list[int]) -> Iterator[Sentence]:
        name = self.title[thing]
        others = {text: o for o in values if (text := clean_text(self.texts[o])) and text != name}
        if others:
            names = sorted(others)[: 2 * OBJECTS]
            yield self._sentence(f"{name} is also called {list_names(names)}.", thing, number, others[names[0]])

    def _said(self, thing: int, number: int, way: PredicateWording, objects: list[int]) -> Iterator[Sentence]:
        name, unit, words = self.title[thing], way.predicate.unit, self.objects.words
        said = [(text, o) for o in objects if (text := words(o, unit)) and text != name]
        if len(said) == 1:
            ((text, value),) = said
            if self.objects.is_boolean(value):
                yield self._sentence(boolean_sentence(name, way, text in ("true", "1")), thing, number, value)
            elif way.is_flag:
                yes = bool(parse_boolean(text, way.predicate))
                yield self._sentence(boolean_sentence(name, way, yes), thing, number, value)
            elif text != f"the {way.form.text} of {name}":  # otherwise the title of the object repeats this fact
                yield self._sentence(f"{way.before}{name}{way.one}{text}.", thing, number, value)
            return
        said.sort()
        for start in range(0, len(said), OBJECTS):
            texts = list(dict.fromkeys(text for text, _ in said[start : start + OBJECTS]))
            yield self._sentence(f"{way.before}{name}{way.many}{list_names(texts)}.", thing, number, said[start][1])

    def links(self, thing: int, linking: ObjectGroups) -> Iterator[Sentence]:
        """Sentences about the things that link to a thing; links that also exist in the other direction are left
        out."""
        name, title = self.title[thing], self.title
        forward = {}
        if thing in self._linking:
            forward = {n: objects for n, objects in self.near.outgoing.of(thing) if n in self.ways}
        for number, subjects in linking:
            way = self.ways[number]
            others = self._not_stated_forward(thing, number, way, subjects, forward) if forward else subjects
            if not others or name == f"the {way.form.text} of {title[others[0]]}":
                continue
            pairs = [(title[s], s) for s in others]
            first = nsmallest(SUBJECTS, pairs) if len(pairs) > SUBJECTS else sorted(pairs)
            names = list(dict.fromkeys([said for said, _ in first]))
            more = max(0, len(others) - SUBJECTS)
            if way.form.said is not None:
                verb = way.form.text if len(names) + more == 1 else way.form.plural
                text = f"{list_names(names, more)} {verb} {name}."
            elif way.predicate.functional:
                text = f"{name} is the {way.form.text} of {list_names(names, more)}."
            else:
                text = f"{name} is listed as {way.form.text} of {list_names(names, more)}."
            yield self._sentence(text, first[0][1], number, thing)

    def _not_stated_forward(
        self, thing: int, number: int, way: PredicateWording, subjects: list[int], forward: dict[int, list[int]]
    ) -> list[int]:
        """The things without a link of the same or an inverse predicate in the other direction (`forward`)."""
        known = {thing, *forward.get(number, ())}
        for inverse in way.predicate.inverses:
            known.update(o for n, objects in forward.items() if self.texts[n] == inverse for o in objects)
        return [s for s in subjects if s not in known]

    def _preferred(self, values: list[int]) -> list[int]:
        """Without translations of English or untagged texts; names keep all translations."""
        languages = {o: self._languages.get(self._sort_of[o], "") for o in values if self._kind[o] == LITERAL}
        if not any(languages.values()):
            return values
        best = min(language_rank(language) for language in languages.values())
        return [o for o in values if not languages.get(o) or language_rank(languages[o]) == best]

    def _sentence(self, text: str, subject: int, predicate: int, object: int) -> Sentence:
        triple = self.written[subject], self.texts[predicate], self.written[object]
        # without the function that a named tuple calls
        return tuple.__new__(Sentence, (capitalise_sentence(text), triple, None, 0, 0))


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


def _plain(facts: Facts, writer: SentenceWriter) -> "tuple[Flags, Flags]":
    """The plain facts, one object of a predicate with a usual phrase; and the others, without names that are the
    title."""
    plain, naming = (np.zeros(len(facts.texts), dtype=bool) for _ in range(2))
    plain[[number for number, way in writer.ways.items() if not way.is_name and not way.is_text]] = True
    naming[[number for number, way in writer.ways.items() if way.is_name]] = True
    words, title = writer.objects.usual, writer.title
    new = change_mask(facts.subject) | change_mask(facts.predicate)
    single = new & np.append(new[1:], True)
    found: Flags = single & plain[facts.predicate] & np.array(list(map(bool, words)))[facts.object]
    names = np.flatnonzero(single & naming[facts.predicate])
    pairs = zip(facts.subject[names].tolist(), facts.object[names].tolist(), strict=True)
    rest = ~found
    rest[names] = [title[thing] != words[name] for thing, name in pairs]
    return found, rest


SUBJECTS = 12  # maximum number of names in a sentence about incoming links
