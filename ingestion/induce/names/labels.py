"""Choose the shown label of each entity: Facts -> labels."""

import re
from typing import TYPE_CHECKING

import numpy as np

from ingestion.induce.names.column_names import label_from_iri, lowercase_name, readable_name
from ingestion.induce.names.infer_names import infer_names
from ingestion.read.capsules import Facts, change_mask
from ingestion.vocabulary import NOTATION, XSD, language_rank, local_name, name_rank
from nacre.language.readable_label import readable_label
from nacre.records.schema import UNNAMED

if TYPE_CHECKING:
    from numpy.typing import NDArray

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

    The label of a blank node without a name consists of its short literals, else it is "unnamed".
    """
    texts = facts.texts
    best = best_names(facts, visible)
    blanks = facts.kinds("blank")
    unnamed = {n for n in entities[blanks[entities]].tolist() if n not in best}
    described = _by_literals(facts, visible, unnamed)
    labels = []
    # the IRI of a class has no spaces, so it is split into words
    classes = set() if facts.things is None else set(facts.things.tolist())
    for number in entities.tolist():
        text = " ".join(best.get(number, "").split())[:_LONGEST]
        if not text:
            text = described.get(number, UNNAMED) if number in unnamed else label_from_iri(texts[number])
            if _CAMEL_CASE.fullmatch(text):
                text = lowercase_name(text)
            elif number in classes:
                text = readable_name(text)
        labels.append(text)
    return labels


def best_names(facts: Facts, among: "NDArray[np.bool_]") -> dict[int, str]:
    """The best name of each subject among these triples: by predicate, language, then alphabetically. Subjects without
    a label get an inferred name."""
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
    best = dict(zip(subjects[first].tolist(), map(texts.__getitem__, objects[first].tolist()), strict=True))
    ties = np.zeros(len(rows), dtype=bool)
    ties[1:] = (quality == quality[np.maximum.accumulate(np.where(first, np.arange(len(rows)), 0))])[1:] & ~first[1:]
    for number, other in zip(subjects[ties].tolist(), objects[ties].tolist(), strict=True):
        best[number] = min(best[number], texts[other])
    uncased = {number for number, text in best.items() if text.islower()}
    for number, other in zip(subjects[~first].tolist(), objects[~first].tolist(), strict=True):
        # of two names that differ in case, the one with capitals is how it is written
        if number in uncased and texts[other].casefold() == best[number].casefold():
            best[number] = max(best[number], texts[other], key=lambda text: sum(map(str.isupper, text)))
    foreign = quality[first] % (len(tags) + 1) >= sum(language_rank(tag, facts.languages)[0] < _FOREIGN for tag in tags)
    if 2 * foreign.sum() < len(foreign):
        # if most names are English or untagged, the words of an IRI are preferred to a name in another language
        for number in subjects[first][foreign].tolist():
            if _WORDS.fullmatch(local_name(texts[number])):
                best[number] = readable_name(label_from_iri(texts[number]))
    # codes and data are names only if nothing else is
    shown = {number: readable_label(text) for number, text in best.items()}
    best |= {number: text for number, text in shown.items() if text}
    unreadable = {number for number, text in shown.items() if not text}
    found = infer_names(facts, among, best.keys() - unreadable)
    inferred = {n: readable for n, text in found.items() if (readable := readable_label(text))}
    by_iri = {
        n: readable_name(label_from_iri(texts[n])) for n in unreadable if _NUMBERED.fullmatch(local_name(texts[n]))
    }
    return _notations(facts, among) | best | by_iri | inferred


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
