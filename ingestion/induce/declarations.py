"""What a graph declares about its classes and predicates: Facts -> labels, comments, parents, inverses. Labels and
comments are cut to the limits of a schema. Then the shown label of each entity, stated or inferred: Facts -> labels."""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ingestion.induce.names import label_from_iri, lowercase_name, readable_name
from ingestion.meaning.derive import SPELLING_REASON
from ingestion.meaning.draft import MAX_NEAREST, Closure, transitive_closure
from ingestion.read.facts import Facts, change_mask, unique_counts
from ingestion.vocabulary import (
    ALTERNATIVE,
    COMMENT_PREDICATES,
    INVERSE,
    LANGUAGE_STRING,
    NOTATION,
    SCHEMA_PREDICATES,
    SCHEMA_TYPES,
    SKOS,
    SUBCLASS,
    SUBPROPERTY,
    TYPE,
    XSD,
    language_rank,
    local_name,
    name_rank,
    vocabulary_labels,
)
from nacre.language.data import phrase_list, word_list
from nacre.language.labels import readable_label
from nacre.language.tokens import ENGLISH, language_names
from nacre.records.schema import UNNAMED, Class, Predicate, Schema

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.intp]


@dataclass
class Declarations:
    """The declarations of a graph. `is_schema[t]`: the term belongs to the schema and is not a thing of the data."""

    is_schema: "NDArray[np.bool_]"
    number_of: dict[str, int]
    classes: set[str]
    labels: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    comments: dict[str, str] = field(default_factory=dict)
    alternatives: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    class_parents: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    predicate_parents: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    inverses: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def label(self, iri: str) -> str:
        """The preferred label of a class or predicate, or ""."""
        return self.labels[iri][0][:MAX_LABEL] if self.labels.get(iri) else ""

    def other_labels(self, iri: str) -> tuple[str, ...]:
        """All other labels of a class or predicate."""
        others = [*self.labels.get(iri, [])[1:], *self.alternatives.get(iri, [])]
        return other_labels(others)

    def ancestors(self, iri: str) -> frozenset[str]:
        """The class and its ancestors, in large hierarchies the nearest ones; cycles are allowed."""
        return self._closure.ancestors.get(iri, frozenset()) | {iri}

    @property
    def limits(self) -> tuple[str, ...]:
        """What is not considered because it would be too much."""
        return () if self._closure.complete else (f"superclasses: only the {MAX_NEAREST} nearest of each class",)

    @cached_property
    def _closure(self) -> Closure:
        return transitive_closure(self.class_parents)


def read_declarations(facts: Facts) -> Declarations:
    """Separate declarations of classes and predicates from the data; if there is nothing else, they are the data."""
    texts = facts.texts
    number_of = {texts[n]: n for n in facts.predicates}
    type_number = number_of.get(TYPE, -1)
    type_rows = np.flatnonzero(facts.predicate == type_number)
    if (respelt := facts.aside.get(SPELLING_REASON)) is not None:
        type_rows = np.setdiff1d(type_rows, respelt)
    used_classes, _ = unique_counts(facts.object[type_rows])
    is_schema = _schema_terms(facts, number_of, type_rows, used_classes)
    if facts.things is not None:
        is_schema[facts.things] = False
    elif is_schema[facts.subject].all():
        is_schema[:] = False
    declared = {texts[n] for n in used_classes.tolist() if not facts.is_literal[n]} - SCHEMA_TYPES
    statements = Declarations(is_schema, number_of, declared)
    described = np.zeros(len(texts), dtype=bool)
    described[used_classes] = True
    described[list(number_of.values())] = True
    described |= is_schema
    if facts.memberships is not None:
        described[facts.memberships[:, 1]] = True
    for iri in (SUBCLASS, SUBPROPERTY, INVERSE):
        if iri in number_of:
            rows = facts.predicate == number_of[iri]
            described[facts.subject[rows]] = True
    _read(facts, np.flatnonzero(described[facts.subject]), statements)
    if facts.things is not None:
        statements.classes -= {texts[n] for n in facts.things.tolist()}
    return statements


