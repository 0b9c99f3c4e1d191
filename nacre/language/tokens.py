"""Split text into words: question or name -> tokens with normal forms and lemmas.

`detect_language` finds the language of a question by its function words ("de", "fr"; English if unclear).
"""

import re
import unicodedata
from collections.abc import Collection, Mapping
from functools import cache, lru_cache
from typing import Any, NamedTuple, cast
from urllib.parse import unquote

from simplemma import Lemmatizer
from simplemma.strategies import DefaultStrategy, DictionaryLookupStrategy
from simplemma.strategies.dictionaries import dictionary_factory
from simplemma.utils import normalize_token

from nacre.language.data import load_language_data, read_compiled, word_map

# marks of decomposed letters, and points that are often left out; `fold` removes them
_MARKS = r"\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u3099\u309a"

_WORD = re.compile(
    r"(?:\d{1,3}(?:,\d{3})+|\d+)\.\d+|\d{1,3}(?:,\d{3})+(?!\d)|\d+(?![^\W_])"
    rf"|[^\W_](?:[^\W_]|[{_MARKS}])*(?:'[^\W\d_]+)?"
)

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[a-z]{3})(?=\d)|(?<=\d)(?=[A-Z]|[a-z]{3})")

_NUMBER = re.compile(r"(\d{1,9})")

# letters that have no decomposition in Unicode
_LETTERS = str.maketrans(
    {"ß": "ss", "’": "'", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "æ": "ae", "Æ": "Ae", "œ": "oe"}
)

# words of a name of a thing that questions are compared with; 4,000 characters of a question have some 700 (given)
MAX_NAME_WORDS = 100


class _CompiledDictionaries(dictionary_factory.DefaultDictionaryFactory):
    """The dictionaries of simplemma, which take three times as long to decode as to read."""

    def _get_dictionary_uncached(self, lang: str) -> Mapping[str, str]:
        def decode() -> dict[bytes, bytes]:
            decoded = super(_CompiledDictionaries, self)._get_dictionary_uncached(lang)
            words: dict[bytes, bytes] = cast(Any, decoded)._dict
            return words

        file = dictionary_factory.DATA_FOLDER / f"{lang}.plzma"
        return dictionary_factory.MappingStrToByteString(read_compiled(file, f"{lang}.words", decode))


_dictionaries = _CompiledDictionaries()
_look_up = DictionaryLookupStrategy(_dictionaries)
_lemmatizer = Lemmatizer(lemmatization_strategy=DefaultStrategy(dictionary_factory=_dictionaries))


def is_known(word: str, lang: str) -> bool:
    """Whether a dictionary has a word.

    >>> is_known("harbour", "en"), is_known("harbuor", "en")
    (True, False)
    """
    return _look_up.get_lemma(normalize_token(word), lang) is not None


def dictionary_form(word: str, lang: str) -> str:
    """The dictionary form of a word, by rules if no dictionary has it.

    >>> dictionary_form("harbours", "en")
    'harbour'
    """
    return _lemmatizer.lemmatize(word, lang)


@lru_cache(maxsize=65536)
def lemma(word: str) -> str:
    """The dictionary form of a folded word; a word with digits only loses a plural "s"."""
    if any(c.isdigit() for c in word):
        return word[:-1] if len(word) > 2 and word.endswith("s") and word[-2].isdigit() else word
    if len(word) < 3:
        return word
    if word.endswith(("xes", "ches", "shes", "sses")) and is_known(word[:-2], lang="en"):
        return word[:-2]
    return word_map("english", "lemmas").get(word) or str(dictionary_form(word, lang="en")).casefold()


class Token(NamedTuple):
    """A word of a text as written, with its place in characters, its normal form and its lemma."""

    text: str
    start: int
    end: int
    norm: str
    lemma: str


def fold(text: str) -> str:
    """A text without case, accents and typographic variants."""
    if text.isascii():
        return text.casefold()
    return _recently_folded(text) if len(text) <= MAX_KEPT_TEXT else _fold_letters(text)


