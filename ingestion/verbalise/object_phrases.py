"""Phrases for the objects of facts: term -> words in a sentence."""

import re

from ingestion.read.capsules import Facts
from ingestion.verbalise.neighbours import BLANK, IRI, LITERAL, Neighbours
from ingestion.verbalise.predicate_wording import PredicateWording
from ingestion.verbalise.sentence_parts import list_names
from ingestion.verbalise.split_sentences import clean_text
from ingestion.verbalise.titles import Titles
from ingestion.vocabulary import RDF, XSD

OBJECTS = 8  # maximum number of names in a sentence about one thing
PARTS = 12  # maximum number of verbalised predicates of a blank node
LONG_TEXT = 120  # a longer literal is quoted as it is
DEEPEST = 3  # maximum nesting of blank nodes
BOOLEAN = XSD + "boolean"
DECIMALS = frozenset(XSD + name for name in ("decimal", "double", "float"))
FIRST, REST = RDF + "first", RDF + "rest"
NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")


class ObjectPhrases:
    """Phrases for objects. `usual[n]` is the title or the text of most terms; "" for terms that need more work.

    `long` are the literals that are quoted as they are.
    """

    def __init__(self, facts: Facts, near: Neighbours, titles: Titles, ways: dict[int, PredicateWording]) -> None:
        self._texts = facts.texts
        self._near = near
        self._titles = titles
        self._ways = ways
        self._sort_of = facts.sort_of.data
        self._booleans = {i for i, sort in enumerate(facts.sorts) if sort[1] == BOOLEAN}
        self._decimals = {i for i, sort in enumerate(facts.sorts) if sort[1] in DECIMALS}
        self.long = {n for n, text in enumerate(facts.texts) if len(text) > LONG_TEXT and near.kind[n] == LITERAL}
        self.usual = self._usual()

    def is_boolean(self, number: int) -> bool:
        """Whether a literal is a boolean."""
        return self._sort_of[number] in self._booleans

    def words(self, number: int, unit: str, depth: int = 0, seen: frozenset[int] = frozenset()) -> str:
        """The phrase for a term in a sentence; numbers get the unit of the predicate."""
        kind = self._near.kind[number]
        if kind == IRI:
            return self._titles.of[number]
        if kind == BLANK:
            return self._titles.of[number] if number in self._titles.given else self._blank(number, depth, seen)
        text = clean_text(self._texts[number])
        if text.endswith(".0") and self._sort_of[number] in self._decimals:
            text = text[:-2]
        return f"{text} {unit}" if unit and NUMBER.fullmatch(text) else text

    def _usual(self) -> list[str]:
        special = self._booleans | self._decimals
        usual = []
        for n, (kind, sort, text) in enumerate(zip(self._near.kind, self._sort_of, self._texts, strict=True)):
            if kind == IRI:
                text = self._titles.of[n]
            elif kind != LITERAL or n in self.long or sort in special or clean_text(text) is not text:
                text = ""
            # a title with "the" may repeat the fact ("the address of Hamlet")
            usual.append("" if text.startswith("the ") else text)
        return usual

    def _blank(self, number: int, depth: int, seen: frozenset[int]) -> str:
        """The facts of a blank node in brackets; the members of a list without brackets."""
        if number in seen or depth >= DEEPEST:
            return ""
        seen = seen | {number}
        items = self._list(number)
        if items is not None:
            said = [self.words(o, "", depth + 1, seen) for o in items[: 4 * OBJECTS]]
            return list_names([text for text in said if text] or ["nothing"], max(0, len(items) - 4 * OBJECTS))
        parts = []
        for p, objects in self._near.outgoing.of(number):
            if (way := self._ways.get(p)) is not None:
                said = [self.words(o, way.predicate.unit, depth + 1, seen) for o in objects[:OBJECTS]]
                if said := sorted(text for text in said if text):
                    parts.append(f"{way.form.text}: {list_names(said)}")
        return f"({'; '.join(sorted(parts)[:PARTS])})" if parts else ""

    def _list(self, number: int) -> list[int] | None:
        """The members of the RDF list at a node; None if it is not a list."""
        items: list[int] = []
        seen: set[int] = set()
        while number not in seen:
            seen.add(number)
            by_iri = {self._texts[p]: objects for p, objects in self._near.outgoing.of(number)}
            if FIRST not in by_iri:
                break
            items.append(by_iri[FIRST][0])
            number = by_iri.get(REST, [number])[0]
        return items or None
