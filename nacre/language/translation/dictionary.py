"""The dictionary of a language: `de/` and `fr/glosses.yaml` -> Glosses, and the words in it by their stem or gloss."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

import simplemma

from nacre.language.base import load_language_texts
from nacre.language.detect_language import ENGLISH
from nacre.language.tokens import fold, tokenize

# The languages with glosses, and the names of their stemmers (Snowball, in tantivy).
GLOSSED_LANGUAGES: Mapping[str, str] = MappingProxyType({"de": "german", "fr": "french"})


@dataclass(frozen=True)
class Glosses:
    """The dictionary of one language. Words are keys as they are written and without accents.

    `longest_expression` is the number of words of the longest of the `expressions`. `stems` has the stems of the words
    of `exact`. `degrees` maps the forms of adjectives to English, `adjectives` the positive forms to the English
    positive, comparative, superlative.
    """

    code: str
    expressions: Mapping[tuple[str, ...], str]
    longest_expression: int
    words: Mapping[str, str]
    after_noun: Mapping[str, str]
    exact: Mapping[str, str]
    stems: Mapping[str, str]
    degrees: Mapping[str, str]
    adjectives: Mapping[str, tuple[str, str, str]]
    opposites: Mapping[str, tuple[str, str, str]]
    more: frozenset[str]
    less: frozenset[str]
    articles: frozenset[str]
    superlative_leads: frozenset[str]
    telling: frozenset[str]
    joints: tuple[str, ...]
    linked_endings: tuple[str, ...]
    elided: frozenset[str]
    months: tuple[str, ...]
    fronted: frozenset[str]
    question_leads: frozenset[str]


@cache
def glosses(code: str) -> Glosses:
    """The dictionary of a language, read once."""
    data = load_language_texts(f"{code}/glosses.yaml")
    adjectives, degrees = _adjectives(data["adjectives"], data["adjective_endings"].split())
    degrees |= {form: english for forms, english in data.get("degrees", {}).items() for form in forms.split()}

    def words_of(name: str) -> frozenset[str]:
        return frozenset(map(fold, data.get(name, "").split()))

    expressions = {tuple(map(fold, phrase.split())): english for phrase, english in data["expressions"].items()}
    return Glosses(
        code=code,
        expressions=expressions,
        longest_expression=max(map(len, expressions)),
        words=_with_folded(data["words"]),
        after_noun=data.get("after_noun", {}),
        exact=_with_folded(data["stems"]),
        stems={stem(word, code): english for word, english in reversed(list(data["stems"].items()))},
        degrees=_with_folded(degrees),
        adjectives=adjectives,
        opposites={word: _degrees(forms) for word, forms in data.get("opposites", {}).items()},
        more=words_of("more"),
        less=words_of("less"),
        articles=words_of("articles"),
        superlative_leads=words_of("superlative_leads"),
        telling=frozenset(data["telling"].split()),
        joints=("", *data.get("joints", "").split()),
        linked_endings=tuple(f"{ending}s" for ending in data.get("linked_endings", "").split()),
        elided=words_of("elided"),
        months=tuple(map(fold, data["months"].split())),
        fronted=words_of("fronted"),
        question_leads=words_of("question_leads"),
    )


def stem(word: str, code: str) -> str:
    """The stem of a word, without accents.

    >>> stem("Brücken", "de"), stem("sculptures", "fr")
    ('bruck', 'sculptur')
    """
    return _stemmer(code)(word.casefold())


def is_english(label: str) -> bool:
    """Whether English has all words of a label.

    >>> is_english("top speed"), is_english("Seilbahn")
    (True, False)
    """
    return all(is_english_word(token.text) for token in tokenize(label))


def is_english_word(word: str) -> bool:
    """Whether English has a word. Numbers and codes are words of any language.

    >>> is_english_word("speed"), is_english_word("Höhe"), is_english_word("x5")
    (True, False, True)
    """
    return not word.isalpha() or bool(simplemma.is_known(word, lang=ENGLISH))


def word_for(english: str, code: str) -> str:
    """The noun of the dictionary for an English label; "" if it has none.

    >>> word_for("length", "de"), word_for("top speed", "de")
    ('Länge', '')
    """
    return _words_by_gloss(code).get(english.lower(), "")


def _adjectives(
    data: Mapping[str, str], endings: Sequence[str]
) -> tuple[dict[str, tuple[str, str, str]], dict[str, str]]:
    """The English degrees by positive form, and the English of each form."""
    positive: dict[str, tuple[str, str, str]] = {}
    degrees: dict[str, str] = {}
    for forms, english in data.items():
        of_english = _degrees(english)
        # "billiger" compares, although it is also a form of "billig"
        for stems, degree in reversed(list(zip(forms.split("|"), of_english, strict=False))):
            for each in stems.split():
                for ending in ("", *endings):
                    degrees.setdefault(each + ending, degree)
                    if degree == of_english[0]:
                        positive.setdefault(fold(each + ending), of_english)
    return positive, degrees


def _with_folded(data: Mapping[str, str]) -> dict[str, str]:
    """The entries by their words, and by these without accents, unless that is another word: "où" is no "ou"."""
    return {fold(word): english for word, english in reversed(list(data.items()))} | dict(data)


def _degrees(forms: str) -> tuple[str, str, str]:
    """The positive, comparative and superlative of an English adjective: "recent more-recent most-recent"."""
    positive, comparative, superlative = (form.replace("-", " ") for form in forms.split())
    return positive, comparative, superlative


@cache
def _stemmer(code: str) -> Callable[[str], str]:
    import tantivy

    analyzer = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw())
    stemming = analyzer.filter(tantivy.Filter.stemmer(GLOSSED_LANGUAGES[code])).build()

    @cache
    def stem_of(word: str) -> str:
        return fold("".join(stemming.analyze(word)))

    return stem_of


@cache
def _words_by_gloss(code: str) -> Mapping[str, str]:
    data = load_language_texts(f"{code}/glosses.yaml")
    words = {english: word for word, english in reversed(list(data["stems"].items()))}
    return {english: word.capitalize() for english, word in words.items()} if "capitals" in data else words
