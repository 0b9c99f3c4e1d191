"""What a language provides to the parser, read from its folder of data: name of a language -> Language."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml


@dataclass(frozen=True)
class Language:
    """The data of one language. `cues` maps the first word of an expression to (words, kind, value), longest first;
    `words` are named classes of words; `patterns` say of a whole question what it is, `dialogue` of a follow-up what is
    to become of the result before it, `wanted` which kind of answer is asked of a text, in the order they are tried;
    `phrases` is what stands beside answers in texts."""

    name: str
    cues: Mapping[str, tuple[tuple[tuple[str, ...], str, str], ...]]
    words: Mapping[str, frozenset[str]]
    patterns: Mapping[str, re.Pattern[str]]
    dialogue: Mapping[str, re.Pattern[str]]
    wanted: Mapping[str, re.Pattern[str]]
    phrases: Mapping[str, Any]


@cache
def language(name: str = "en") -> Language:
    """The language of a folder beside this file."""
    folder = Path(__file__).parent / name
    said: dict[str, list[tuple[tuple[str, ...], str, str]]] = {}
    for kind, values in _load(folder / "cues.yaml").items():
        for value, expressions in values.items():
            for expression in expressions:
                words = tuple(str(expression).split())
                said.setdefault(words[0], []).append((words, kind, value))
    cues = {first: tuple(sorted(found, key=lambda f: -len(f[0]))) for first, found in said.items()}
    classes = {key: frozenset(str(value).split()) for key, value in _load(folder / "words.yaml").items()}
    patterns, dialogue, wanted = (
        _patterns(folder / file) for file in ("patterns.yaml", "dialogue.yaml", "wanted.yaml")
    )
    return Language(name, cues, classes, patterns, dialogue, wanted, _load(folder / "phrases.yaml"))


def _patterns(path: Path) -> dict[str, re.Pattern[str]]:
    return {key: re.compile("|".join(found)) for key, found in _load(path).items()}


def _load(path: Path) -> dict[str, Any]:
    # words only: other loaders read "no" and "on" as false and true
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    data: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), Loader=loader)
    return data
