"""Which things a text may name, as SPARQL: words of a text + Endpoint -> the insides of a WHERE that bind ?s."""

from collections.abc import Collection, Iterator, Sequence
from itertools import chain, pairwise
from urllib.parse import quote

import simplemma

from nacre.language.thesaurus import function_words, gradable_adjective
from nacre.language.tokens import Token
from nacre.plans.sparql.terms import format_iri, format_literal
from nacre.records.endpoint import Endpoint
from nacre.stores.sparql.text_search import text_search_pattern

# the longest name that is looked up whole, predicates that are asked, and words of a text
MAX_SPAN_TOKENS, MAX_NAME_PREDICATES, MAX_SEARCH_WORDS = 7, 6, 24
# words from this length on may be misspelt names
MIN_MISSPELT_LETTERS = 5


class NamePatterns:
    """Writes the look-ups of one endpoint. `described` are the words of its classes and properties, `searched` tells
    whether words within names can be looked for."""

    def __init__(self, endpoint: Endpoint, described: Collection[str], *, searched: bool) -> None:
        self.search, self.spaces = endpoint.search, endpoint.spaces
        self.names = endpoint.names[:MAX_NAME_PREDICATES]
        self.described, self.searched = described, searched

    def forms(self, words: Sequence[Token], *, unaccounted: bool = False) -> list[str]:
        """The words of a text that names may hold, as they stand there and in their dictionary forms; `unaccounted`
        are those that no class, property or word of degree accounts for."""
        content = [t for t in words if t.norm not in function_words() and t.lemma not in function_words()]
        asked = [token for token in content if not (unaccounted and self._accounted(token))]
        return list(dict.fromkeys(form for token in asked for form in (token.norm, token.lemma)))

    def widest_first(self, text: str, words: Sequence[Token], forms: Collection[str]) -> Iterator[str]:
        """Look-ups of names that hold these of the text's words; the next one is for where the one before takes too
        long."""
        exact = [self._exactly(text, words, forms), self._by_iri(text, words, forms)]
        if self.searched and (holding := self._holding(forms)):
            yield union_pattern([holding, *(exact if self.search else exact[1:])])
        yield union_pattern(exact)

    def narrowest(self, text: str, words: Sequence[Token], forms: Collection[str]) -> str:
        """Whole names, and names that hold two neighbouring words: for where one word is in very many."""
        return union_pattern([self._exactly(text, words, forms), self._by_iri(text, words, forms), self._pairs(words)])

    def _accounted(self, token: Token) -> bool:
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

    def _holding(self, forms: Collection[str]) -> str:
        """Names that hold one of the words, or one that may be meant by it."""
        # of the words that classes and properties have too, whole names alone are found in a large graph
        asked = [form for form in forms if form.isalnum() and not (self.search and form in self.described)]
        if not asked or not self.names:
            return ""
        near = [word for word in asked if may_be_misspelt(word)]
        if not self.search:
            # people say a part of a code
            asked = [f"[a-z0-9]*{word}[a-z0-9]*" if any(map(str.isdigit, word)) else word for word in asked]
        return text_search_pattern(self.search, self.names, asked[:MAX_SEARCH_WORDS], near[:MAX_SEARCH_WORDS])

    def _exactly(self, text: str, words: Sequence[Token], forms: Collection[str]) -> str:
        """Names that are a stretch of the text, in usual capitals, with the usual tags of languages."""
        said = dict.fromkeys(chain.from_iterable(_cases(span) for span in _spans(text, words, MAX_SPAN_TOKENS, forms)))
        if not said or not self.names:
            return ""
        literals = " ".join(f"{format_literal(each)} {format_literal(each)}@en" for each in said)
        # with VALUES of predicates as well some stores look at all their triples
        return union_pattern([f"VALUES ?l {{ {literals} }} ?s {format_iri(name)} ?l ." for name in self.names])

    def _by_iri(self, text: str, words: Sequence[Token], forms: Collection[str]) -> str:
        """Things whose IRI ends with a stretch of the text."""
        ends = dict.fromkeys(
            form
            for span in _spans(text, words, MAX_SPAN_TOKENS - 2, forms)
            for case in _cases(span)
            for form in (case.replace(" ", "_"), case.replace(" ", "-"), case.replace(" ", ""), quote(case))
        )
        things = " ".join(format_iri(space + end) for space in self.spaces for end in ends)
        return f"VALUES ?s {{ {things} }} ?s a ?kind ." if things else ""


def may_be_misspelt(word: str) -> bool:
    """Whether a word is no word of English, and long enough to be a name with a slip in it."""
    return (
        len(word) >= MIN_MISSPELT_LETTERS
        and word.isalpha()
        and word.isascii()
        and not simplemma.is_known(word, lang="en")
    )


def union_pattern(patterns: Sequence[str]) -> str:
    """The patterns that are not empty, as alternatives."""
    return " UNION ".join(f"{{ {pattern} }}" for pattern in patterns if pattern)


def _spans(text: str, words: Sequence[Token], most: int, forms: Collection[str]) -> Iterator[str]:
    """The stretches of a text that may be a name and hold one of these words."""
    for start in range(len(words)):
        for end in range(start + 1, min(len(words), start + most) + 1):
            if any(token.norm in forms for token in words[start:end]):
                yield text[words[start].start : words[end - 1].end]


def _cases(said: str) -> Iterator[str]:
    """A name as it stands, and in the capitals that names have."""
    yield said
    if said == said.lower():
        yield " ".join(word if word in function_words() else word.capitalize() for word in said.split(" "))
        yield said.title()
        yield said.capitalize()
        if len(said) <= 4:
            yield said.upper()
    else:
        yield said.lower()
