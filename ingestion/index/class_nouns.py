"""Find nouns for the members of a class besides its label: Schema + names of things -> (class, noun).

The label of a class is often not what people call its members: products with the categories "hard wood" and "soft
wood" are woods, organizations named "... Mill" are mills, and a thing with a "firm name" is a firm.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import simplemma

from nacre.language.base import word_list
from nacre.language.forms.nouns import is_participle, singular
from nacre.language.thesaurus import is_person
from nacre.language.tokens import lemma, split_name
from nacre.records.schema import Class, Predicate, Schema

# score of an inferred noun for a class; the label has 1 (given)
NOUN_SCORE = 0.9
# minimum share and number of names or categories that end in the noun
MIN_SHARED, MIN_NAMES = 0.6, 3
# maximum number of examined names, minimum length of a word
MAX_NAMES, MIN_LETTERS = 1000, 3
# minimum share of the things of a class that have the property
MIN_COVERED = 0.9


NamesOf = Callable[[Class], Iterable[str]]


class ClassNoun(NamedTuple):
    """A class and a noun for its members."""

    iri: str
    word: str


def find_class_nouns(schema: Schema, names_of: NamesOf) -> tuple[ClassNoun, ...]:
    """The nouns of all classes, each only where no class has it as its own name; `names_of` gives the names of things.

    A word may name several classes.
    """
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
        mine = _only_class(p, schema)
        if mine is None or mine.iri in named or last != "name" or not words or not _tells_apart(p, mine):
            continue
        found.setdefault(mine.iri, []).append(" ".join(words))
    for iri, nouns in found.items():
        noun = nouns[0]
        kind = schema.class_of[iri]
        # one of several names says less, and a person's name is that of a part of a firm
        if len(nouns) == 1 and _is_noun(noun) and (is_person(kind.label) or not is_person(noun)):
            yield ClassNoun(iri, noun)


def _only_class(predicate: Predicate, schema: Schema) -> Class | None:
    """The smallest class with all things that have a property."""
    subjects = predicate.subjects
    classes = [schema.class_of[iri] for iri, n in predicate.domains.items() if iri in schema.class_of and n == subjects]
    return min(classes, key=lambda c: (c.count, c.iri), default=None)


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
    """Whether one or two English words are a noun for things."""
    parts = words.split()
    if (
        len(parts) > 2
        or len(parts[-1]) < MIN_LETTERS
        or set(parts) & word_list("wording", "kinds_of_name")
        or is_participle(parts[-1])
    ):
        return False
    return all(part.isalpha() and simplemma.is_known(part, lang="en") for part in parts)
