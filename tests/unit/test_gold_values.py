"""Values are compared as answers are graded: in any order, names without case, numbers nearly."""

import pytest

from evaluation.samples import same_values


@pytest.mark.parametrize(
    ("gold", "values", "same"),
    [
        (["Ann", 3], [3, "ann"], True),
        (["Ann"], ["Ann", "Bob"], False),
        (["Ann", "Bob"], ["Ann"], False),
        ([], [], True),
        ([], ["Ann"], False),
        ([2.3333], [2.33], True),
        (["007"], ["007"], True),
        ([7], ["7"], True),
    ],
)
def test_same_values(gold: list[object], values: list[object], same: bool) -> None:
    assert same_values(gold, values) is same  # type: ignore[arg-type]
