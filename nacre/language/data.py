"""Language data of English: a file of `nacre/language/en` and a key -> words, expressions or a compiled pattern.

    word_list("words", "fewer")             words whose order does not matter
    phrase_list("texts", "clause_starts")   words, or expressions of several words, in the order of the file
    word_map("wording", "plurals")          word -> word
    phrase_map("texts", "before")           word -> words or expressions
    pattern("patterns", "prose")            one compiled regular expression

These files are read as text only: other loaders read "no" and "on" as false and true. `load_language_data` reads files
with numbers in them.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

_FOLDER = Path(__file__).parent

Cue = tuple[tuple[str, ...], str, str]


@dataclass(frozen=True)
class Language:
    """The data that several stages of the parser share."""

    cues: Mapping[str, tuple[Cue, ...]]  # (words, kind, value) by their first word, the longest first
    words: Mapping[str, frozenset[str]]  # named classes of words
    patterns: Mapping[str, re.Pattern[str]]  # questions as a whole, in the order in which they are tried
    dialogue: Mapping[str, re.Pattern[str]]  # follow-ups, in the order in which they are tried


@cache
def language() -> Language:
    """The shared data of English, read once."""
    return Language(
        cues=_cues(),
        words={name: word_list("words", name) for name in _data("words")},
        patterns=_patterns("patterns"),
        dialogue=_patterns("dialogue"),
    )


@cache
def word_list(file: str, name: str) -> frozenset[str]:
    """The words of an entry, which is a text with spaces or a list of expressions."""
    return frozenset(phrase_list(file, name))


@cache
def phrase_list(file: str, name: str) -> tuple[str, ...]:
    """The words or expressions of an entry in the order of the file."""
    entry = _data(file)[name]
    return tuple(entry.split() if isinstance(entry, str) else map(str, entry))


@cache
def word_map(file: str, name: str) -> Mapping[str, str]:
    """The words of an entry by a word."""
    return MappingProxyType(dict(_data(file)[name]))


@cache
def phrase_map(file: str, name: str) -> Mapping[str, tuple[str, ...]]:
    """The words or expressions of an entry by a word, each in the order of the file."""
    return MappingProxyType(
        {
            word: tuple(each.split() if isinstance(each, str) else map(str, each))
            for word, each in _data(file)[name].items()
        }
    )


@cache
def pattern(file: str, name: str, **parts: str) -> re.Pattern[str]:
    """The regular expressions of an entry as one; the first that matches counts. `parts` are regular expressions for
    placeholders: `months` replaces `<months>`."""
    entry = _data(file)[name]
    text = entry if isinstance(entry, str) else "|".join(entry)
    for part, expression in parts.items():
        text = text.replace(f"<{part}>", expression)
    return re.compile(text)


@cache
def codes_with(file: str) -> tuple[str, ...]:
    """The languages that have a file of this name."""
    return tuple(sorted(path.parent.name for path in _FOLDER.glob(f"*/{file}.yaml")))


def load_language_data(name: str) -> dict[str, Any]:
    """The content of a file of this package with numbers as numbers: "en/english.yaml", "resources/codes.yaml"."""
    return _read_yaml(name, getattr(yaml, "CSafeLoader", yaml.SafeLoader))


@cache
def load_language_texts(name: str) -> Mapping[str, Any]:
    """The content of a file of this package as text alone: "de/glosses.yaml"."""
    return MappingProxyType(_read_yaml(name, getattr(yaml, "CBaseLoader", yaml.BaseLoader)))


def _patterns(file: str) -> Mapping[str, re.Pattern[str]]:
    return {name: pattern(file, name) for name, entry in _data(file).items() if isinstance(entry, list)}


def _cues() -> Mapping[str, tuple[Cue, ...]]:
    by_first: dict[str, list[Cue]] = {}
    for kind, values in _data("cues").items():
        for value, expressions in values.items():
            for expression in expressions:
                words = tuple(str(expression).split())
                by_first.setdefault(words[0], []).append((words, kind, value))
    return {first: tuple(sorted(cues, key=lambda cue: -len(cue[0]))) for first, cues in by_first.items()}


def _data(file: str) -> Mapping[str, Any]:
    return load_language_texts(f"en/{file}.yaml")


def _read_yaml(name: str, loader: Any) -> dict[str, Any]:
    data: dict[str, Any] = yaml.load((_FOLDER / name).read_text(encoding="utf-8"), Loader=loader)
    return data
