"""Phrases of a question that describe a thing instead of naming it: question + Lexicon -> DescriptivePhrase."""

import re
from typing import NamedTuple

from nacre.language.base import language, word_list
from nacre.language.courtesy import strip_courtesy
from nacre.language.thesaurus import function_words, gradable_adjective
from nacre.language.tokens import Token, tokenize
from nacre.stores.sqlite.lexicon import Lexicon

# a noun phrase has so many words at most
LONGEST = 4
_END = re.compile(r"[\s?.!]*$")


class DescriptivePhrase(NamedTuple):
    """`question` asks which thing is described ("which ship has a library"), `clause` is what is said of it; `before`,
    `between` and `after` are what the turn's question says around the phrase; `relations` are the tables of its kind,
    empty where it names none."""

    question: str
    clause: str
    before: str
    between: str
    after: str
    relations: frozenset[str]

    def asking(self, label: str) -> str:
        """The turn's question with a name in the place of the phrase.

        >>> Described("which ship has a library", "has a library", "Who steers", "", "?", frozenset()).asking("Hebe")
        'Who steers Hebe?'
        """
        return " ".join(f"{self.before} {label} {self.between}".split()) + (self.after or "?")


def find_descriptive_phrases(question: str, lexicon: Lexicon) -> list[DescriptivePhrase]:
    """The phrases "the ship that has a library" (also where other words part the two) and "the longest ship"; those
    with a clause first."""
    text = strip_courtesy(question).strip()
    said = tokenize(text)
    return [*_clauses(text, said, lexicon), *_superlatives(text, said, lexicon)]


def _clauses(text: str, said: list[Token], lexicon: Lexicon) -> list[DescriptivePhrase]:
    found = []
    relative = word_list("words", "describing_relatives")
    for at in range(2, len(said) - 1):
        if said[at].norm not in relative:
            continue
        # "in which", "of whom"
        start = at - 1 if said[at - 1].norm in word_list("words", "describing_prepositions") else at
        noun = _noun(said, start, lexicon)
        if noun is None:
            continue
        first, last, relations = noun
        end = _END.search(text)
        stop = end.start() if end else len(text)
        clause = _as_question(said, at, text[said[at].start : stop], text[said[at].end : stop].strip())
        phrase = text[said[first + 1].start : said[last].end]
        before, between = text[: said[first].start].strip(), text[said[last].end : said[start].start].strip()
        found.append(DescriptivePhrase(f"which {phrase} {clause}?", clause, before, between, "?", relations))
    return found


def _as_question(said: list[Token], at: int, whole: str, rest: str) -> str:
    """A clause as it goes on after "which ship": without what only leads it in, and without who says it."""
    word = said[at].norm
    telling = word_list("words", "describing_verbs")
    after = said[at + 1 :]
    # "that the notes call", "which the guide describes as"
    for i, token in enumerate(after[:4]):
        if token.lemma in telling and i:
            return rest[after[i].end - after[0].start :].strip()
    return rest if word in ("that", "which", "who", "where", "with") else whole


def _superlatives(text: str, said: list[Token], lexicon: Lexicon) -> list[DescriptivePhrase]:
    found = []
    for i, token in enumerate(said):
        own = gradable_adjective(token)
        if own is None or own.degree != "superlative" or i == 0 or i + 1 >= len(said):
            continue
        if said[i - 1].norm != "the":
            continue
        for size in range(min(LONGEST, len(said) - i - 1), 0, -1):
            relations = _relations(said[i + 1 : i + 1 + size], lexicon)
            if relations:
                last = i + size
                phrase = text[said[i].start : said[last].end]
                before, after = text[: said[i - 1].start].strip(), text[said[last].end :].strip(" ?.!")
                found.append(DescriptivePhrase(f"which is the {phrase}?", phrase, before, after, "?", relations))
                break
    return found


def _noun(said: list[Token], end: int, lexicon: Lexicon) -> tuple[int, int, frozenset[str]] | None:
    """The last "the ship" before a place: its article, its last word, and the tables of its kind. A noun that names a
    class goes before others."""
    articles = frozenset({"the"}) | language().words["article"]
    others = None
    for i in range(end - 2, -1, -1):
        if said[i].norm not in articles:
            continue
        for size in range(min(LONGEST, end - i - 1), 0, -1):
            relations = _relations(said[i + 1 : i + 1 + size], lexicon)
            if relations:
                return i, i + size, relations
        if others is None and i == end - 2 and said[i + 1].norm not in function_words():
            others = i, i + 1, frozenset[str]()
    return others


def _relations(said: list[Token], lexicon: Lexicon) -> frozenset[str]:
    """The tables that hold what a noun names; empty where it names no class."""
    norms, lemmas = [token.norm for token in said], [token.lemma for token in said]
    named = [*lexicon.exact(norms), *lexicon.inflected(lemmas), *(lexicon.exact(lemmas) if norms != lemmas else ())]
    classes = {name.target for name in named if name.kind == "class"}
    found = {name.relation for name in named if name.kind == "group"}
    return frozenset(found).union(*(lexicon.schema.groups_of_class.get(iri, ()) for iri in classes))