def name_order(name: str) -> list[str | int]:
    """The key of a name where people sort: without case and accents, and 2 before 10.

    >>> sorted(["Hall 10", "hall 2", "Hall 1"], key=name_order)
    ['Hall 1', 'hall 2', 'Hall 10']
    """
    return [int(part) if part.isdecimal() else part for part in _NUMBER.split(fold(name))]


def _fold_letters(text: str) -> str:
    text = unicodedata.normalize("NFKD", text.translate(_LETTERS))
    return "".join(c for c in text if not unicodedata.combining(c)).casefold()


def tokenize(text: str) -> list[Token]:
    """The words of a text in order, without possessive "'s" and punctuation; "4,953" is one word.

    >>> [t.norm for t in tokenize("Kay's top-speed: 1,200.5 km/h?")]
    ['kay', 'top', 'speed', '1200.5', 'km', 'h']
    """
    return list(_recent_tokens(text) if len(text) <= MAX_KEPT_TEXT else find_tokens(text))


def find_tokens(text: str) -> tuple[Token, ...]:
    """The tokens of a text that was not split recently."""
    words = []
    for match in _WORD.finditer(text):
        written, (norm, own, cut) = match[0], _word_forms(match[0])
        words.append(Token(written, match.start(), match.end() - cut, norm, own))
    return tuple(words)


@lru_cache(maxsize=16384)
def _word_forms(written: str) -> tuple[str, str, int]:
    """The normal form of a word, its lemma, and the characters of a possessive "'s" at its end."""
    word = written.lower() if written.isascii() else fold(written)
    head, _, tail = word.partition("'")
    norm = head if tail in ("s", "") else word
    plain = norm.replace(",", "") if norm[0].isdigit() else norm
    return plain, lemma(plain), len(word) - len(norm)


# characters of a text whose tokens are kept: texts of data may be longer than memory has room for (set by hand)
MAX_KEPT_TEXT = 4_000

# a turn splits its question and the texts of its answer some twenty times, and folds names as often
_recent_tokens = lru_cache(512)(find_tokens)
_recently_folded = lru_cache(1024)(_fold_letters)


def split_name(name: str) -> str:
    """The words of a local name or column.

    >>> split_name("highestElevation"), split_name("birth_place")
    ('highest elevation', 'birth place')
    """
    return " ".join(_CAMEL.sub(" ", name.replace("_", " ").replace("-", " ")).split()).lower()


_IDENTIFIER = re.compile(r"[a-z][a-z0-9]++(?:[A-Z][a-z0-9]++)++|[a-z0-9_]++|[A-Z0-9]++(?:_[A-Z0-9]++)++")

_PLAIN_WORD = re.compile(r"[A-Z]?[a-z]+")


def heading_words(name: str) -> str:
    """The heading of a column in words: identifiers are split, and what people write keeps its case.

    >>> heading_words("avg_price"), heading_words("E-Mail"), heading_words("avg_CO2"), heading_words("pH")
    ('avg price', 'E-Mail', 'avg CO2', 'pH')
    """
    if " " in name:
        return name
    if _IDENTIFIER.fullmatch(name):
        return split_name(name)
    words = name.replace("_", " ").split()
    return " ".join(word.lower() if "_" in name and _PLAIN_WORD.fullmatch(word) else word for word in words)


def name_tokens(text: str) -> tuple[str, ...]:
    """The normal forms of the words of a name, as the lexicon stores them."""
    # a fast path for most names, of which a graph has many
    if text.isascii() and text.replace(" ", "").isalnum():
        return tuple(text.lower().split())
    if text.isascii() and "'" not in text and "," not in text:
        return tuple(_WORD.findall(text.lower()))
    return tuple(_word_forms(word)[0] for word in _WORD.findall(text))


def lexicon_tokens(name: str) -> tuple[str, ...]:
    """The first words of a name of a thing, as many as questions may repeat."""
    return name_tokens(name)[:MAX_NAME_WORDS]


def joined_tokens(name: str) -> str:
    """The words of `lexicon_tokens`, joined by spaces."""
    # a fast path for most names, of which a graph has many
    if len(name) <= MAX_NAME_WORDS and name.isascii() and name.replace(" ", "").isalnum():
        return name.lower() if "  " not in name and name[0] != " " != name[-1] else " ".join(name.lower().split())
    return " ".join(lexicon_tokens(name))


