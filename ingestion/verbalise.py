"""Turn the facts of each thing into plain English sentences: Facts + Schema -> passages."""

import re
from collections.abc import Iterator
from heapq import nsmallest
from operator import itemgetter
from typing import NamedTuple

from ingestion.capsules import Facts
from ingestion.neighbours import BLANK, IRI, LITERAL, Groups, Neighbours
from ingestion.packing import bounded, passages
from ingestion.titles import Titles
from ingestion.vocabulary import ALTERNATIVE, RDF, SCHEMA_TYPES, TYPE, XSD, language_rank, local_name
from ingestion.wording import Pattern, be, clean, is_state, listed, pattern, spoken
from records.facts import Passage, Sentence, Source
from records.schema import Predicate, Schema

OBJECTS = 8  # names in a sentence about one thing
SUBJECTS = 12  # names in a sentence about those that link to it
LONG_TEXT = 120  # a literal of more characters is said as it stands
DEEPEST = 3  # blank nodes within blank nodes
BOOLEAN = XSD + "boolean"
DECIMALS = frozenset(XSD + name for name in ("decimal", "double", "float"))
FIRST, REST = RDF + "first", RDF + "rest"
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")


def verbalise(facts: Facts, schema: Schema) -> Iterator[Passage]:
    """Passages about every described thing, in the order of the capsules; what declares the schema is left out.

    A blank node that something links to is told there. Sentences of one thing follow one order: its texts, its classes,
    its names, its facts, and who links to it. Long ones are split; every part has the title.
    """
    writer = _Writer(facts, schema)
    for subject in writer.subjects():
        if sentences := writer.sentences(subject):
            yield from passages(facts.texts[subject], _capital(writer.titles.of(subject)), sentences)


class _How(NamedTuple):
    """How facts of one predicate are said: `before` NAME `one` or `many` OBJECTS."""

    predicate: Predicate
    form: Pattern
    order: tuple[int, str]
    before: str
    one: str
    many: str
    is_name: bool
    is_text: bool
    iri: str
    unit: str