def _schema_terms(
    facts: Facts, number_of: dict[str, int], type_rows: "NDArray[np.intp]", used_classes: "NDArray[np.int32]"
) -> "NDArray[np.bool_]":
    size = len(facts.texts)
    schema_types = np.zeros(size, dtype=bool)
    schema_types[[n for n in used_classes.tolist() if facts.texts[n] in SCHEMA_TYPES]] = True
    declared, other = np.zeros(size, dtype=bool), np.zeros(size, dtype=bool)
    of_schema = schema_types[facts.object[type_rows]]
    declared[facts.subject[type_rows[of_schema]]] = True
    other[facts.subject[type_rows[~of_schema]]] = True
    used = np.zeros(size, dtype=bool)
    used[list(number_of.values())] = True
    used[used_classes] = True
    for iri in SCHEMA_PREDICATES & number_of.keys():
        used[facts.subject[facts.predicate == number_of[iri]]] = True
    is_schema = (declared | used) & ~other
    is_schema &= ~facts.is_literal
    return _with_blank_parts(facts, is_schema, other)


def _with_blank_parts(facts: Facts, is_schema: "NDArray[np.bool_]", other: "NDArray[np.bool_]") -> "NDArray[np.bool_]":
    """Blank nodes that only schema statements lead to (lists, restrictions) also belong to the schema."""
    blank = facts.kinds("blank")
    links = np.flatnonzero(blank[facts.object])
    sources, targets = facts.subject[links], facts.object[links]
    while True:
        led = np.zeros(len(is_schema), dtype=bool)
        led[targets[is_schema[sources]]] = True
        led[targets[~is_schema[sources]]] = False
        new = led & ~is_schema & ~other
        if not new.any():
            return is_schema
        is_schema = is_schema | new


def _read(facts: Facts, rows: "NDArray[np.intp]", statements: Declarations) -> None:
    texts = facts.texts
    names: dict[str, list[tuple[int, tuple[int, str], str]]] = defaultdict(list)
    notations: dict[str, list[str]] = defaultdict(list)
    comments: dict[str, list[tuple[tuple[int, str], str]]] = defaultdict(list)
    for row in rows.tolist():
        predicate, number = texts[facts.predicate[row]], facts.object[row]
        kind, _, language = facts.sorts[facts.sort_of[number]]
        subject, value = texts[facts.subject[row]], texts[number]
        if kind == "literal":
            rank = name_rank(predicate)
            if rank is not None:
                names[subject].append((rank, language_rank(language, facts.languages), value))
            elif predicate == NOTATION:
                notations[subject].append(value)
            elif predicate == ALTERNATIVE:
                statements.alternatives[subject].append(value)
            elif predicate in COMMENT_PREDICATES:
                comments[subject].append((language_rank(language, facts.languages), value))
        elif kind == "iri":
            if predicate == SUBCLASS and value != subject:
                statements.class_parents[subject].append(value)
                statements.classes |= {subject, value}
            elif predicate == SUBPROPERTY and value != subject:
                statements.predicate_parents[subject].append(value)
            elif predicate == INVERSE:
                statements.inverses[subject].append(value)
                statements.inverses[value].append(subject)
            elif predicate == TYPE and value in SCHEMA_TYPES and value.endswith("Class"):
                statements.classes.add(subject)
    for subject, found in names.items():
        statements.labels[subject] = list(dict.fromkeys(value for _, _, value in sorted(found)))
    for subject in notations.keys() - names.keys():
        statements.labels[subject] = sorted(notations[subject])
    if facts.memberships is not None:
        used = statements.number_of.keys()
        # without other SKOS predicates, an alternative label is only another name
        alone = {ALTERNATIVE} if {iri for iri in used if iri.startswith(SKOS)} == {ALTERNATIVE} else set()
        for iri in vocabulary_labels().keys() & used - statements.labels.keys() - alone:
            statements.labels[iri] = list(vocabulary_labels()[iri])
    for iri in statements.number_of:
        if readable_name(local_name(iri)).lower() in word_list("ingestion", "alternative_name_labels"):
            statements.alternatives[iri] += vocabulary_labels()[ALTERNATIVE]
    statements.comments = {subject: min(found)[1][:MAX_COMMENT] for subject, found in comments.items()}
    for lists in (statements.alternatives, statements.class_parents, statements.predicate_parents, statements.inverses):
        for key, values in lists.items():
            lists[key] = sorted(set(values))


