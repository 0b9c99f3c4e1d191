"""The indexes over one lexicon, and what a text names for a conversation: tokens -> candidates, best first."""

from collections.abc import Sequence
from functools import lru_cache

from nacre.language.spelling import SpellingCorrector
from nacre.language.tokens import Token
from nacre.records.schema import Schema
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.understanding.linking.index import build_linking_index, link_mentions
from nacre.understanding.linking.names.entities import CACHED_TEXTS
from nacre.understanding.linking.names.name_candidate import NameCandidate
from nacre.understanding.question.analyse import question_of_tokens
from nacre.understanding.question.types import Link


class Linker:
    """The indexes over one lexicon that linking needs; built once a version, then only read.

    `common` are words that so many names have that they name nothing, `light` these and the function words.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.schema: Schema = lexicon.schema
        self.index = build_linking_index(lexicon)
        self.entities = self.index.values.entities
        self.common = self.entities.common
        self.light = self.entities.light
        self.spelling = SpellingCorrector(lexicon)
        self._linked = lru_cache(CACHED_TEXTS)(self._link)

    def link(self, words: Sequence[Token]) -> tuple[NameCandidate, ...]:
        """All candidates of all spans, best first within a span."""
        return self._linked(tuple(words))

    def _link(self, words: tuple[Token, ...]) -> tuple[NameCandidate, ...]:
        question = question_of_tokens(words)
        found = [self._candidate(each) for each in link_mentions(question, self.index) if each.kind != "entity"]
        found += self.entities.candidates(words)
        return tuple(
            sorted(
                found,
                key=lambda c: (-c.score, c.start, -c.end, c.kind, c.label, c.predicate, c.value, c.classes, c.keys),
            )
        )

    def _candidate(self, found: Link) -> NameCandidate:
        ref = found.refs[0]
        node = self.index.graph.nodes[ref.node]
        predicate = ref.predicate or ref.via
        label, kind = found.label or node.label, found.kind
        if found.kind == "property":
            about = self.index.graph.about(predicate)
            label, kind = about.label, "flag" if about.datatype == "boolean" else "predicate"  # type: ignore[assignment]
        return NameCandidate(
            kind,  # type: ignore[arg-type]
            found.start,
            found.end,
            found.score,
            label,
            found.exact,
            node.relations,
            node.classes,
            node.without,
            found.keys,
            predicate,
            str(found.value),
            covered=frozenset(i for i in range(found.end) if found.covered >> i & 1),
        )
