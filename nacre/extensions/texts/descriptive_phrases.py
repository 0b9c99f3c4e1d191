"""Phrases that describe a thing ("the longest ship"): question + Lexicon -> DescriptivePhrases."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nacre.language.data import language, word_list
from nacre.language.small_talk import strip_courtesy
from nacre.language.thesaurus import function_words, gradable_adjective
from nacre.language.tokens import Token, tokenize
from nacre.stores.sqlite.lexicon import Lexicon

MAX_NOUN_WORDS = 4  # how many words a noun may have

_END = re.compile(r"(?<![\s?.!])[\s?.!]*+$")


class DescriptivePhrase(NamedTuple):
    """A phrase that describes a thing.

    `question` asks which thing it is ("which ship has a library"), `clause` says what is true of it. `before`,
    `between` and `after` are the words of the turn's question around the phrase. `relations` are the tables of its
    class, empty if it names none.
    """

    question: str
    clause: str
    before: str
    between: str
    after: str
    relations: frozenset[str]

    def asking(self, label: str) -> str:
        """Return the turn's question with a name in the place of the phrase.

        >>> phrase = DescriptivePhrase("which ship has a bar", "has a bar", "Who steers", "", "?", frozenset())
        >>> phrase.asking("Hebe")
        'Who steers Hebe?'
        """
        return " ".join(f"{self.before} {label} {self.between}".split()) + (self.after or "?")


class _Noun(NamedTuple):
    """A noun with its article: the first and the last token, and the tables of its class."""

    start: int
    end: int
    relations: frozenset[str] = frozenset()


def find_descriptive_phrases(question: str, lexicon: Lexicon) -> list[DescriptivePhrase]:
    """Return phrases with a clause, then superlatives: "the ship that has a library", "the longest ship". Other words
    may stand between the noun and its clause."""
    text = strip_courtesy(question).strip()
    tokens = tokenize(text)
    return [*_clauses(text, tokens, lexicon), *_superlatives(text, tokens, lexicon)]


def _clauses(text: str, tokens: Sequence[Token], lexicon: Lexicon) -> Iterator[DescriptivePhrase]:
    relatives = word_list("words", "describing_relatives")
    prepositions = word_list("words", "describing_prepositions")
    for at in range(2, len(tokens) - 1):
        if tokens[at].norm not in relatives:
            continue
        # "in which", "of whom"
        start = at - 1 if tokens[at - 1].norm in prepositions else at
        noun = _noun_before(tokens, start, lexicon)
        if noun is None:
            continue
        clause = _clause(text, tokens, at)
        phrase = text[tokens[noun.start + 1].start : tokens[noun.end].end]
        before = text[: tokens[noun.start].start].strip()
        between = text[tokens[noun.end].end : tokens[start].start].strip()
        yield DescriptivePhrase(f"which {phrase} {clause}?", clause, before, between, "?", noun.relations)


def _clause(text: str, tokens: Sequence[Token], at: int) -> str:
    """The clause as it follows "which ship": without its relative pronoun, and without who says it."""
    end = _END.search(text)
    stop = end.start() if end else len(text)
    rest = text[tokens[at].end : stop].strip()
    after = tokens[at + 1 :]
    # "that the notes call", "which the guide describes as"
    for i, token in enumerate(after[:4]):
        if i and token.lemma in word_list("words", "describing_verbs"):
            return rest[after[i].end - after[0].start :].strip()
    is_dropped = tokens[at].norm in word_list("question", "dropped_relatives")
    return rest if is_dropped else text[tokens[at].start : stop]


def _superlatives(text: str, tokens: Sequence[Token], lexicon: Lexicon) -> Iterator[DescriptivePhrase]:
    for i, token in enumerate(tokens):
        adjective = gradable_adjective(token)
        if adjective is None or adjective.degree != "superlative" or i == 0 or i + 1 >= len(tokens):
            continue
        noun = _noun_after(tokens, i, len(tokens), lexicon) if tokens[i - 1].norm == "the" else None
        if noun is not None:
            phrase = text[tokens[i].start : tokens[noun.end].end]
            before, after = text[: tokens[i - 1].start].strip(), text[tokens[noun.end].end :].strip(" ?.!")
            yield DescriptivePhrase(f"which is the {phrase}?", phrase, before, after, "?", noun.relations)


def _noun_before(tokens: Sequence[Token], end: int, lexicon: Lexicon) -> _Noun | None:
    """The last "the ship" before a token; a noun that names a class goes before others."""
    articles = frozenset({"the"}) | language().words["article"]
    unknown = None
    for i in range(end - 2, -1, -1):
        if tokens[i].norm not in articles:
            continue
        noun = _noun_after(tokens, i, end, lexicon)
        if noun is not None:
            return noun
        if unknown is None and i == end - 2 and tokens[i + 1].norm not in function_words():
            unknown = _Noun(i, i + 1)
    return unknown


def _noun_after(tokens: Sequence[Token], at: int, end: int, lexicon: Lexicon) -> _Noun | None:
    """The longest name of a class right after a token."""
    for size in range(min(MAX_NOUN_WORDS, end - at - 1), 0, -1):
        # the tables of the things that a noun names; none if it names no class
        noun = tokens[at + 1 : at + 1 + size]
        norms, lemmas = [token.norm for token in noun], [token.lemma for token in noun]
        names = [*lexicon.exact(norms), *lexicon.inflected(lemmas), *(lexicon.exact(lemmas) if norms != lemmas else ())]
        classes = {name.target for name in names if name.kind == "class"}
        tables = frozenset(name.relation for name in names if name.kind == "group")
        relations = tables.union(*(lexicon.schema.groups_of_class.get(iri, ()) for iri in classes))
        if relations:
            return _Noun(at, at + size, relations)
    return None
