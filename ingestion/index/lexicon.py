"""Write the lexicon of a graph, its names and the links between tables: Layout + Schema -> lexicon file. Nouns for
members of a class are found besides its label: "hard wood" and "soft wood" are woods, "... Mill" are mills."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ingestion.induce.layout import Layout, PredicateColumns
from ingestion.induce.names import expand_abbreviations
from ingestion.meaning.derive import is_translation
from ingestion.read.facts import unique_counts
from nacre.language.data import word_list
from nacre.language.labels import country_forms, label_words
from nacre.language.thesaurus import function_words, is_person
from nacre.language.tokens import (
    is_known,
    joined_tokens,
    lemma,
    lexicon_tokens,
    name_tokens,
    split_name,
    unquoted,
    word_forms,
)
from nacre.language.word_forms import is_participle, singular
from nacre.records.schema import Class, Predicate, Schema
from nacre.stores.sqlite.lexicon import LexiconEntry, NamedThing, Row, TableLink, lexicon_row, write_lexicon

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int32]
    Longs = NDArray[np.int64]

# values of one property that are names: at most so many, as a share of those that have it, letters of one (given)
MOST_SHARED, SHARED, LONGEST_SHARED = 5000, 0.8, 60

# pairs of tables that links connect, counted at once: they take 150 MB (given)
MAX_PAIRS = 4_000_000


def write_names(layout: Layout, schema: Schema, path: Path) -> int:
    """Write the lexicon of the shown graph to `path`; returns the number of names."""
    links, weight, ends = _links(layout, schema)
    described = (*schema_names(schema), *_class_nouns(layout, schema))
    rows = sorted({lexicon_row(name) for name in described if name.tokens}, key=lambda each: (each[1:], each[0]))
    named = chain(rows, _codes(layout, schema), _countries(layout, schema), _shared_values(layout, schema))
    things = _entities(layout, schema, weight, *_endings(ends, len(weight)))
    return write_lexicon(path, named, _facts(layout, schema), links, word_forms, list(ends), things)


def schema_names(schema: Schema) -> Iterator[LexiconEntry]:
    """The names of classes, groups, properties and their values."""
    for c in schema.classes:
        local = split_name(_last_segment(c.iri))
        # and what answers call it
        spoken = {c.label, *c.alt_labels, local, expand_abbreviations(local), label_words(c.label, schema.labels)}
        # an "order header" is what people call an order
        *rest, last = c.label.split() or [""]
        if rest and singular(last.lower()) in word_list("ingestion", "header_words"):
            spoken.add(" ".join(rest))
        for text in spoken:
            yield LexiconEntry(name_tokens(text), "class", c.iri, "", c.label, c.relation, 1.0)
    for g in schema.groups:
        for text in {g.label, *g.words, *(f"{g.label} {w}" for w in g.words if w.lower() not in g.label.lower())}:
            yield LexiconEntry(name_tokens(text), "group", g.relation, "", g.label, g.relation, 1.0)
    links = {
        (kind, split_name(name).lower())
        for p in schema.predicates
        if p.ranges
        for name in (p.label, *p.alt_labels)
        for kind in p.domains
    }
    for p in schema.predicates:
        if p.role in ("type", "schema"):
            continue
        texts = {split_name(n) for n in (p.label, *p.alt_labels)}
        end = split_name(_last_segment(p.iri))
        # the code "airline" that is called "airline code" beside the link to the airline
        if p.ranges or not any((kind, end.lower()) in links for kind in p.domains):
            texts.add(end)
        for text in texts | {expand_abbreviations(text) for text in texts}:
            yield LexiconEntry(name_tokens(text), "predicate", p.iri, "", p.label, "", 1.0)
        if _names_values(p):
            for value in p.values:
                yield from _value_names(value, p, len(p.values))


def _names_values(predicate: Predicate) -> bool:
    """Whether the texts of a property are names of values and not of things."""
    is_text = predicate.has_literals and predicate.role == "fact" and predicate.datatype == "text"
    return is_text and not is_translation(predicate.iri)


def _class_nouns(layout: Layout, schema: Schema) -> Iterator[LexiconEntry]:
    classes = layout.classes
    sets = classes.set_of[layout.entities]

    def names_of(kind: Class) -> Iterator[str]:
        own = [index for index, closed in enumerate(classes.sets) if kind.iri in closed]
        for at in np.flatnonzero(np.isin(sets, own)).tolist():
            yield layout.labels[at]

    for iri, word in find_class_nouns(schema, names_of):
        kind = schema.class_of[iri]
        yield LexiconEntry(name_tokens(word), "class", iri, "", kind.label, kind.relation, NOUN_SCORE)


def _shared_values(layout: Layout, schema: Schema) -> Iterator[Row]:
    """The texts of properties with more values than a schema shows, where things share them: "the winery Mill Hill"."""
    for predicate, place in _places(layout, schema):
        if predicate.values or not _names_values(predicate):
            continue
        if len(place.distinct) > min(MOST_SHARED, SHARED * predicate.triples):
            continue
        for value in sorted(layout.facts.texts[n] for n in place.distinct.tolist()):
            if len(value) <= LONGEST_SHARED and any(map(str.isalpha, value)):
                yield from map(lexicon_row, _value_names(value, predicate, len(place.distinct)))


# what stands between the parts of a value, each of which may name it; things of each value of a property that sorts
# them, words of a part, at least and at most; the weight of a part (given)
_BETWEEN_PARTS, MIN_SORTED, MAX_PART_WORDS, PART_WEIGHT = re.compile(r"[/;()]|\s[-–]\s"), 3, 4, 0.9


def _value_names(value: str, predicate: Predicate, values: int) -> Iterator[LexiconEntry]:
    """A value as it is written, and with the parts of it that begin with capitals: "memoQ", "FlatRoof"; its name as
    people say it: "Anna Wick" of "Wick, Anna", "Wick" of "Wick Ltd"; a part of what sorts things: "Hard cheese" of
    "Dairy/Hard cheese"."""
    names = dict.fromkeys((name_tokens(split_name(value)), name_tokens(value)), 1.0)
    before, _, after = value.partition(", ")
    parts = _BETWEEN_PARTS.split(value) if values * MIN_SORTED <= predicate.triples else ()
    for part in (value, f"{after} {before}" if "," not in after else "", *parts):
        words = name_tokens(part)
        while words and words[-1] in word_list("ingestion", "company_forms"):
            words = words[:-1]
        if len(words) <= MAX_PART_WORDS and not function_words().issuperset(words) and any(map(str.isalpha, words)):
            names.setdefault(words, PART_WEIGHT)
    for words, weight in names.items():
        yield LexiconEntry(words, "value", value, predicate.iri, value, "", weight)


def _codes(layout: Layout, schema: Schema) -> Iterator[Row]:
    """The codes of expanded values as further names, as they are written and in parts that begin with capitals."""
    texts = layout.facts.texts
    for number, codes in sorted(layout.facts.codes.items()):
        predicate = texts[number]
        if predicate in schema.predicate_of:
            for value, code in sorted((texts[v], texts[c]) for v, said in codes.items() for c in said):
                forms = sorted({lexicon_tokens(code), lexicon_tokens(split_name(code))})
                for tokens in forms if any(map(str.isalpha, code)) else ():
                    yield lexicon_row(LexiconEntry(tokens, "value", value, predicate, value, "", 1.0))


def _countries(layout: Layout, schema: Schema) -> Iterator[Row]:
    """What is of a country is called by its other names and an adjective: "Italian" what is of IT, or of Italy."""
    for predicate, place in _places(layout, schema):
        words = split_name(_last_segment(predicate.iri)).lower().split()
        if predicate.role != "fact" or word_list("wording", "countries").isdisjoint(words):
            continue
        for value in sorted(layout.facts.texts[n] for n in place.distinct.tolist()):
            for form in country_forms().get(value.strip().casefold(), ()):
                yield lexicon_row(LexiconEntry(name_tokens(form), "value", value, predicate.iri, value, "", 1.0))


def _entities(
    layout: Layout, schema: Schema, weight: "Longs", ends: list[str], ends_of: "Ints"
) -> Iterator[tuple[NamedThing, list[str]]]:
    """Every thing that a table shows with all its names; `weight` counts links, `ends` are their predicates."""
    texts, relation_of = layout.facts.texts, _relation_of(layout, schema)
    called = word_list("wording", "countries")
    of_countries = {c.relation for c in schema.classes if not called.isdisjoint(c.label.lower().split())}
    counts, stated = _stated_names(layout, schema)
    # the numbers of a buffer are made one by one, those of a list all at once
    columns = (each[layout.entities].data for each in (layout.classes.set_of, weight, ends_of))
    things = zip(layout.labels, layout.entities.data, counts.data, *columns, strict=True)
    for label, number, count, index, links, end in things:
        said = {label, *islice(stated, count)}
        relation = relation_of.get(index)
        if relation is None:
            continue
        if relation in of_countries:
            said.update(*(country_forms().get(form.casefold(), ()) for form in tuple(said)))
        iri = texts[number]
        local = _last_segment(iri)
        names = set(map(joined_tokens, said))
        local = unquoted(_without_key_names(local))
        names.add(local if local.isdigit() else joined_tokens(split_name(local)))
        # a thing that only its IRI names is rarely meant
        prominence = -1 if not count and len(names) == 1 else links
        names.discard("")
        thing = "entity", iri, "", label or iri, relation, prominence, ends[end]
        yield thing, sorted(names)


def _stated_names(layout: Layout, schema: Schema) -> "tuple[Longs, Iterator[str]]":
    """The number of values of naming predicates of each entity, and the values in the order of the entities."""
    place_of = np.zeros(len(layout.facts.texts), dtype=np.int32)
    place_of[layout.entities] = np.arange(len(layout.entities), dtype=np.int32)
    forms: list[str] = []
    owners, values = [np.empty(0, dtype=np.int32)], [np.empty(0, dtype=np.int32)]
    for predicate, place in _places(layout, schema):
        names = predicate.role in ("name", "identifier") or is_translation(predicate.iri)
        if names and place.cells is not None:
            at = place.distinct.searchsorted(place.object[place.literal]) + len(forms)
            owners.append(place_of[place.subject[place.literal]])
            values.append(at.astype(np.int32))
            texts = map(layout.facts.texts.__getitem__, place.distinct.tolist())
            forms.extend(texts if place.cells.text else map(str, place.cells.value))
    owner = np.concatenate(owners)
    ordered = np.concatenate(values)[owner.argsort(kind="stable")]
    return np.bincount(owner, minlength=len(layout.entities)), map(forms.__getitem__, ordered.data)


def _relation_of(layout: Layout, schema: Schema) -> dict[int, str]:
    """For each type set the relation that shows its things: its table, or the view of a rare or its smallest class."""
    classes = layout.classes
    shown = {group.relation for group in schema.groups}
    found = {table.sets[0]: table.name for table in classes.tables if table.name in shown}
    for iri, sets in classes.small_kinds().items():
        if classes.relation_of[iri] in shown:
            found.update(dict.fromkeys(sets, classes.relation_of[iri]))
    for table in classes.tables:
        for index in table.sets[1:]:
            known = [schema.class_of[iri] for iri in classes.sets[index] if iri in schema.class_of]
            if index not in found and known:
                found[index] = min(known, key=lambda c: (c.count, c.iri)).relation
    return found


def _facts(layout: Layout, schema: Schema) -> Iterator[tuple[str, str, int]]:
    """(table, predicate, number of its rows that have it)."""
    relation_of = _relation_of(layout, schema)
    for predicate, place in _places(layout, schema):
        for index, count in place.domains.items():
            if index in relation_of:
                yield relation_of[index], predicate.iri, count
        for iri, count in layout.classes.kinds_of(place.subject).items():
            if iri in schema.class_of:
                yield layout.classes.relation_of[iri], predicate.iri, count


def _links(layout: Layout, schema: Schema) -> "tuple[list[TableLink], Longs, dict[str, Ints]]":
    """The number of links of each predicate between tables, those of each term, and the predicates' targets."""
    classes = layout.classes
    relation_of = _relation_of(layout, schema)
    kinds = {iri: terms for iri, terms in classes.kinds.items() if iri in schema.class_of}
    relations = ["", *sorted({*relation_of.values(), *(classes.relation_of[iri] for iri in kinds)})]
    number_of = {relation: number for number, relation in enumerate(relations)}
    home_of_set = np.zeros(len(classes.sets) + 1, dtype=np.int64)
    for index, relation in relation_of.items():
        home_of_set[index] = number_of[relation]
    also_of = [(terms, number_of[classes.relation_of[iri]]) for iri, terms in kinds.items()]
    homes_of = np.ones(len(layout.facts.texts), dtype=np.int64)
    for terms, _ in also_of:
        homes_of[np.unique(terms)] += 1
    links, ends = [], [np.empty(0, dtype=np.int32)]
    led: dict[str, Ints] = {}
    for predicate, place in _places(layout, schema):
        if predicate.role in ("type", "schema"):
            continue
        rows = ~place.literal if place.junction else ~place.literal & (home_of_set[classes.set_of[place.subject]] > 0)
        subjects, objects = place.subject[rows], place.object[rows]
        ends += [subjects, objects]
        led[predicate.iri] = np.unique(objects)
        subject_homes, object_homes = home_of_set[classes.set_of[subjects]], home_of_set[classes.set_of[objects]]
        found: Counter[int] = Counter()
        for part in _parts(homes_of[subjects] * homes_of[objects]):
            homes, ends_of, end_homes = _with_kinds(
                subjects[part], subject_homes[part], also_of, objects[part], object_homes[part]
            )
            end_homes, homes = _with_kinds(ends_of, end_homes, also_of, homes)
            pairs, counts = unique_counts(homes * len(relations) + end_homes)
            found.update(dict(zip(pairs.tolist(), counts.tolist(), strict=True)))
        for pair, count in sorted(found.items()):
            subject, object_ = divmod(pair, len(relations))
            links.append(TableLink(predicate.iri, relations[subject], relations[object_], count))
    return links, np.bincount(np.concatenate(ends), minlength=len(layout.facts.texts)), led


