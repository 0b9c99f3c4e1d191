"""Write look-ups of the things that a text may name, as SPARQL: words of a text + Endpoint -> patterns that bind ?s."""

from collections.abc import Collection, Iterator, Sequence
from itertools import chain, pairwise
from urllib.parse import quote

import simplemma

from nacre.language.thesaurus import function_words, gradable_adjective
from nacre.language.tokens import Token
from nacre.plans.sparql.derived import derived_patterns, write_statement
from nacre.plans.sparql.terms import format_iri, format_literal
from nacre.records.endpoint import Endpoint
from nacre.records.schema import Schema
from nacre.stores.sparql.text_search import text_search_pattern

# Words of a name that is looked up as a whole, predicates of names, and words of a text, at most.
MAX_SPAN_TOKENS, MAX_NAME_PREDICATES, MAX_SEARCH_WORDS = 7, 6, 24
# Derived properties that name things, at most.
MAX_DERIVED_NAMES = 8
# Letters of a word that may be a misspelt name, at least.
MIN_MISSPELT_LETTERS = 5


class NamePatterns:
    """The look-ups of one endpoint. `described` are the words of its classes and properties. `searched` says that words
    inside names can be searched. `names` are stored predicates, `derived` patterns of ?s and ?l by predicate."""

    def __init__(self, endpoint: Endpoint, schema: Schema, described: Collection[str], *, searched: bool) -> None:
        self.search, self.spaces = endpoint.search, endpoint.spaces
        stored = [iri for iri in endpoint.names if not derived_patterns(schema, iri)]
        derived = [iri for iri in endpoint.names if derived_patterns(schema, iri)][:MAX_DERIVED_NAMES]
        self.names = tuple(stored[:MAX_NAME_PREDICATES])
        self.derived = {iri: write_statement(schema, iri, "?s", "?l", f"?w{i}_") for i, iri in enumerate(derived)}
        self.described, self.searched = described, searched

    def forms(self, words: Sequence[Token], *, unaccounted: bool = False) -> list[str]:
        """The words of a text that names may contain, as written and as lemmas. With `unaccounted` only those that no
        class, property or gradable adjective explains."""
        content = [t for t in words if t.norm not in function_words() and t.lemma not in function_words()]
        wanted = [token for token in content if not (unaccounted and self._is_explained(token))]
        return list(dict.fromkeys(form for token in wanted for form in (token.norm, token.lemma)))

    def widest_first(self, text: str, words: Sequence[Token], forms: Collection[str]) -> Iterator[str]:
        """Look-ups of names with any of these words. Each is for when the one before takes too long."""
        exact = [self._complete_names(text, words, forms), self._by_iri(text, words, forms)]
        if self.searched and (containing := self._containing(forms)):
            yield union_pattern([containing, *(exact if self.search else exact[1:])])
        yield union_pattern(exact)

    def narrowest(self, text: str, words: Sequence[Token], forms: Collection[str]) -> str:
        """A look-up of complete names, and of names with two neighbouring words, for words that many names contain."""
        return union_pattern(
            [self._complete_names(text, words, forms), self._by_iri(text, words, forms), self._pairs(words)]
        )

    def _is_explained(self, token: Token) -> bool:
        return bool({token.norm, token.lemma} & set(self.described)) or gradable_adjective(token) is not None

    def _pairs(self, words: Sequence[Token]) -> str:
        between = {"": "[^a-z0-9]+", "virtuoso": " "}.get(self.search)
        pairs = [
            f"{one.norm}{between}{other.norm}"
            for one, other in pairwise(words)
            if one.norm.isalnum() and other.norm.isalnum() and not {one.norm, other.norm} & function_words()
        ]
        if between is None or not pairs or not self.names:
            return ""
        return text_search_pattern(self.search, self.names, list(dict.fromkeys(pairs))[:MAX_SEARCH_WORDS])

    def _containing(self, forms: Collection[str]) -> str:
        """Names that contain one of the words, or a word that it may be a misspelling of."""
        # In a large graph, words of classes and properties are found only as complete names.
        wanted = [form for form in forms if form.isalnum() and not (self.search and form in self.described)]
        if not wanted or not (self.names or self.derived):
            return ""
        near = [word for word in wanted if may_be_misspelt(word)]
        if not self.search:
            # People often say a part of a code.
            wanted = [f"[a-z0-9]*{word}[a-z0-9]*" if any(map(str.isdigit, word)) else word for word in wanted]
        wanted, near = wanted[:MAX_SEARCH_WORDS], near[:MAX_SEARCH_WORDS]
        stored = text_search_pattern(self.search, self.names, wanted, near) if self.names else ""
        if not self.derived:
            return stored
        derived = [text_search_pattern(self.search, (), wanted, near, pattern) for pattern in self.derived.values()]
        return union_pattern([stored, *derived])

    def _complete_names(self, text: str, words: Sequence[Token], forms: Collection[str]) -> str:
        """Names that are a span of the text, in the usual capitalisation, without a language tag or in English."""
        names = dict.fromkeys(chain.from_iterable(_cases(span) for span in _spans(text, words, MAX_SPAN_TOKENS, forms)))
        if not names or not (self.names or self.derived):
            return ""
        literals = " ".join(f"{format_literal(each)} {format_literal(each)}@en" for each in names)
        # With VALUES for the predicates as well, some stores read all their triples.
        links = [*(f"?s {format_iri(name)} ?l ." for name in self.names), *self.derived.values()]
        return union_pattern([f"VALUES ?l {{ {literals} }} {link}" for link in links])

    def _by_iri(self, text: str, words: Sequence[Token], forms: Collection[str]) -> str:
        """Things whose IRI ends with a span of the text."""
        ends = dict.fromkeys(
            form
            for span in _spans(text, words, MAX_SPAN_TOKENS - 2, forms)
            for case in _cases(span)
            for form in (case.replace(" ", "_"), case.replace(" ", "-"), case.replace(" ", ""), quote(case))
        )
        things = " ".join(format_iri(space + end) for space in self.spaces for end in ends)
        return f"VALUES ?s {{ {things} }} ?s a ?kind ." if things else ""


def may_be_misspelt(word: str) -> bool:
    """Whether a word is not English, and long enough to be a misspelt name."""
    return (
        len(word) >= MIN_MISSPELT_LETTERS
        and word.isalpha()
        and word.isascii()
        and not simplemma.is_known(word, lang="en")
    )


def union_pattern(patterns: Sequence[str]) -> str:
    """The patterns that are not empty, as a UNION."""
    return " UNION ".join(f"{{ {pattern} }}" for pattern in patterns if pattern)


def _spans(text: str, words: Sequence[Token], most: int, forms: Collection[str]) -> Iterator[str]:
    """The spans of a text, up to some length, that contain one of the words."""
    for start in range(len(words)):
        for end in range(start + 1, min(len(words), start + most) + 1):
            if any(token.norm in forms for token in words[start:end]):
                yield text[words[start].start : words[end - 1].end]


def _cases(name: str) -> Iterator[str]:
    """A name as it is written, and in the usual capitalisations of names."""
    yield name
    if name == name.lower():
        yield " ".join(word if word in function_words() else word.capitalize() for word in name.split(" "))
        yield name.title()
        yield name.capitalize()
        if len(name) <= 4:
            yield name.upper()
    else:
        yield name.lower()