# characters of a label of a class or predicate, stated or from its IRI (given)
MAX_LABEL = 300

# other labels of a class or predicate (given)
MAX_OTHER_LABELS = 100

# characters of a comment; schema.org's longest one has 1,500 (given)
MAX_COMMENT = 2000

DescribedTerm = TypeVar("DescribedTerm", Class, Predicate)


def limit_schema(schema: Schema) -> Schema:
    """The schema with labels, other labels and comments within their limits."""
    return replace(
        schema,
        classes=tuple(_limit_texts(each) for each in schema.classes),
        groups=tuple(replace(each, label=each.label[:MAX_LABEL]) for each in schema.groups),
        predicates=tuple(_limit_texts(each) for each in schema.predicates),
    )


def other_labels(labels: Iterable[str]) -> tuple[str, ...]:
    """Distinct labels within their limits."""
    return tuple(dict.fromkeys(label[:MAX_LABEL] for label in labels))[:MAX_OTHER_LABELS]


def _limit_texts(each: DescribedTerm) -> DescribedTerm:
    return replace(
        each, label=each.label[:MAX_LABEL], comment=each.comment[:MAX_COMMENT], alt_labels=other_labels(each.alt_labels)
    )


_LONGEST = 200

# the rank of the first language besides English and none
_FOREIGN = language_rank("x")[0]

FLOATS = frozenset({XSD + "double", XSD + "float"})

NUMBER = re.compile(r"[+-]?[0-9.]+([eE][+-]?[0-9]{1,3})?", re.ASCII)

_LETTERS = re.compile(r"[^\W\d_]{2}")

# a word, and perhaps a number: "article16"
_NUMBERED = re.compile(r"[A-Za-z]{3,}(?:[_-][A-Za-z]+)*[_-]?[0-9]{0,6}")

_WORDS = re.compile(r"[A-Za-z]{3,}([_-][A-Za-z]+)*")

# words in camel case, as the names of properties: "accessURL"; "iPhone" and "McDonald" are names
_CAMEL_CASE = re.compile(r"[a-z]{3,}[A-Z][A-Za-z]*")


def preferred_labels(facts: Facts, entities: "NDArray[np.int32]", visible: "NDArray[np.bool_]") -> list[str]:
    """For each entity: prefLabel, label, name or title (English first), else the last segment of its IRI.
    A blank node without a name is called by its short literals, else "unnamed"."""
    texts = facts.texts
    best = best_names(facts, visible)
    blanks = facts.kinds("blank")
    unnamed = {n for n in entities[blanks[entities]].tolist() if best[n] is None}
    described = _by_literals(facts, visible, unnamed)
    labels = []
    # the IRI of a class has no spaces, so it is split into words
    classes = set() if facts.things is None else set(facts.things.tolist())
    for number in entities.data:
        name = best[number] or ""
        text = " ".join(name.split())[:_LONGEST]
        # one text in memory
        text = name if text == name else text
        if not text:
            text = described.get(number, UNNAMED) if number in unnamed else label_from_iri(texts[number])
            if _CAMEL_CASE.fullmatch(text):
                text = lowercase_name(text)
            elif number in classes:
                text = readable_name(text)
        labels.append(text)
    return labels