def _parts(sizes: "Longs") -> Iterator[slice]:
    """The spans of links that are counted at once; `sizes` are the pairs of tables of each link."""
    if not len(sizes) or sizes.max() == 1:
        yield slice(None)
        return
    parts = np.cumsum(sizes) // MAX_PAIRS
    edges = [0, *(np.flatnonzero(np.diff(parts)) + 1).tolist(), len(sizes)]
    yield from (slice(first, last) for first, last in pairwise(edges))


def _endings(led: "dict[str, Ints]", terms: int) -> "tuple[list[str], Ints]":
    """The numbers of the predicates that lead to terms, as the lexicon file has them, and the index of each term's."""
    texts, index = [""], np.zeros(terms, dtype=np.int32)
    for number, ends in enumerate(led.values()):
        before, which = np.unique(index[ends], return_inverse=True)
        index[ends] = len(texts) + which
        texts += [f"{texts[each]} {number}".strip() for each in before.tolist()]
    return texts, index


def _with_kinds(
    terms: "Ints", homes: "Longs", also_of: "list[tuple[Ints, int]]", *beside: "NDArray[Any]"
) -> "tuple[NDArray[Any], ...]":
    """The homes of terms, once more for every kind that a term is of; what stands beside them is repeated alike."""
    rows, found = [np.arange(len(terms))], [homes]
    for members, home in also_of:
        here = np.flatnonzero(np.isin(terms, members))
        rows.append(here)
        found.append(np.full(len(here), home, dtype=np.int64))
    order = np.concatenate(rows)
    return np.concatenate(found), *(each[order] for each in beside)


