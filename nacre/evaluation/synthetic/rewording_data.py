"""What rewordings are made of: general English in `resources/rewordings.yaml`, and a question inside a sentence."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import simplemma
import yaml


def strip_question_mark(question: str) -> str:
    """A question without the mark at its end."""
    return question.strip().rstrip("?.! ")


def first_word(question: str) -> str:
    """The first word, small and without "'s".

    >>> first_word("What's new?")
    'what'
    """
    return re.split(r"[\s'’,:]", question.strip(), maxsplit=1)[0].casefold()


def lower_first_word(question: str) -> str:
    """The question as the middle of a sentence: a first word of the dictionary is written small.

    >>> lower_first_word("Which river"), lower_first_word("Xylo river")
    ('which river', 'Xylo river')
    """
    known = simplemma.is_known(first_word(question), lang="en")
    return question[0].lower() + question[1:] if known else question


@cache
def rewording_words(name: str) -> frozenset[str]:
    """A list of words of the resource."""
    return frozenset(rewording_data()[name].split())


@cache
def rewording_data() -> dict[str, Any]:
    """The parsed resource file."""
    path = Path(__file__).with_name("rewordings.yaml")
    data: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return data
