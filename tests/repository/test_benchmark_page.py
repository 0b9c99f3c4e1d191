from pathlib import Path

import pytest

from benchmarks.abuse.case import FILE_MEGABYTES, REQUEST_SECONDS, AttackResult
from benchmarks.load import LoadLog, load_summary
from benchmarks.performance_page import PAGE, describe_machine, write_section


def test_a_measurement_replaces_only_what_lies_between_its_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- measured -->\nold\n<!-- end -->\nb\n<!-- load -->\n<!-- end -->\nc\n")
    write_section("load", "measure", "12 ms", page)
    before = "a\n<!-- measured -->\nold\n<!-- end -->\nb\n"
    assert page.read_text() == f"{before}<!-- load -->\n`measure` on {describe_machine()}:\n\n12 ms\n<!-- end -->\nc\n"
    write_section("load", "measure", "11 ms", page)
    assert page.read_text() == f"{before}<!-- load -->\n`measure` on {describe_machine()}:\n\n11 ms\n<!-- end -->\nc\n"
    with pytest.raises(SystemExit, match="no <!-- closed -->"):
        write_section("closed", "measure", "12 ms", page)


@pytest.mark.parametrize("mark", ["measured", "load", "closed", "abuse"])
def test_the_page_has_a_place_for_each_measurement(mark: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE.read_text())
    write_section(mark, "measure", "just this", page)
    assert page.read_text().count("just this") == 1


@pytest.mark.parametrize(
    ("seen", "closed", "holds"),
    [
        (LoadLog([0.1] * 99 + [9.0], [0.1], [], [100.0] * 8), False, True),
        (LoadLog([1.1] * 100, [0.1], [], [100.0] * 8), False, False),
        (LoadLog([1.1] * 100, [0.1], [], [100.0] * 8), True, True),
        (LoadLog([0.1] * 100, [0.1], [], [100.0] * 5 + [120.0] * 3), False, False),
        (LoadLog([0.1] * 100, [0.1], ["client 1: lost"], [100.0] * 8), True, False),
        (LoadLog([], [], [], [100.0] * 8), True, False),
    ],
)
def test_only_a_wrong_turn_breaks_the_closed_loop(seen: LoadLog, closed: bool, holds: bool) -> None:
    line, held = load_summary(seen, 10.0, closed, 2)
    assert held is holds
    assert line.endswith(f"{len(seen.wrong)} wrong")


@pytest.mark.parametrize(
    ("result", "broken"),
    [
        (AttackResult("a", REQUEST_SECONDS, megabytes=FILE_MEGABYTES), ""),
        (AttackResult("a", REQUEST_SECONDS + 0.1), "too slow"),
        (AttackResult("a", 0.1, megabytes=FILE_MEGABYTES + 1), "too much memory"),
        (AttackResult("a", 0.1, problem="status 500"), "status 500"),
        (AttackResult("a", 99.0, 10.0, FILE_MEGABYTES + 1, "exit code -9"), "exit code -9; too slow; too much memory"),
    ],
)
def test_an_attack_names_each_limit_that_it_breaks(result: AttackResult, broken: str) -> None:
    assert result.broken == broken
    assert ("BROKEN" in result.row) is bool(broken)
    assert result.row.count("|") == 8


def test_a_busy_machine_has_more_time_and_no_more_memory() -> None:
    slow = AttackResult("a", REQUEST_SECONDS * 2, megabytes=FILE_MEGABYTES + 1)
    assert slow.broken == "too slow; too much memory"
    assert slow.on_busy_machine(2.5).broken == "too much memory"