def _places(layout: Layout, schema: Schema) -> Iterator[tuple[Predicate, PredicateColumns]]:
    for place in layout.places:
        if place.iri in schema.predicate_of:
            yield schema.predicate_of[place.iri], place


def _without_key_names(segment: str) -> str:
    """The values of the key at the end of the IRI of a row, nothing for the number of a row; another segment as it is.

    >>> _without_key_names("Cost centre=0100;Line=2"), _without_key_names("row=2021"), _without_key_names("Oslo")
    ('0100;2', '', 'Oslo')
    """
    if segment.startswith(ROW_NUMBERS):
        return ""
    return ";".join(part.rpartition("=")[2] for part in segment.split(";")) if "=" in segment else segment


def _last_segment(iri: str) -> str:
    """The last segment of an IRI.

    >>> _last_segment("http://ex.org/a#birthPlace")
    'birthPlace'
    """
    iri = iri.rstrip("/#")
    return iri[max(iri.rfind("#"), iri.rfind("/")) + 1 :]


# score of an inferred noun for a class; the label has 1 (given)
NOUN_SCORE = 0.9

# minimum share and number of names or categories that end in the noun
MIN_SHARED, MIN_NAMES = 0.6, 3

# maximum number of examined names, minimum length of a word
MAX_NAMES, MIN_LETTERS = 1000, 3

