"""Dictionaries of word forms: a word and a language -> whether it is known, and its dictionary form."""

from collections.abc import Mapping
from typing import Any, cast

from simplemma import Lemmatizer
from simplemma.strategies import DefaultStrategy, DictionaryLookupStrategy
from simplemma.strategies.dictionaries import dictionary_factory
from simplemma.utils import normalize_token

from nacre.language.data import read_compiled


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