def code_parts(word: str) -> tuple[str, ...]:
    """The parts of a code that people use for the whole: "xdrive40d" -> "40d", "m135i" -> "m135".

    >>> code_parts("xdrive40d"), code_parts("m135i"), code_parts("word")
    (('40d', 'xdrive40'), ('135i', 'm135'), ())
    """
    digits = [i for i, c in enumerate(word) if c.isdigit()]
    if not digits:
        return ()
    parts = {word[digits[0] :], word[: digits[-1] + 1]} - {word}
    return tuple(sorted(part for part in parts if len(part) >= 2))


def word_forms(word: str) -> tuple[str, tuple[str, ...]]:
    """The lemma and the parts of a word of a name, as the lexicon stores them."""
    return (word, ()) if word.isdigit() else (lemma(word), code_parts(word))


ENGLISH = "en"
MIN_FUNCTION_WORDS = 2
_PUNCTUATION = "?!.,;:¿¡\"'“”„«»()।"


def detect_language(text: str, fewest: int = MIN_FUNCTION_WORDS) -> str:
    """The language with the most function words in a text.

    Another language than English needs at least `fewest` of them, more than English has, and one that is no word of
    English.

    >>> [detect_language(text) for text in ("Wie viele Inseln hat der See?", "How many die in an accident?", "Oslo?")]
    ['de', 'en', 'en']
    """
    # apostrophes join words in French and Italian
    words = {word.strip(_PUNCTUATION) for word in text.casefold().replace("’", "'").replace("'", "' ").split()}
    counts = {code: len(words & own) for code, own in language_function_words().items()}
    best = max(counts, key=lambda code: (counts[code], code == ENGLISH))
    if counts[best] < fewest or counts[best] <= counts[ENGLISH]:
        return ENGLISH
    own = words & language_function_words()[best]
    return best if any(not is_known(word, lang=ENGLISH) for word in own) else ENGLISH


def language_name(code: str) -> str:
    """The English name of a language; an unsupported code stays as it is."""
    return language_names()[code] if code in language_function_words() else code


@cache
def language_names() -> dict[str, str]:
    """The English names of languages by code (ISO 639-1)."""
    return load_language_data("resources/language_names.yaml")


def language_codes(words: Collection[str]) -> frozenset[str]:
    """The codes of the languages that folded words name.

    >>> sorted(language_codes({"french", "german", "boat"}))
    ['de', 'fr']
    """
    return frozenset(code for code, name in language_names().items() if name.lower() in words)


def iri_end(iri: str) -> str:
    """What an IRI has after its last slash, # or colon."""
    return re.split("[/#:]", iri)[-1]


def unquoted(iri: str) -> str:
    """An IRI, or a part of it, with letters instead of codes.

    >>> unquoted("New%20York%2C%20NY"), unquoted("100%2020")
    ('New York, NY', '100 20')
    """
    # nearly all codes are blanks
    plain = iri.replace("%20", " ")
    return unquote(plain) if "%" in plain else plain


def spelling(iri: str) -> str:
    """An IRI as it is compared with others: http for https, without a slash at the end, letters instead of codes, and
    composed letters (NFC).

    >>> spelling("https://example.org/caf%C3%A9/")
    'http://example.org/café'
    """
    plain = "http" + iri[5:] if iri.startswith("https:") else iri
    plain = unquoted(plain).removesuffix("/")
    return plain if plain.isascii() else unicodedata.normalize("NFC", plain)


def language_property(predicate: str, language: str) -> str:
    """The property for the names in one language, of a property with names in several languages."""
    # an IRI has no second "#", and SPARQL would reject it
    return f"{predicate}@{language}"


def multilingual_property(predicate: str) -> str:
    """The property behind a property for one language; "" for other properties."""
    # older versions of a graph have "#" in place of "@"
    base, _, language = predicate.rpartition("@" if "@" in predicate else "#")
    return base if language in language_names() else ""


@cache
def language_function_words() -> dict[str, frozenset[str]]:
    """The function words of the supported languages by code."""
    return {code: frozenset(words.split()) for code, words in load_language_data("resources/languages.yaml").items()}
