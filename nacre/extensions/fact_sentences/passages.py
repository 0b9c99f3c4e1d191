"""Verbalise the facts of each thing in plain English: Facts + Schema -> passages.

Sentences that need more than a pattern come last: facts of a thing with one predicate, or incoming links -> sentences.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache, partial
from heapq import nsmallest
from itertools import pairwise, repeat
from operator import ne
from typing import TYPE_CHECKING

import numpy as np

from ingestion.index.passages import MAX_TITLE, PASSAGE_LENGTH, bounded_spans, clean_text, pack_passages, passage_id
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
    capitalise_sentence,
    label_in_sentence,
    list_names,
    predicate_wordings,
)
from nacre.language.labels import parse_boolean
from nacre.language.word_forms import singular
from nacre.records.evidence import Passage, Sentence, shorten
from nacre.records.schema import Schema
from nacre.stores.sqlite.passages import EncodedPassage, PredicateNumbers, decode_sentences, encode_sentence

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int32]
    Longs = NDArray[np.int64]
    Flags = NDArray[np.bool_]

MANY = 256  # things that are verbalised at once


def verbalise(facts: Facts, schema: Schema, predicates: PredicateNumbers) -> Iterator[Passage | EncodedPassage]:
    """Passages about every described thing, in the order of their IRIs, without declarations of the schema.

    Linked blank nodes are verbalised with the things that link to them. The sentences of a thing are ordered: texts,
    classes, names, facts, incoming links. Long passages are split; every part has the title.
    """
    writer = _Writer(facts, schema, predicates)
    for first in range(0, len(writer.things), MANY):
        yield from writer.passages(first, min(first + MANY, len(writer.things)))


# stands for the title of a thing within a sentence, and at its beginning: no title or word has control characters
_NAME, _FIRST_NAME = "\1", "\2"

_STORED = -1  # instead of the number of a predicate: a sentence that is no plain fact

MAX_TEMPLATES = 4096


class _Writer:
    """The things with a passage, in order, and their facts, by the index in `things`. Nearly all facts are `plain`:
    things with the same predicates have the same template. The `rest` and incoming `links` are verbalised one by one.
    """

    def __init__(self, facts: Facts, schema: Schema, predicates: PredicateNumbers) -> None:
        self.writer = writer = SentenceWriter(facts, schema)
        self.predicates = predicates
        self.is_literal = facts.is_literal
        declared = _declared(facts, schema, writer)
        self.things = _things(writer, declared)
        self.index = np.full(len(facts.texts), -1, dtype=np.int32)
        self.index[self.things] = np.arange(len(self.things), dtype=np.int32)
        (plain, rest), links = _plain(facts, writer), writer.near.incoming
        shown = ~declared[links.terms]
        self.terms = len(facts.texts)
        said, classes = self._classes(facts)
        columns = zip((facts.subject[plain], facts.predicate[plain], facts.object[plain]), classes, strict=True)
        self.plain = self._by_index(*map(np.concatenate, columns))
        self.rest = self._by_index(facts.subject[rest], facts.predicate[rest], facts.object[rest])
        self.links = self._by_index(links.things[shown], links.predicates[shown], links.terms[shown])
        # sentences with places for the title and for words, and their predicates
        self.patterns = {_STORED: ("%s", "")}
        self.place, self.length = np.zeros((2, self.terms + len(said)), dtype=np.int64)
        self.has_unit = np.zeros(self.terms + len(said), dtype=bool)
        for number, text in enumerate(said, self.terms):
            self.patterns[number] = _pattern("", text, "%s"), TYPE
            self.place[number], self.length[number] = CLASSES, len(text)
        for number, way in writer.ways.items():
            self.patterns[number] = _pattern(way.before, way.one, "%s."), way.predicate.iri
            self.place[number], self.length[number] = way.place, len(way.before) + len(way.one) + 1
            self.has_unit[number] = bool(way.predicate.unit)
        self.template = lru_cache(MAX_TEMPLATES)(partial(_template, self.patterns, predicates))

    def passages(self, first: int, last: int) -> Iterator[Passage | EncodedPassage]:
        """The passages about the things from `first` to before `last`."""
        texts, rows, stored = self.writer.texts, self.plain.rows(first, last), list(self._stored(first, last))
        indexes = self.plain.things[rows] - first
        predicates, objects = self.plain.predicates[rows], self.plain.terms[rows]
        titles = list(map(self.writer.title.__getitem__, self.things[first:last]))
        names = list(map(titles.__getitem__, indexes.tolist()))
        words, terms = self._words(predicates, objects), list(map(texts.__getitem__, objects.tolist()))
        # what only repeats the title is left out
        new = np.array([*map(ne, words, names), *repeat(True, len(stored))], dtype=bool)
        places = THING * indexes.astype(np.int64) + self.place[predicates]
        places = np.concatenate((places, np.array([place for place, *_ in stored], dtype=np.int64)))
        order = places.argsort(kind="stable")
        order = order[new[order]]
        ends = places[order].searchsorted(THING * np.arange(1, last - first + 1)).tolist()
        codes = np.concatenate((predicates, np.full(len(stored), _STORED, dtype=np.int32)))[order]
        lengths = np.zeros((len(places), 2), dtype=np.int64)
        lengths[: len(words), 0] = self.length[predicates] + _lengths(titles)[indexes] + _lengths(words)
        lengths[: len(words), 1] = _lengths(terms)
        numbers: list[int | str] = lengths[order].ravel().tolist()
        # stored sentences have their numbers instead of lengths
        for at in (codes == _STORED).nonzero()[0].tolist():
            numbers[2 * at], numbers[2 * at + 1] = stored[order[at] - len(words)][2], ""
        words += [each[1] for each in stored]
        terms += [each[3] for each in stored]
        words, terms = (list(map(column.__getitem__, order.tolist())) for column in (words, terms))
        signature, start = codes.tobytes(), 0
        for thing, name, end in zip(self.things[first:last], titles, ends, strict=True):
            if end > start:
                text, sources = self.template(signature[codes.itemsize * start : codes.itemsize * end])
                title = capitalise_sentence(name)
                said = (text % tuple(words[start:end])).replace(_NAME, name).replace(_FIRST_NAME, title)
                sources %= (*numbers[2 * start : 2 * end], "".join(terms[start:end]))
                key, title, text = texts[thing], shorten(title, MAX_TITLE), said.replace("\0", " ")
                if len(said) < PASSAGE_LENGTH:
                    # without the function that a named tuple calls
                    yield tuple.__new__(EncodedPassage, (passage_id(key, 0, title, said), key, title, text, sources))
                else:
                    yield from pack_passages(key, title, decode_sentences(key, text, sources, list(self.predicates)))
            start = end

    def _stored(self, first: int, last: int) -> Iterator[tuple[int, str, str, str]]:
        """The other sentences of these things: place, text, encoded numbers and terms."""
        writer, things = self.writer, self.things
        found = [
            (index, place, sentence)
            for index, groups in self.rest.between(first, last)
            for number, objects in groups
            for place, sentence in writer.facts(things[index], number, objects)
        ]
        for index, groups in self.links.between(first, last):
            found += [(index, LINKS, sentence) for sentence in writer.links(things[index], groups)]
        for index, place, sentence in found:
            encoded = encode_sentence(sentence, writer.texts[things[index]], self.predicates)
            yield THING * (index - first) + place, sentence[0], *encoded

    def _words(self, predicates: "Ints", objects: "Ints") -> list[str]:
        """The words for the objects of plain facts, numbers with their units."""
        words = list(map(self.writer.objects.usual.__getitem__, objects.tolist()))
        for row in (self.has_unit[predicates] & self.is_literal[objects]).nonzero()[0].tolist():
            if NUMBER.fullmatch(words[row]):
                words[row] = f"{words[row]} {self.writer.ways[int(predicates[row])].predicate.unit}"
        for row in (predicates >= self.terms).nonzero()[0].tolist():
            words[row] = ""
        return words

    def _classes(self, facts: Facts) -> "tuple[list[str], tuple[Ints, Ints, Ints]]":
        """What is said of each set of classes; and one fact for each thing that has some: instead of a predicate it has
        the number of the set, beyond those of terms, and as object the rarest class."""
        rows = np.isin(facts.predicate, self.writer.types).nonzero()[0]
        things, classes = facts.subject[rows], facts.object[rows]
        starts = change_mask(things).nonzero()[0]
        content, size = classes.tobytes(), classes.itemsize
        own = [content[size * first : size * last] for first, last in pairwise([*starts.tolist(), len(rows)])]
        sets = {each: number for number, each in enumerate(dict.fromkeys(own))}
        said = [self.writer.classes(np.frombuffer(each, dtype=np.int32).tolist()) for each in sets]
        numbers = np.fromiter(map(sets.__getitem__, own), np.int32, len(own))
        rarest = np.array([number for _, number in said], dtype=np.int32)[numbers]
        named = rarest >= 0
        return [text for text, _ in said], (things[starts][named], numbers[named] + self.terms, rarest[named])

    def _by_index(self, things: "Ints", predicates: "Ints", terms: "Ints") -> GroupedPairs:
        """The pairs of the things that get a passage."""
        indexes = self.index[things]
        order = indexes.argsort(kind="stable")
        order = order[indexes[order].searchsorted(0) :]
        return GroupedPairs(indexes[order], predicates[order], terms[order], len(self.things))


def _template(patterns: dict[int, tuple[str, str]], predicates: PredicateNumbers, signature: bytes) -> tuple[str, str]:
    """The sentences of things with these predicates, in order, joined by null bytes, with places for words; and their
    sources, with places for lengths and for the terms."""
    found = [patterns[number] for number in np.frombuffer(signature, dtype=np.int32).tolist()]
    sources = [f"%d {predicates[iri]} %d" if iri else "%s%s" for _, iri in found]
    return "\0".join([said for said, _ in found]), ";".join(sources) + "\n%s"


def _pattern(before: str, after: str, words: str) -> str:
    """A sentence with places for the title of a thing and for words."""
    name = _NAME if before else _FIRST_NAME
    return f"{before.replace('%', '%%')}{name}{after.replace('%', '%%')}{words}"


def _lengths(texts: list[str]) -> "Longs":
    return np.fromiter(map(len, texts), np.int64, len(texts))


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
        self._languages = {i: sort[2] for i, sort in enumerate(facts.sorts) if sort[2]}
        self._sort_of = facts.sort_of.data
        self._linking = self._linked_back(len(facts.texts))

    def facts(self, thing: int, number: int, objects: list[int]) -> NumberedSentences:
        """The sentences about a thing with one predicate (texts, names, facts), each with its place."""
        way = self.ways[number]
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

    def classes(self, numbers: list[int]) -> tuple[str, int]:
        """What is said of a thing with these classes, the rarest first, and the rarest; -1 if none is known."""
        known = self._class_of
        found = sorted(
            (known[iri].count, clean_text(known[iri].label), n) for n in numbers if (iri := self.texts[n]) in known
        )
        if not found:
            return "", -1
        names = [singular(label_in_sentence(label, local_name(self.texts[n]))) for _, label, n in found]
        article = "an" if names[0][:1].lower() in "aeiou" else "a"
        return f" is {article} {list_names(list(dict.fromkeys(names))[:OBJECTS])}.", found[0][2]

    def _verbatim(self, thing: int, number: int, value: int) -> Iterator[Sentence]:
        """The sentences of a text; those of a long text cite themselves and their place in it."""
        text = self.texts[value]
        for start, end in bounded_spans(text):
            if said := clean_text(text[start:end]):
                if len(text) <= PASSAGE_LENGTH:
                    yield self._sentence(said, thing, number, value)
                else:
                    triple = (self.texts[thing], self.texts[number], text[start:end])
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
            # those without a link of the same or an inverse predicate in the other direction
            known = {thing, *forward.get(number, ())} if forward else set()
            for inverse in way.predicate.inverses if forward else ():
                known.update(o for n, objects in forward.items() if self.texts[n] == inverse for o in objects)
            others = [s for s in subjects if s not in known] if known else subjects
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

    def _linked_back(self, terms: int) -> set[int]:
        """The things that may link back to what links to them: by the same predicate or an inverse one."""
        links = self.near.incoming
        pairs, others = (n.things.astype(np.int64) * terms + n.predicates for n in (links, self.near.outgoing))
        # both are sorted
        same = np.append(others, -1)[others.searchsorted(pairs)] == pairs
        inverse = np.isin(links.predicates, [n for n, way in self.ways.items() if way.predicate.inverses])
        return set(links.things[same | inverse].tolist())

    def _preferred(self, values: list[int]) -> list[int]:
        """Without translations of English or untagged texts; names keep all translations."""
        languages = {o: self._languages.get(self._sort_of[o], "") for o in values if self._kind[o] == LITERAL}
        if not any(languages.values()):
            return values
        best = min(language_rank(language) for language in languages.values())
        return [o for o in values if not languages.get(o) or language_rank(languages[o]) == best]

    def _sentence(self, text: str, subject: int, predicate: int, object: int) -> Sentence:
        triple = self.texts[subject], self.texts[predicate], self.texts[object]
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
    known, plain, naming = np.zeros((3, len(facts.texts)), dtype=bool)
    known[list(writer.ways)] = True
    plain[[number for number, way in writer.ways.items() if not way.is_name and not way.is_text]] = True
    naming[[number for number, way in writer.ways.items() if way.is_name]] = True
    words, title = writer.objects.usual, writer.title
    new = change_mask(facts.subject) | change_mask(facts.predicate)
    single = new & np.append(new[1:], True)
    found: Flags = single & plain[facts.predicate] & np.array(list(map(bool, words)))[facts.object]
    names = np.flatnonzero(single & naming[facts.predicate])
    pairs = zip(facts.subject[names].tolist(), facts.object[names].tolist(), strict=True)
    rest = known[facts.predicate] & ~found
    rest[names] = [title[thing] != words[name] for thing, name in pairs]
    return found, rest


SUBJECTS = 12  # maximum number of names in a sentence about incoming links
