"""What to call a thing in a sentence: Facts -> a title for each term."""

import re
from collections.abc import Callable

from ingestion.capsules import Facts
from ingestion.column_names import label_from_iri
from ingestion.vocabulary import language_rank, local_name, name_rank
from ingestion.wording import clean

Referrer = Callable[[int], tuple[int, str] | None]


class Titles:
    """Titles by the number of the term.

    One without a name is called by the end of its IRI; where that says nothing, after the only thing that links to it
    ("the address of Hamlet"); a page elsewhere by its whole address.
    """

    def __init__(self, facts: Facts, referrer: Referrer) -> None:
        import numpy as np

        self._facts = facts
        self._referrer = referrer
        ranks = {int(n): rank for n in np.unique(facts.predicate) if (rank := name_rank(facts.texts[n])) is not None}
        rows = np.flatnonzero(np.isin(facts.predicate, list(ranks)) & facts.is_literal[facts.object])
        languages = [language_rank(sort[2]) for sort in facts.sorts]
        best: dict[int, tuple[int, tuple[int, str], str]] = {}
        for s, p, o in zip(
            facts.subject[rows].tolist(), facts.predicate[rows].tolist(), facts.object[rows].tolist(), strict=True
        ):
            candidate = (ranks[p], languages[facts.sort_of[o]], facts.texts[o])
            known = best.get(s)
            if known is None or candidate < known:
                best[s] = candidate
        self._given = {s: said for s, (_, _, text) in best.items() if (said := clean(text))}
        self._homes = {_namespace(facts.texts[s]) for s in np.unique(facts.subject).tolist()}
        self._called: dict[int, str] = {}

    def given(self, number: int) -> bool:
        """Does the graph name it?"""
        return number in self._given

    def of(self, number: int) -> str:
        """What to call it."""
        if number in self._given:
            return self._given[number]
        if number not in self._called:
            self._called[number] = self._call(number, frozenset())
        return self._called[number]

    def _call(self, number: int, seen: frozenset[int]) -> str:
        if number in self._given:
            return self._given[number]
        kind, text = self._facts.term(number)[:2]
        link = self._referrer(number) if len(seen) < 2 else None
        if link is not None and link[0] not in seen | {number} and self._says_nothing(number, link[0]):
            return f"the {link[1]} of {self._call(link[0], seen | {number})}"
        if kind != "iri":
            return "an unnamed thing"
        elsewhere = _namespace(text) not in self._homes
        return clean(text if elsewhere else label_from_iri(text)) or text

    def _says_nothing(self, number: int, referrer: int) -> bool:
        """Is there no name in the identifier: a number, a code, or the name of what links to it?"""
        kind, text = self._facts.term(number)[:2]
        own = local_name(text)
        return kind == "blank" or own == local_name(self._facts.texts[referrer]) or _CODE.fullmatch(own) is not None


def _namespace(iri: str) -> str:
    return iri[: max(iri.rfind("#"), iri.rfind("/")) + 1]


_CODE = re.compile(r"[\W\d_]*|(?=.*\d)[0-9a-fA-F-]{8,}")