def best_names(facts: Facts, among: "NDArray[np.bool_]") -> list[str | None]:
    """The best name of each subject of these triples: by predicate, language, alphabet; inferred without a label."""
    texts = facts.texts
    best, named = _stated_names(facts, among)
    # codes and data are names only if nothing else is
    unreadable = set()
    for number in named.data:
        stated = best[number] or ""
        readable = readable_label(stated)
        best[number] = readable or stated
        if readable != stated and not readable:
            unreadable.add(number)
    known = named[~np.isin(named, list(unreadable))] if unreadable else named
    found = infer_names(facts, among, known)
    inferred = {n: readable for n, text in found.items() if (readable := readable_label(text))}
    by_iri = {
        n: readable_name(label_from_iri(texts[n])) for n in unreadable if _NUMBERED.fullmatch(local_name(texts[n]))
    }
    for number, text in (by_iri | inferred).items():
        best[number] = text
    for number, text in _notations(facts, among).items():
        best[number] = text if best[number] is None else best[number]
    return best


def _stated_names(facts: Facts, among: "NDArray[np.bool_]") -> "tuple[list[str | None], NDArray[np.int32]]":
    ranks = np.full(len(facts.texts), -1, dtype=np.int16)
    for number in facts.predicates:
        rank = name_rank(facts.texts[number])
        if rank is not None:
            ranks[number] = rank
    rows = np.flatnonzero(among & (ranks[facts.predicate] >= 0) & facts.is_literal[facts.object])
    tags = sorted({sort[2] for sort in facts.sorts}, key=lambda tag: language_rank(tag, facts.languages))
    order_of = {tag: number for number, tag in enumerate(tags)}
    languages = np.array([order_of[sort[2]] for sort in facts.sorts], dtype=np.int64)
    objects = facts.object[rows]
    quality = ranks[facts.predicate[rows]].astype(np.int64) * (len(tags) + 1) + languages[facts.sort_of[objects]]
    order = np.lexsort((quality, facts.subject[rows]))
    rows, quality, objects = rows[order], quality[order], objects[order]
    subjects = facts.subject[rows]
    first = change_mask(subjects)
    texts = facts.texts
    named = subjects[first]
    # a dictionary would take six times the memory
    best: list[str | None] = [None] * len(texts)
    for number, stated in zip(named.data, map(texts.__getitem__, objects[first].data), strict=True):
        best[number] = stated
    ties = np.zeros(len(rows), dtype=bool)
    ties[1:] = (quality == quality[np.maximum.accumulate(np.where(first, np.arange(len(rows)), 0))])[1:] & ~first[1:]
    for number, other in zip(subjects[ties].tolist(), objects[ties].tolist(), strict=True):
        best[number] = min(best[number] or "", texts[other])
    uncased = {number for number in subjects[~first].tolist() if (best[number] or "").islower()}
    for number, other in zip(subjects[~first].tolist(), objects[~first].tolist(), strict=True):
        # of two names that differ in case, the one with capitals is how it is written
        name = best[number] or ""
        if number in uncased and texts[other].casefold() == name.casefold():
            best[number] = max(name, texts[other], key=lambda text: sum(map(str.isupper, text)))
    language = quality[first] % (len(tags) + 1)
    known = sum(language_rank(tag, facts.languages)[0] < _FOREIGN for tag in tags)
    foreign, english = language >= known, language < known - ("" in tags)
    if foreign.sum() < english.sum():
        # if more names are English, the words of an IRI are preferred to a name in another language
        for number in named[foreign].tolist():
            if _WORDS.fullmatch(local_name(texts[number])):
                best[number] = readable_name(label_from_iri(texts[number]))
    return best, named


def _notations(facts: Facts, among: "NDArray[np.bool_]") -> dict[int, str]:
    """The alphabetically first notation of each subject."""
    number = next((n for n in facts.predicates if facts.texts[n] == NOTATION), -1)
    rows = np.flatnonzero(among & (facts.predicate == number) & facts.is_literal[facts.object])
    pairs = zip(facts.subject[rows].tolist(), facts.object[rows].tolist(), strict=True)
    return dict(sorted(((subject, facts.texts[notation]) for subject, notation in pairs), reverse=True))