class _Writer:
    """What all capsules share: titles, the ways of saying the predicates, and the links in both directions."""

    def __init__(self, facts: Facts, schema: Schema) -> None:
        import numpy as np

        self.facts = facts
        self.texts = facts.texts
        self.schema = schema
        numbers = np.unique(facts.predicate).tolist()
        self.hows = {n: how for n in numbers if (how := _how(schema.predicate_of.get(facts.texts[n]))) is not None}
        self.types = {n for n in numbers if facts.texts[n] == TYPE}
        self.near = Neighbours(facts, self.hows)
        self.kind = self.near.kind
        self.sort_of = facts.sort_of.tolist()
        self.booleans = {i for i, sort in enumerate(facts.sorts) if sort[1] == BOOLEAN}
        self.decimals = {i for i, sort in enumerate(facts.sorts) if sort[1] in DECIMALS}
        self.languages = {i: sort[2] for i, sort in enumerate(facts.sorts) if sort[2]}
        self.long = {n for n, text in enumerate(self.texts) if len(text) > LONG_TEXT and self.kind[n] == LITERAL}
        self.odd = self._odd()
        self.type_sets: dict[tuple[int, ...], tuple[str, int]] = {}
        self.schema_parts = self._declared()
        self.titles = Titles(facts, self._referrer)

    def subjects(self) -> Iterator[int]:
        """Who gets a passage, in the order of their texts."""
        texts = self.texts
        for subject in sorted(self.near.subjects(), key=texts.__getitem__):
            if self.kind[subject] == BLANK and self.near.is_linked(subject):
                continue
            if subject not in self.schema_parts:
                yield subject

    def sentences(self, subject: int) -> list[Sentence]:
        name, key = self.titles.of(subject), self._written(subject)
        first = _capital(f"{name} ")[:-1]
        told: list[tuple[tuple[int, str], Sentence]] = []
        groups = self.near.outgoing(subject)
        hows, odd, kind, texts, title = self.hows, self.odd, self.kind, self.texts, self.titles.of
        # Nearly all facts go through this loop, so that what is usual is told here and the rest elsewhere.
        for number, objects in groups:
            how = hows.get(number)
            if how is None:
                if number in self.types and (said := self._classes(subject, name, number, objects)) is not None:
                    told.append(((1, ""), said))
                continue
            if how.is_text or len(objects) > 1 or (value := objects[0]) in odd:
                told += self._several(subject, name, number, how, objects)
                continue
            written = texts[value]
            text = written if kind[value] == LITERAL else title(value)
            if how.unit and text is written and _NUMBER.fullmatch(text):
                text = f"{text} {how.unit}"
            if text == name or (text[:4] == "the " and text == f"the {how.form.text} of {name}"):
                continue
            if how.is_name and text is written:
                told += self._several(subject, name, number, how, objects)
                continue
            whole = f"{how.before}{name}{how.one}{text}." if how.before else f"{first}{how.one}{text}."
            told.append((how.order, Sentence(whole, Source((key, how.iri, written)))))
        told.sort(key=itemgetter(0))
        sentences = [said for _, said in told]
        if linking := self.near.incoming(subject):
            sentences += self._linking(subject, name, groups, linking)
        return sentences

    def _several(
        self, subject: int, name: str, number: int, how: _How, objects: list[int]
    ) -> Iterator[tuple[tuple[int, str], Sentence]]:
        """What is said with one predicate, as texts, names and facts."""
        if self.languages and not how.is_name and len(objects) > 1:
            objects = self._preferred(objects)
        if how.is_text or not self.long.isdisjoint(objects):
            long = [o for o in objects if o in self.long or (how.is_text and self.kind[o] == LITERAL)]
            for said in (each for o in long for each in self._verbatim(subject, number, o)):
                yield (0, how.form.text), said
            objects = [o for o in objects if o not in long]
        if how.is_name:
            names = [o for o in objects if self.kind[o] == LITERAL]
            for said in self._also_called(subject, name, number, names):
                yield (2, how.form.text), said
            objects = [o for o in objects if self.kind[o] != LITERAL]
        for said in self._said(subject, name, number, how, objects):
            yield how.order, said

    def _classes(self, subject: int, name: str, number: int, objects: list[int]) -> Sentence | None:
        """The most telling class first: the rarest one."""
        key = tuple(objects)
        if key not in self.type_sets:
            known = self.schema.class_of
            found = sorted(
                (known[iri].count, clean(known[iri].label), o) for o in key if (iri := self.texts[o]) in known
            )
            names = [spoken(label, local_name(self.texts[o])) for _, label, o in found]
            article = "an" if names and names[0][:1].lower() in "aeiou" else "a"
            said = f"is {article} {listed(list(dict.fromkeys(names))[:OBJECTS])}." if names else ""
            self.type_sets[key] = said, found[0][2] if found else -1
        said, first = self.type_sets[key]
        return self._sentence(f"{name} {said}", subject, number, first) if said else None

    def _verbatim(self, subject: int, number: int, value: int) -> Iterator[Sentence]:
        text = self.texts[value]
        for start, end in bounded(text):
            if said := clean(text[start:end]):
                yield self._sentence(said, subject, number, value)

    def _also_called(self, subject: int, name: str, number: int, values: list[int]) -> Iterator[Sentence]:
        others = {text: o for o in values if (text := clean(self.texts[o])) and text != name}
        if others:
            names = sorted(others)[: 2 * OBJECTS]
            yield self._sentence(f"{name} is also called {listed(names)}.", subject, number, others[names[0]])

    def _said(self, subject: int, name: str, number: int, how: _How, objects: list[int]) -> Iterator[Sentence]:
        said = [(text, o) for o in objects if (text := self._object(o, how.unit)) and text != name]
        if len(said) == 1:
            if (one := self._one(self._written(subject), name, how, said[0][1])) is not None:
                yield one
            return
        said.sort()
        for start in range(0, len(said), OBJECTS):
            texts = list(dict.fromkeys(text for text, _ in said[start : start + OBJECTS]))
            yield self._sentence(f"{how.before}{name}{how.many}{listed(texts)}.", subject, number, said[start][1])

    def _one(self, key: str, name: str, how: _How, value: int) -> Sentence | None:
        """A fact with one object, which most facts are."""
        text = self._object(value, how.unit)
        if not text or text == name:
            return None
        if self.sort_of[value] in self.booleans:
            text = _boolean(name, how, text in ("true", "1"))
        elif text.startswith("the ") and text == f"the {how.form.text} of {name}":
            return None
        else:
            text = f"{how.before}{name}{how.one}{text}."
        written = f"_:{self.texts[value]}" if self.kind[value] == BLANK else self.texts[value]
        return Sentence(_capital(text) if text[0] in "at" else text, Source((key, how.predicate.iri, written)))

    def _linking(self, subject: int, name: str, groups: Groups, linking: Groups) -> Iterator[Sentence]:
        """Who links here, said from this side; a link that also goes the other way was said already."""
        forward = {number: objects for number, objects in groups if number in self.hows}
        for number, subjects in linking:
            how = self.hows[number]
            known = {subject, *forward.get(number, ())}
            for inverse in how.predicate.inverses:
                known.update(o for n, objects in forward.items() if self.texts[n] == inverse for o in objects)
            others = [s for s in subjects if s not in known and s not in self.schema_parts]
            if not others or name == f"the {how.form.text} of {self.titles.of(others[0])}":
                continue
            first = nsmallest(SUBJECTS, [(self.titles.of(s), s) for s in others])
            names = list(dict.fromkeys(title for title, _ in first))
            more = max(0, len(others) - SUBJECTS)
            if how.form.kind == "verb":
                verb = how.form.text if len(names) + more == 1 else how.form.plural
                text = f"{listed(names, more)} {verb} {name}."
            elif how.predicate.functional:
                text = f"{name} is the {how.form.text} of {listed(names, more)}."
            else:
                text = f"{name} is listed as {how.form.text} of {listed(names, more)}."
            yield self._sentence(text, first[0][1], number, subject)

    def _object(self, number: int, unit: str, depth: int = 0, seen: frozenset[int] = frozenset()) -> str:
        kind = self.kind[number]
        if kind == IRI:
            return self.titles.of(number)
        if kind == BLANK:
            return self.titles.of(number) if self.titles.given(number) else self._blank(number, depth, seen)
        text = clean(self.texts[number])
        if text.endswith(".0") and self.sort_of[number] in self.decimals:
            text = text[:-2]
        return f"{text} {unit}" if unit and _NUMBER.fullmatch(text) else text

    def _blank(self, number: int, depth: int, seen: frozenset[int]) -> str:
        """What is known of a blank node, in brackets; the members of a list, without."""
        if number in seen or depth >= DEEPEST:
            return ""
        seen = seen | {number}
        items = self._list(number)
        if items is not None:
            said = [self._object(o, "", depth + 1, seen) for o in items[: 4 * OBJECTS]]
            return listed([text for text in said if text] or ["nothing"], max(0, len(items) - 4 * OBJECTS))
        parts = []
        for p, objects in self.near.outgoing(number):
            if (how := self.hows.get(p)) is not None:
                said = [self._object(o, how.unit, depth + 1, seen) for o in objects[:OBJECTS]]
                if said := sorted(text for text in said if text):
                    parts.append(f"{how.form.text}: {listed(said)}")
        return f"({'; '.join(sorted(parts)[:SUBJECTS])})" if parts else ""

    def _list(self, number: int) -> list[int] | None:
        """The members of an RDF list that begins here; None if it is none."""
        items: list[int] = []
        seen: set[int] = set()
        while number not in seen:
            seen.add(number)
            by_iri = {self.texts[p]: objects for p, objects in self.near.outgoing(number)}
            if FIRST not in by_iri:
                break
            items.append(by_iri[FIRST][0])
            number = by_iri.get(REST, [number])[0]
        return items or None

    def _preferred(self, values: list[int]) -> list[int]:
        """Without the translations of what is there in English or without a language; names keep all."""
        languages = {o: self.languages.get(self.sort_of[o], "") for o in values if self.kind[o] == LITERAL}
        if not any(languages.values()):
            return values
        best = min(language_rank(language) for language in languages.values())
        return [o for o in values if not languages.get(o) or language_rank(languages[o]) == best]

    def _odd(self) -> set[int]:
        """The objects that take more to say than their title or their text."""
        odd, kind, sort_of = set(self.long), self.kind, self.sort_of
        special = self.booleans | self.decimals
        for n, text in enumerate(self.texts):
            if kind[n] == LITERAL:
                # what `clean` leaves as it is
                if (
                    not text.isprintable()
                    or "  " in text
                    or text[:1] in ("", " ")
                    or text[-1] == " "
                    or (special and sort_of[n] in special)
                ):
                    odd.add(n)
            elif kind[n] != IRI:
                odd.add(n)
        return odd

    def _declared(self) -> set[int]:
        """The classes, predicates and the like among the subjects."""
        import numpy as np

        texts, facts = self.texts, self.facts
        rows = np.flatnonzero(np.isin(facts.predicate, list(self.types)))
        kinds = [n for n in np.unique(facts.object[rows]).tolist() if texts[n] in SCHEMA_TYPES]
        found = set(facts.subject[rows[np.isin(facts.object[rows], kinds)]].tolist())
        known = self.schema.class_of.keys() | self.schema.predicate_of.keys()
        return found | {n for n in self.near.subjects() if texts[n] in known and self.kind[n] == IRI}

    def _referrer(self, subject: int) -> tuple[int, str] | None:
        """The only thing that links here, and as what; a thing without a name is called after it."""
        links = self.near.incoming(subject)
        if len(links) != 1 or len(links[0][1]) != 1:
            return None
        number, (referrer,) = links[0]
        how = self.hows[number]
        return (referrer, how.form.text) if how.predicate.functional and how.form.kind == "noun" else None

    def _sentence(self, text: str, subject: int, predicate: int, object: int) -> Sentence:
        triple = self._written(subject), self.texts[predicate], self._written(object)
        return Sentence(_capital(text) if text[0] in "at" else text, Source(triple))

    def _written(self, number: int) -> str:
        return f"_:{self.texts[number]}" if self.kind[number] == BLANK else self.texts[number]


