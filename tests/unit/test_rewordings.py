"""Words of people in a question are read as the words that they stand for."""

from dataclasses import replace

import pytest

from nacre.records.schema import Schema
from nacre.understanding.mentions import reword

SCHEMA = replace(
    Schema((), (), (), (), {}, 0, 0),
    rewordings=(("takings", "total charge"), ("still out", "without a return"), ("out", "late"), ("late", "out")),
)


@pytest.mark.parametrize(
    ("question", "read"),
    [
        ("What were the Takings in June?", "What were the total charge in June?"),
        ("Which kit is still out?", "Which kit is without a return?"),
        ("late takings, still out", "out total charge, without a return"),
        ("Is the still there?", "Is the still there?"),
        ("", ""),
    ],
)
def test_each_word_is_read_once_and_the_longest_first(question: str, read: str) -> None:
    assert reword(question, SCHEMA) == read
    assert reword(question, replace(SCHEMA, rewordings=())) == question