def _by_literals(facts: Facts, visible: "NDArray[np.bool_]", unnamed: set[int]) -> dict[int, str]:
    if not unnamed:
        return {}
    wanted = np.zeros(len(facts.texts), dtype=bool)
    wanted[list(unnamed)] = True
    rows = np.flatnonzero(visible & wanted[facts.subject] & facts.is_literal[facts.object])
    parts: dict[int, list[tuple[str, str]]] = {}
    codes: dict[int, list[tuple[str, str]]] = {}
    for row in rows.tolist():
        kind, text = facts.sorts[facts.sort_of[facts.object[row]]], facts.texts[facts.object[row]]
        if 0 < len(text) <= 40 and "://" not in text:
            said = f"{float(text):g}" if kind[1] in FLOATS and NUMBER.fullmatch(text) else text
            code = kind[1] in ("", XSD + "string") and not _LETTERS.search(text)
            found = (codes if code else parts).setdefault(int(facts.subject[row]), [])
            found.append((facts.texts[facts.predicate[row]], said))
    return {number: ", ".join(text for _, text in sorted(found)[:4]) for number, found in (codes | parts).items()}


# minimum share of distinct values of a name, and of things of a class that have it
MIN_UNIQUE = 0.9

MIN_COVERED = 0.9

# with fewer things in a class, unique texts have no meaning
MIN_THINGS = 5

MAX_NAME_LENGTH = 60

_TEXT_DATATYPES = frozenset({"", XSD + "string", LANGUAGE_STRING})

# words with a capital letter or a space, as in names; no addresses, numbers or codes
# several words, a word with a capital letter, or such words with hyphens: no code, no words in camel case
_NAME_SHAPE = re.compile(
    r"(?!.*(://|@))(?=.*[^\W\d_]{2})([^\W\d_].*\s.*|[^\W\d_a-z][^\W\d_]+|[^\W\d_a-z][a-zß-ÿ]+(-[^\W\d_][a-zß-ÿ]+)+)"
)

# a description may also be a single word
_DESCRIPTION_SHAPE = re.compile(r"(?!.*(://|@))(?=.*[^\W\d_]{3})[^\W\d_].*")


_SIGNS = re.compile(r"[\W_]+")


def infer_names(facts: Facts, among: "NDArray[np.bool_]", named: "NDArray[np.int32]") -> dict[int, str]:
    """Names of subjects that are not `named`, in this order: both names of a person; a "name" or "title" that is nearly
    unique in a class, on nearly all things; the only text or description; a text that spells the IRI; such a name on
    fewer things."""
    open_ = np.ones(len(facts.texts), dtype=bool)
    open_[named] = False
    rows = np.flatnonzero(among & open_[facts.subject] & facts.is_literal[facts.object])
    if not len(rows):
        return {}
    plain = np.array([sort[1] in _TEXT_DATATYPES for sort in facts.sorts], dtype=bool)
    rows = rows[plain[facts.sort_of[facts.object[rows]]]]
    words = {
        n: readable_name(local_name(facts.texts[n])).lower().removeprefix("has ")
        for n in unique_counts(facts.predicate[rows])[0].tolist()
    }
    found = _person_names(facts, rows, words)
    # a class of each term, -1 if it has none
    kind_of = np.full(len(facts.texts), -1, dtype=np.int32)
    type_number = next((n for n in facts.predicates if facts.texts[n] == TYPE), -1)
    typed = np.flatnonzero(facts.predicate == type_number)
    kind_of[facts.subject[typed]] = facts.object[typed]
    of_some: dict[int, str] = {}
    for number in sorted(words, key=lambda n: (_name_order(words[n]), facts.texts[n])):
        if _is_name(words[number]):
            mine = _naming(facts, rows[facts.predicate[rows] == number], kind_of)
            if len(mine):
                names = {
                    n: text for n, text in _texts(facts, mine) if "_" not in text or text != local_name(facts.texts[n])
                }
                known = found if _covers(kind_of, names) else of_some
                known |= {subject: text for subject, text in names.items() if subject not in known}
    return of_some | _spelled_iris(facts, rows) | found | _distinctive_texts(facts, rows, words, found, kind_of)


