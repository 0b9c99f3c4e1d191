"""Link spans of a question to the names of a graph: tokens -> candidates with scores, best first."""

from collections.abc import Sequence
from dataclasses import replace

from records.schema import Schema
from semantics.candidates import Candidate
from semantics.entity_names import EntityNames
from semantics.schema_terms import SchemaTerms
from semantics.spelling import Spelling
from semantics.words import Token
from stores.lexicon import Lexicon


class Linker:
    """The indexes over one lexicon that linking needs; built once a version, then only read.

    `common` are words that so many names have that they name nothing, `light` these and the function words.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.schema: Schema = lexicon.schema
        self.entities = EntityNames(lexicon)
        self.terms = SchemaTerms(lexicon)
        self.common = frozenset(self.entities.common)
        self.light = self.entities.light
        self.spelling = Spelling({token for name in lexicon.names for token in name.tokens})

    def link(self, tokens: Sequence[Token]) -> list[Candidate]:
        """All candidates of all spans, best first within a span."""
        found = [*self.entities.candidates(tokens), *self.terms.candidates(tokens)]
        # a whole name of a class leaves no room for a part of a property's name
        whole = [c for c in found if c.kind == "class" and c.exact]
        classes = [c for c in found if c.kind == "class"]
        said = {c.covered for c in found if c.exact and c.kind in ("class", "predicate")}
        found = [c for c in found if c.exact or c.kind not in ("value", "predicate") or c.covered not in said]
        found = [
            c
            for c in found
            if c.kind != "entity" or c.exact or not any(c.covered <= w.covered and c.score < w.score for w in classes)
        ]
        found = [
            c
            for c in found
            if c.kind not in ("predicate", "value")
            or c.exact
            or not any(
                c.covered & w.covered and c.covered <= w.covered | self._light(tokens) and c.score < w.score
                for w in whole
            )
        ]
        # "the football club" is any club before it is a name with both words in it
        kinds = [c.covered for c in classes if c.exact]
        found = [
            replace(c, score=0.8 * c.score)
            if c.kind == "entity" and not c.exact and any(k <= c.covered for k in kinds)
            else c
            for c in found
        ]
        return sorted(
            found, key=lambda c: (-c.score, c.start, -c.end, c.kind, c.label, c.predicate, c.value, c.classes, c.keys)
        )

    def near(self, tokens: Sequence[Token], unexplained: Sequence[int]) -> list[Candidate]:
        """Classes and predicates that unexplained words mean in other words; none without an embedder."""
        return self.terms.near(tokens, unexplained)

    def _light(self, tokens: Sequence[Token]) -> set[int]:
        return {i for i, t in enumerate(tokens) if t.norm in self.light}