def _how(predicate: Predicate | None) -> _How | None:
    if predicate is None or predicate.role in ("type", "schema"):
        return None
    form = pattern(spoken(clean(predicate.label), local_name(predicate.iri)))
    if form.kind == "verb":
        before, one, many = "", f" {form.text} ", f" {form.text} "
    else:
        before, one, many = f"The {form.text} of ", f" {be(form.text, False)} ", f" {be(form.text, True)} "
    is_name = predicate.role == "name" or predicate.iri == ALTERNATIVE
    is_text = predicate.role == "text"
    order = (4 if predicate.role == "identifier" else 3, form.text)
    return _How(predicate, form, order, before, one, many, is_name, is_text, predicate.iri, predicate.unit)


def _capital(text: str) -> str:
    """A title may begin with a small letter ("iPhone"); a phrase made here must not."""
    return f"T{text[1:]}" if text.startswith("the ") else f"A{text[1:]}" if text.startswith("an unnamed") else text


def _boolean(name: str, how: _How, true: bool) -> str:
    state = is_state(how.form.text)
    if state is None:
        return f"{how.before}{name}{how.one}{'true' if true else 'false'}."
    verb, _, rest = state.partition(" ")
    return f"{name} {verb} {rest}." if true else f"{name} {verb} not {rest}."