def is_name_shaped(text: str) -> bool:
    """Whether a text looks like a name: short, with a capital letter or a space, no address, number or code.

    >>> is_name_shaped("Adler & Sons"), is_name_shaped("Baden-Baden"), is_name_shaped("a12"), is_name_shaped("XK-BD")
    (True, True, False, False)
    """
    return len(text) <= MAX_NAME_LENGTH and _NAME_SHAPE.fullmatch(text.strip()) is not None


def person_name_labels() -> tuple[frozenset[str], frozenset[str]]:
    """Labels of predicates with given names, and of those with family names."""
    return word_list("ingestion", "given_name_labels"), word_list("ingestion", "family_name_labels")


def _covers(kind_of: "NDArray[np.int32]", names: dict[int, str]) -> bool:
    """Whether the names cover nearly all things of their most frequent class; True for things without a class."""
    kinds = kind_of[list(names)]
    if not len(kinds) or not (kinds >= 0).any():
        return True
    kind = int(np.bincount(kinds[kinds >= 0]).argmax())
    return int((kinds == kind).sum()) >= MIN_COVERED * int((kind_of == kind).sum())


def _kind_of_name(words: str) -> tuple[list[str], str, str]:
    """The label of a predicate without what follows a "name" in it: the kind of name and its language, or "".

    >>> _kind_of_name("name short en"), _kind_of_name("trade name"), _kind_of_name("name fr")
    ((['name'], 'short', 'en'), (['trade', 'name'], '', ''), (['name'], '', 'fr'))
    """
    said = words.split()
    language = said.pop() if len(said) > 1 and said[-1] in language_names() else ""
    is_kind = len(said) > 1 and said[-2] in word_list("ingestion", "name_words")
    kind = said.pop() if is_kind and said[-1] in word_list("ingestion", "kinds_of_names") else ""
    return said, kind, language


def _name_order(words: str) -> tuple[bool, int]:
    """English first, then by the kind of name in the order of the word list."""
    _, kind, language = _kind_of_name(words)
    return language not in ("", ENGLISH), ("", *phrase_list("ingestion", "kinds_of_names")).index(kind)


def _is_name(words: str) -> bool:
    said, *_ = _kind_of_name(words)
    *before, last = said or [""]
    joined = next((w for w in ("name", "title") if last.endswith(w) and len(last) > len(w)), "")
    if any(words in labels for labels in person_name_labels()):
        return False
    partial = word_list("ingestion", "partial_name_words")
    if set(before) & partial or last.removesuffix(joined) in partial:
        return False
    return last in word_list("ingestion", "name_words") or bool(joined)


def _person_names(facts: Facts, rows: "Rows", words: dict[int, str]) -> dict[int, str]:
    parts: list[dict[int, str]] = []
    for known in person_name_labels():
        numbers = [n for n, said in words.items() if said in known]
        parts.append(dict(_texts(facts, rows[np.isin(facts.predicate[rows], numbers)])))
    given, family = parts
    return {subject: f"{given[subject]} {family[subject]}" for subject in given.keys() & family.keys()}


def _spelled_iris(facts: Facts, rows: "Rows") -> dict[int, str]:
    """Texts with the letters and digits of their subject's IRI, and other signs between them."""
    texts, subjects, objects = facts.texts, facts.subject[rows], facts.object[rows]
    spelled, written = (np.zeros(len(texts), dtype=np.int64) for _ in range(2))
    for n in unique_counts(subjects)[0].data:
        spelled[n] = hash(_letters_and_digits(local_name(texts[n])))
    for n in unique_counts(objects)[0].data:
        written[n] = hash(_letters_and_digits(texts[n][:MAX_NAME_LENGTH]))
    pairs = _texts(facts, rows[spelled[subjects] == written[objects]])
    said = ((subject, text, local_name(texts[subject])) for subject, text in pairs)
    return {
        subject: text
        for subject, text, local in said
        if text.casefold() != local.casefold() and _letters_and_digits(text) == _letters_and_digits(local)
    }


