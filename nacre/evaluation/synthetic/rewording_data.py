"""Data and helpers of rewordings: the words and patterns of `rewordings.yaml`, and questions within sentences."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import simplemma
import yaml


def strip_question_mark(question: str) -> str:
    """A question without the punctuation at its end."""
    return question.strip().rstrip("?.! ")


def first_word(question: str) -> str:
    """The first word in small letters, without "'s".

    >>> first_word("What's new?")
    'what'
    """
    return re.split(r"[\s'’,:]", question.strip(), maxsplit=1)[0].casefold()


def lower_first_word(question: str) -> str:
    """The question within a sentence: its first word is in small letters, unless it is a name.

    >>> lower_first_word("Which river"), lower_first_word("Xylo river")
    ('which river', 'Xylo river')
    """
    known = simplemma.is_known(first_word(question), lang="en")
    return question[0].lower() + question[1:] if known else question


@cache
def rewording_words(name: str) -> frozenset[str]:
    """A word list of the file."""
    return frozenset(rewording_data()[name].split())


@cache
def rewording_data() -> dict[str, Any]:
    """The content of `rewordings.yaml`."""
    path = Path(__file__).with_name("rewordings.yaml")
    data: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return data
