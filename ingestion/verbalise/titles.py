"""Titles of things in sentences: Facts -> a title for each term."""

import re

import numpy as np

from ingestion.induce.names.column_names import label_from_iri
from ingestion.induce.names.labels import best_names
from ingestion.read.capsules import Facts, change_mask
from ingestion.verbalise.neighbours import Neighbours
from ingestion.verbalise.predicate_wording import PredicateWording
from ingestion.verbalise.split_sentences import clean_text, shorten_title
from ingestion.vocabulary import local_name


class Titles:
    """Titles of terms. `of[n]` is the title of a term, "" for a literal; `given` are the stated names.

    A thing without a name is titled by its local name; if that has no meaning, by the only thing that links to it ("the
    address of Hamlet"). A web page is titled by its address.
    """

    def __init__(self, facts: Facts, near: Neighbours, ways: dict[int, PredicateWording]) -> None:
        self._facts = facts
        self._near = near
        self._ways = ways
        self._homes = {
            _namespace(facts.texts[s]) for s in near.outgoing.things[change_mask(near.outgoing.things)].tolist()
        }
        names = best_names(facts, facts.is_literal[facts.object])
        self.given = {number: said for number, name in names.items() if (said := shorten_title(clean_text(name)))}
        self.of = [""] * len(facts.texts)
        for number in np.flatnonzero(~facts.is_literal).tolist():
            self.of[number] = self.given.get(number) or shorten_title(self._call(number, frozenset()))

    def _call(self, number: int, seen: frozenset[int]) -> str:
        if number in self.given:
            return self.given[number]
        kind, text = self._facts.term(number)[:2]
        link = self._referrer(number) if len(seen) < 2 else None
        if link is not None and link[0] not in seen | {number} and self._is_meaningless(number, link[0]):
            return f"the {link[1]} of {self._call(link[0], seen | {number})}"
        if kind != "iri":
            return "an unnamed thing"
        elsewhere = _namespace(text) not in self._homes
        return clean_text(text if elsewhere else label_from_iri(text)) or text

    def _referrer(self, number: int) -> tuple[int, str] | None:
        """The only thing that links to a thing, and by which predicate; it gives the title of unnamed things."""
        links = self._near.incoming.of(number)
        if len(links) != 1 or len(links[0][1]) != 1:
            return None
        predicate, (referrer,) = links[0]
        way = self._ways[predicate]
        return (referrer, way.form.text) if way.predicate.functional and way.form.said is None else None

    def _is_meaningless(self, number: int, referrer: int) -> bool:
        """Whether the identifier is not a name: a number, a code, or the name of the linking thing."""
        kind, text = self._facts.term(number)[:2]
        own = local_name(text)
        return kind == "blank" or own == local_name(self._facts.texts[referrer]) or _CODE.fullmatch(own) is not None


def _namespace(iri: str) -> str:
    return iri[: max(iri.rfind("#"), iri.rfind("/")) + 1]


_CODE = re.compile(r"[\W\d_]*|(?=.*\d)[0-9a-fA-F-]{8,}")