# minimum share of the things of a class that have the property
MIN_COVERED = 0.9


NamesOf = Callable[[Class], Iterable[str]]


# begins of the last segment of IRIs of rows without a key
ROW_NUMBERS = ("row=", "rowid=", "ctid=")


class ClassNoun(NamedTuple):
    """A class and a noun for its members."""

    iri: str
    word: str


def find_class_nouns(schema: Schema, names_of: NamesOf) -> tuple[ClassNoun, ...]:
    """The nouns of all classes, each only where no class has it as its own name; a word may name several classes.
    `names_of` gives the names of things."""
    own = {word for c in schema.classes for text in (c.label, *c.alt_labels) for word in _heads(text)}
    found = {*_by_name(schema), *_by_category(schema), *_by_members(schema, names_of)}
    return tuple(sorted(each for each in found if each.word not in own))


def _heads(label: str) -> Iterator[str]:
    """The lemma and the singular of a label of one word."""
    words = split_name(label).lower().split()
    if len(words) == 1:
        yield lemma(words[0])
        yield singular(words[0])


def _by_name(schema: Schema) -> Iterator[ClassNoun]:
    """By the property that names the things of one class alone: "firm name"; what has a "name" besides is no firm."""
    found: dict[str, list[str]] = {}
    names = word_list("ingestion", "name_words")
    named = {c for p in schema.predicates if split_name(p.label).lower() in names for c in p.domains}
    for p in schema.predicates:
        *words, last = split_name(p.label).lower().split() or [""]
        # the smallest class with all things that have the property
        own = (schema.class_of[iri] for iri, n in p.domains.items() if iri in schema.class_of and n == p.subjects)
        mine = min(own, key=lambda c: (c.count, c.iri), default=None)
        if mine is None or mine.iri in named or last != "name" or not words or not _tells_apart(p, mine):
            continue
        found.setdefault(mine.iri, []).append(" ".join(words))
    for iri, nouns in found.items():
        noun = nouns[0]
        kind = schema.class_of[iri]
        # one of several names says less, and a person's name is that of a part of a firm
        if len(nouns) == 1 and _is_noun(noun) and (is_person(kind.label) or not is_person(noun)):
            yield ClassNoun(iri, noun)


