"""IRIs that differ in their spelling alone are read as one: Draft -> Draft."""

from collections import defaultdict
from unicodedata import is_normalized

import numpy as np

from ingestion.meaning.draft import Draft
from ingestion.vocabulary import TYPE
from nacre.language.tokens import spelling

SPELLING_REASON = "another spelling of an IRI"


def join_spellings(draft: Draft) -> None:
    """Read IRIs that differ in their spelling alone as one, the one in most triples. Things that are linked with each
    other, such as a document and what it is about, and things without a common class stay two."""
    facts, iris = draft.facts, draft.iris
    marked = [
        iri
        for iri in iris
        if iri[-1:] == "/"
        or "%" in iri
        or (iri[:5] == "https" and f"http{iri[5:]}" in iris)
        or not (iri.isascii() or is_normalized("NFC", iri))
    ]
    forms: dict[str, set[int]] = defaultdict(set)
    for iri in marked:
        plain = spelling(iri)
        schemes = (plain, f"https{plain[4:]}") if plain.startswith("http:") else (plain,)
        if found := {iris[form] for start in schemes for form in (start, f"{start}/") if form in iris} - {iris[iri]}:
            forms[plain] |= found | {iris[iri]}
    words = {*draft.predicates, *draft.classes}
    for iri in words.intersection(marked):
        forms[spelling(iri)].add(iris[iri])
    forms = {plain: terms for plain, terms in forms.items() if len(terms) > 1}
    if not forms:
        return
    uses = np.bincount(np.concatenate((facts.subject, facts.predicate, facts.object)))
    other: dict[int, int] = {}
    for terms in forms.values():
        best, *rest = sorted(terms, key=lambda n: (-uses[n], draft.text(n)))
        kinds, links = _classes_and_ends(draft, best)
        for term in rest:
            own, ends = _classes_and_ends(draft, term)
            is_apart = term in links or best in ends or (own and kinds and not kinds & own)
            if not is_apart or draft.text(term) in words:
                other[term] = best
    if other:
        draft.replace_terms(other, SPELLING_REASON)


def _classes_and_ends(draft: Draft, term: int) -> tuple[set[str], set[int]]:
    """The spellings of the classes of a thing, and all that it leads to."""
    rows = [draft.row(row) for row in draft.rows_of(term)]
    return {spelling(draft.text(o)) for _, p, o in rows if draft.text(p) == TYPE}, {o for _, _, o in rows}