def _letters_and_digits(text: str) -> str:
    return (text if text.isalnum() else _SIGNS.sub("", text)).casefold()


def _distinctive_texts(
    facts: Facts, rows: "Rows", words: dict[int, str], named: dict[int, str], kind_of: "NDArray[np.int32]"
) -> dict[int, str]:
    """For each class the only text of its things, or their only description, if it is nearly unique."""
    kind_of = kind_of.copy()
    kind_of[list(named)] = -1
    sizes = np.bincount(kind_of[kind_of >= 0], minlength=len(facts.texts))
    rows = rows[kind_of[facts.subject[rows]] >= 0]
    found: dict[int, str] = {}
    kinds = kind_of[facts.subject[rows]]
    identifiers, descriptions = (word_list("ingestion", key) for key in ("identifier_words", "description_words"))
    for kind in unique_counts(kinds)[0].tolist():
        here = rows[kinds == kind]
        usual = [
            number
            for number, count in zip(*(each.tolist() for each in unique_counts(facts.predicate[here])), strict=True)
            if count >= MIN_COVERED * sizes[kind] and identifiers.isdisjoint(words[number].split())
        ]
        described = [number for number in usual if words[number].split()[-1] in descriptions]
        if sizes[kind] < MIN_THINGS and not described:
            continue
        # of several texts, none is certain to be the name
        usual = described or usual
        if len(usual) != 1:
            continue
        mine = here[facts.predicate[here] == usual[0]]
        shape = _DESCRIPTION_SHAPE if described else _NAME_SHAPE
        if _unique(facts, mine, kind_of) and _looks_like_names(facts, mine, shape):
            found |= dict(_texts(facts, mine))
    return found


def _naming(facts: Facts, rows: "Rows", kind_of: "NDArray[np.int32]") -> "Rows":
    """The rows of a name if it is unique, or else those of the classes in which it is."""
    if _unique(facts, rows, kind_of):
        return rows
    kinds = kind_of[facts.subject[rows]]
    unique = [k for k in unique_counts(kinds)[0].tolist() if k >= 0 and _unique(facts, rows[kinds == k], kind_of)]
    return rows[np.isin(kinds, unique)]


def _unique(facts: Facts, rows: "Rows", kind_of: "NDArray[np.int32]") -> bool:
    """Whether nearly all values are distinct among the things of a class, and nearly all things have one value."""
    if not len(rows):
        return False
    least, kinds = MIN_UNIQUE * len(rows), kind_of[facts.subject[rows]].astype(np.int64)
    values = np.unique(kinds * len(facts.texts) + facts.object[rows])
    return len(values) >= least and len(unique_counts(facts.subject[rows])[0]) >= least


def _looks_like_names(facts: Facts, rows: "Rows", shape: re.Pattern[str]) -> bool:
    some = rows[:: max(1, len(rows) // 200)]
    texts = [facts.texts[n] for n in facts.object[some].tolist()]
    return sum(len(t) <= MAX_NAME_LENGTH and shape.fullmatch(t) is not None for t in texts) >= MIN_COVERED * len(texts)


def _texts(facts: Facts, rows: "Rows") -> list[tuple[int, str]]:
    """(subject, value) in reverse alphabetical order, so that the first value wins in a dictionary."""
    pairs = sorted(
        ((s, facts.texts[o]) for s, o in zip(facts.subject[rows].tolist(), facts.object[rows].tolist(), strict=True)),
        reverse=True,
    )
    return [(subject, text) for subject, text in pairs if 0 < len(text) <= MAX_NAME_LENGTH]