def _tells_apart(predicate: Predicate, kind: Class) -> bool:
    """Whether a property has a unique text for nearly each thing of a class."""
    enough = predicate.subjects >= MIN_COVERED * kind.count and predicate.objects >= MIN_COVERED * predicate.subjects
    return enough and predicate.functional and predicate.datatype == "text" and not predicate.has_links


def _by_category(schema: Schema) -> Iterator[ClassNoun]:
    """Nouns from the categories of a class's things: "hard wood", "soft wood"."""
    sorting = word_list("wording", "sorting")
    for p in schema.predicates:
        ends = [schema.class_of[iri] for iri, n in p.ranges.items() if iri in schema.class_of and 2 * n > p.objects]
        # a kind among the ends, "soft wood", is one of those that are looked at
        names = [split_name(p.label).split(), *(split_name(c.label).split() for c in ends if not c.within)]
        if not any(words and lemma(words[-1].lower()) in sorting for words in names) or not p.functional:
            continue
        word = _shared_head([v for v in p.values if v], {lemma(words[-1].lower()) for words in names if words})
        kinds = [schema.class_of[iri] for iri in p.domains if iri in schema.class_of]
        mine = [c for c in kinds if p.domains[c.iri] >= MIN_COVERED * c.count and c.count > len(p.values)]
        if word and mine:
            yield ClassNoun(max(mine, key=lambda c: (c.count, c.iri)).iri, word)


def _by_members(schema: Schema, names_of: NamesOf) -> Iterator[ClassNoun]:
    """By the names of the things of a class that says nothing of them: "Old Mill", "Lower Mill"."""
    generic = word_list("wording", "generic_kinds")
    found: dict[str, list[Class]] = {}
    sorted_into = {iri for p in schema.predicates if p.has_links and _sorts(p) for iri in p.ranges}
    for c in schema.classes:
        words = split_name(c.label).lower().split()
        if c.count < MIN_NAMES or not generic.issuperset(words) or c.iri in sorted_into:
            continue
        word = _shared_head(list(islice(names_of(c), MAX_NAMES)), set(words))
        if word:
            found.setdefault(word, []).append(c)
    for word, kinds in found.items():
        # of a class and those above it, the one that says most
        yield ClassNoun(min(kinds, key=lambda c: (c.count, c.iri)).iri, word)


def _sorts(predicate: Predicate) -> bool:
    words = split_name(predicate.label).lower().split()
    return bool(words) and lemma(words[-1]) in word_list("wording", "sorting")


def _shared_head(names: Sequence[str], said: set[str]) -> str:
    """The noun at the end of most names, "" if there is none or it is in `said`."""
    ends = [words for name in names if (words := name.lower().split())]
    if len(ends) < MIN_NAMES:
        return ""
    ((last, _),) = Counter(singular(words[-1]) for words in ends).most_common(1)
    with_more = [words for words in ends if singular(words[-1]) == last and len(words) > 1]
    enough = len(with_more) >= max(MIN_NAMES, MIN_SHARED * len(ends))
    return last if enough and lemma(last) not in said and last not in said and _is_noun(last) else ""


def _is_noun(words: str) -> bool:
    parts = words.split()
    if (
        len(parts) > 2
        or len(parts[-1]) < MIN_LETTERS
        or set(parts) & word_list("wording", "kinds_of_name")
        or is_participle(parts[-1])
    ):
        return False
    return all(part.isalpha() and is_known(part, lang="en") for part in parts)
