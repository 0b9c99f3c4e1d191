"""Names by shape, for things without a label: a property called a name, a person's two names, a telling literal."""

import re
from typing import TYPE_CHECKING

import numpy as np

from ingestion.induce.names.column_names import readable_name
from ingestion.read.capsules import Facts, unique_counts
from ingestion.vocabulary import LANGUAGE_STRING, TYPE, XSD, local_name
from nacre.language.base import word_list

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.intp]

# the share of different values that a name has at least, and the share of a class that a telling literal names
MIN_UNIQUE = 0.9
MIN_COVERED = 0.9
# fewer things of a class say nothing about what is telling
MIN_THINGS = 5
MAX_NAME_LENGTH = 60

_PLAIN = frozenset({"", XSD + "string", LANGUAGE_STRING})
# words with a capital or a space, as a name has them; no address, number or code
_TELLING = re.compile(r"(?!.*(://|@))(?=.*[^\W\d_]{2})([^\W\d_].*\s.*|[^\W\d_a-z][^\W\d_]+)")
# what describes a thing may be a word as well
_WORD = re.compile(r"(?!.*(://|@))(?=.*[^\W\d_]{3})[^\W\d_].*")


def infer_names(facts: Facts, among: "NDArray[np.bool_]", named: set[int]) -> dict[int, str]:
    """A name for subjects that are not `named`.

    The first of: both names of a person; a property whose own name ends in "name" or "title", with hardly any value
    twice, that nearly all things of the class have; a short text that nearly every thing of the class has to itself,
    where it is the only one, or describes; such a property that fewer have, as the "brand name" of some items.
    """
    open_ = np.ones(len(facts.texts), dtype=bool)
    open_[list(named)] = False
    rows = np.flatnonzero(among & open_[facts.subject] & facts.is_literal[facts.object])
    if not len(rows):
        return {}
    plain = np.array([sort[1] in _PLAIN for sort in facts.sorts], dtype=bool)
    rows = rows[plain[facts.sort_of[facts.object[rows]]]]
    words = {
        n: readable_name(local_name(facts.texts[n])).lower() for n in unique_counts(facts.predicate[rows])[0].tolist()
    }
    found = _persons(facts, rows, words)
    kind_of = _kinds(facts)
    of_some: dict[int, str] = {}
    for number in sorted(words, key=lambda n: facts.texts[n]):
        if _is_name(words[number]):
            mine = rows[facts.predicate[rows] == number]
            if _unique(facts, mine):
                names = dict(_texts(facts, mine))
                known = found if _covers(kind_of, names) else of_some
                known |= {subject: text for subject, text in names.items() if subject not in known}
    return of_some | found | _telling(facts, rows, words, found, kind_of)


def given_name_labels() -> frozenset[str]:
    """Labels of predicates with given names."""
    return word_list("ingestion", "given_name_labels")


def family_name_labels() -> frozenset[str]:
    """Labels of predicates with family names."""
    return word_list("ingestion", "family_name_labels")


def _kinds(facts: Facts) -> "NDArray[np.int64]":
    """A class of each term, -1 where it has none."""
    kind_of = np.full(len(facts.texts), -1, dtype=np.int64)
    type_number = next((n for n in facts.predicates if facts.texts[n] == TYPE), -1)
    typed = np.flatnonzero(facts.predicate == type_number)
    kind_of[facts.subject[typed]] = facts.object[typed]
    return kind_of


def _covers(kind_of: "NDArray[np.int64]", names: dict[int, str]) -> bool:
    """Whether nearly all things of the class that most named things are of have a name; of no class any do."""
    kinds = kind_of[list(names)]
    if not len(kinds) or not (kinds >= 0).any():
        return True
    kind = int(np.bincount(kinds[kinds >= 0]).argmax())
    return int((kinds == kind).sum()) >= MIN_COVERED * int((kind_of == kind).sum())


def _is_name(words: str) -> bool:
    *before, last = words.split() or [""]
    joined = next((w for w in ("name", "title") if last.endswith(w) and len(last) > len(w)), "")
    if words in given_name_labels() | family_name_labels():
        return False
    partial = word_list("ingestion", "partial_name_words")
    if set(before) & partial or last.removesuffix(joined) in partial:
        return False
    return last in word_list("ingestion", "name_words") or bool(joined)


def _persons(facts: Facts, rows: "Rows", words: dict[int, str]) -> dict[int, str]:
    parts: list[dict[int, str]] = []
    for known in (given_name_labels(), family_name_labels()):
        numbers = [n for n, said in words.items() if said in known]
        parts.append(dict(_texts(facts, rows[np.isin(facts.predicate[rows], numbers)])))
    given, family = parts
    return {subject: f"{given[subject]} {family[subject]}" for subject in given.keys() & family.keys()}


def _telling(
    facts: Facts, rows: "Rows", words: dict[int, str], named: dict[int, str], kind_of: "NDArray[np.int64]"
) -> dict[int, str]:
    """For each class the only text that its things have, or their only description, if it tells them apart."""
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
        # of several texts any may be what the thing is, or where, or of whom
        usual = described or usual
        if len(usual) != 1:
            continue
        mine = here[facts.predicate[here] == usual[0]]
        if _unique(facts, mine) and _tells(facts, mine, _WORD if described else _TELLING):
            found |= dict(_texts(facts, mine))
    return found


def _unique(facts: Facts, rows: "Rows") -> bool:
    """Whether hardly any value is there twice, and hardly any thing has two."""
    if not len(rows):
        return False
    least = MIN_UNIQUE * len(rows)
    return len(unique_counts(facts.object[rows])[0]) >= least and len(unique_counts(facts.subject[rows])[0]) >= least


def _tells(facts: Facts, rows: "Rows", shape: re.Pattern[str]) -> bool:
    some = rows[:: max(1, len(rows) // 200)]
    texts = [facts.texts[n] for n in facts.object[some].tolist()]
    return sum(len(t) <= MAX_NAME_LENGTH and shape.fullmatch(t) is not None for t in texts) >= MIN_COVERED * len(texts)


def _texts(facts: Facts, rows: "Rows") -> list[tuple[int, str]]:
    """Subject and value, the first in the order of the alphabet where there are several last."""
    pairs = sorted(
        ((s, facts.texts[o]) for s, o in zip(facts.subject[rows].tolist(), facts.object[rows].tolist(), strict=True)),
        reverse=True,
    )
    return [(subject, text) for subject, text in pairs if 0 < len(text) <= MAX_NAME_LENGTH]
