"""Nacre without some of its extensions, in processes of its own: whatever of the rest needs one of them breaks one."""

from collections.abc import Sequence

import pytest

from tests.support.extension_processes import OURS, Run, check_report, report_without, run_all


def deletions(names: Sequence[str]) -> list[tuple[str, ...]]:
    """Sets of names, by the digits of their places: of any two names, one set has the first and not the second."""
    digits = range((len(names) - 1).bit_length())
    return [tuple(n for at, n in enumerate(names) if at >> digit & 1 == value) for digit in digits for value in (0, 1)]


@pytest.fixture(scope="module")
def deleted(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    runs = [report_without(gone, tmp_path_factory.mktemp("without")) for gone in deletions(OURS)]
    run_all(runs)
    return runs


def test_some_of_two_extensions_are_deleted_without_the_other() -> None:
    sets = deletions(OURS)
    lacking = [(a, b) for a in OURS for b in OURS if a != b and not any(a in each and b not in each for each in sets)]
    assert lacking == []


@pytest.mark.parametrize("number", range(len(deletions(OURS))))
def test_some_of_ours_can_be_deleted(number: int, deleted: list[Run]) -> None:
    check_report(deleted[number])
