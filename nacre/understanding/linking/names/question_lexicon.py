"""The lexicon of an attached graph with the things that one question may name: Lexicon + names -> Lexicon."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache

from rapidfuzz.distance import OSA

from nacre.language.tokens import code_parts, lemma
from nacre.records.schema import Schema
from nacre.stores.sqlite.lexicon import Lexicon, LexiconEntry, LexiconThing, LexiconWord

# Edits between a misspelt word and the right one, at most.
MAX_NAME_EDITS = 2


class QuestionLexicon(Lexicon):
    """A lexicon that adds the things of one question to `of_schema`, the lexicon of the graph.

    It shares the files and everything that depends only on the schema, and has nothing of its own to close.
    """

    def __init__(
        self,
        of_schema: Lexicon,
        found: Sequence[LexiconEntry],
        shares: Mapping[str, float],
        thing: Callable[[str], LexiconThing | None],
    ) -> None:
        self.schema: Schema = of_schema.schema
        self.embedder = of_schema.embedder
        self.schema_entries, self.table_counts = of_schema.schema_entries, of_schema.table_counts
        self.facts, self.links = of_schema.facts, of_schema.links
        self.thing_name_count = max(of_schema.schema.entities, len(found))
        self._of_schema = of_schema
        self._found = sorted(found, key=lambda name: (len(name.tokens), name.tokens, name))
        self._look_up_thing = thing
        # How many things a word names in the whole graph, as measured when it was attached.
        self._things_of_word = {word: round(share * self.thing_name_count) for word, share in shares.items()}
        self._by_tokens: dict[tuple[str, ...], list[LexiconEntry]] = defaultdict(list)
        self._by_lemmas: dict[tuple[str, ...], list[LexiconEntry]] = defaultdict(list)
        self._by_word: dict[str, set[int]] = defaultdict(set)
        self._longest: dict[str, int] = defaultdict(int)
        for number, name in enumerate(self._found):
            lemmas = tuple(map(lemma, name.tokens))
            self._by_tokens[name.tokens].append(name)
            if lemmas != name.tokens:
                self._by_lemmas[lemmas].append(name)
            for word in name.tokens:
                self._by_word[word].add(number)
            for opening in {name.tokens[0], lemmas[0]}:
                self._longest[opening] = max(self._longest[opening], len(name.tokens))
        self.word = lru_cache(None)(self._word)
        self.near = lru_cache(None)(self._near)

    @property
    def of_schema(self) -> Lexicon:
        return self._of_schema

    def each(self) -> Iterator[LexiconEntry]:
        yield from sorted((*self.schema_entries, *self._found), key=lambda name: len(name.tokens))

    def exact(self, tokens: Sequence[str]) -> list[LexiconEntry]:
        return [*self._of_schema.exact(tokens), *self._by_tokens.get(tuple(tokens), ())]

    def inflected(self, lemmas: Sequence[str]) -> list[LexiconEntry]:
        return [*self._of_schema.inflected(lemmas), *self._by_lemmas.get(tuple(lemmas), ())]

    def of_lemma(self, lemma_: str) -> list[str]:
        return sorted(word for word in self._by_word if lemma(word) == lemma_)

    def of_part(self, part: str) -> list[str]:
        return sorted(word for word in self._by_word if part in code_parts(word))

    def frequent(self, more_than: float) -> frozenset[str]:
        least = max(4, more_than)
        return frozenset(word for word in {*self._by_word, *self._things_of_word} if self._count_things(word) > least)

    def find_containing(self, words: Sequence[Collection[str]], most: int) -> list[LexiconEntry]:
        return [self._found[number] for number in sorted(self._names_with(words))[:most]]

    def has_containing(self, words: Sequence[Collection[str]]) -> bool:
        return bool(self._names_with(words))

    def thing(self, iri: str) -> LexiconThing | None:
        return self._look_up_thing(iri)

    def close(self) -> None:
        """Nothing: the files belong to the lexicon of the graph."""

    def _count_things(self, word: str) -> int:
        """How many things a word names."""
        return max(len(self._by_word.get(word, ())), self._things_of_word.get(word, 0))

    def _names_with(self, words: Sequence[Collection[str]]) -> set[int]:
        matching = [set().union(*(self._by_word.get(word, ()) for word in each)) for each in words]
        return set.intersection(*matching) if matching else set()

    def _word(self, text: str) -> LexiconWord | None:
        described, names = self._of_schema.word(text), self._by_word.get(text, set())
        longest = max(self._longest.get(text, 0), described.longest if described else 0)
        if not names and not longest and described is None:
            return None
        is_whole_name = (text,) in self._by_tokens
        things = self._count_things(text) if names else 0
        all_names = things + (described.names if described else 0)
        return LexiconWord(0, text, lemma(text), all_names, things, is_whole_name, longest)

    def _near(self, text: str, edits: int = MAX_NAME_EDITS) -> tuple[str, ...]:
        own = (word for word in self._by_word if OSA.distance(text, word, score_cutoff=edits) <= edits)
        return tuple(sorted({*own, *self._of_schema.near(text, edits)}))
