"""Language data of English: a file of `nacre/language/en` and a key -> words, expressions or a compiled pattern.

    word_list("words", "fewer")             words whose order does not matter
    phrase_list("texts", "clause_starts")   words, or expressions of several words, in the order of the file
    word_map("wording", "plurals")          word -> word
    phrase_map("texts", "before")           word -> words or expressions
    pattern("patterns", "prose")            one compiled regular expression

These files are read as text only: other loaders read "no" and "on" as false and true. `load_language_data` reads files
with numbers in them.
"""

import marshal
import os
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

_FOLDER = Path(__file__).parent

Cue = tuple[tuple[str, ...], str, str]


@cache
def word_list(file: str, name: str) -> frozenset[str]:
    """The words of an entry, which is a text with spaces or a list of expressions."""
    return frozenset(phrase_list(file, name))


class _WordClasses(dict[str, frozenset[str]]):
    """Named classes of words, each read when it is first needed."""

    def __missing__(self, name: str) -> frozenset[str]:
        return self.setdefault(name, word_list("words", name))


WORDS: Final = _WordClasses()  # the classes of words that several stages of the parser share


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
    return _read_yaml(name, "SafeLoader")


@cache
def load_language_texts(name: str) -> Mapping[str, Any]:
    """The content of a file of this package as text alone: "de/glosses.yaml"."""
    return MappingProxyType(_read_yaml(name, "BaseLoader"))


def read_compiled(source: Path, name: str, parse: Callable[[], Any]) -> Any:
    """What `parse` makes of a file (lists, dicts, texts and numbers). It is kept under `name` beside Python's compiled
    modules, in their format and until the file changes, where these may be written."""
    status = source.stat()
    stamp = [str(source), status.st_mtime_ns, status.st_size]
    kept = _FOLDER / "__pycache__" / f"{name}.{sys.implementation.cache_tag}"
    with suppress(OSError, EOFError, ValueError, TypeError):
        known, content = marshal.loads(kept.read_bytes())
        if known == stamp:
            return content
    content = parse()
    if not sys.dont_write_bytecode:
        with suppress(OSError, ValueError):
            written = marshal.dumps((stamp, content))
            kept.parent.mkdir(exist_ok=True)
            # other processes may write it at the same time
            partial = kept.with_name(f"{kept.name}.{os.getpid()}")
            partial.write_bytes(written)
            partial.replace(kept)
    return content


@cache
def cues() -> Mapping[str, tuple[Cue, ...]]:
    """The cues of questions (words, kind, value) by their first word, the longest first."""
    by_first: dict[str, list[Cue]] = {}
    for kind, values in _data("cues").items():
        for value, expressions in values.items():
            for expression in expressions:
                words = tuple(str(expression).split())
                by_first.setdefault(words[0], []).append((words, kind, value))
    return {first: tuple(sorted(cues, key=lambda cue: -len(cue[0]))) for first, cues in by_first.items()}


def _data(file: str) -> Mapping[str, Any]:
    return load_language_texts(f"en/{file}.yaml")


def _read_yaml(name: str, loader: str) -> dict[str, Any]:
    def parse() -> Any:
        import yaml

        kind = getattr(yaml, f"C{loader}", None) or getattr(yaml, loader)
        return yaml.load((_FOLDER / name).read_text(encoding="utf-8"), Loader=kind)

    data: dict[str, Any] = read_compiled(_FOLDER / name, f"{name.replace('/', '.')}.{loader}", parse)
    return data
