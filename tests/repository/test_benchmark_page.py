from pathlib import Path

import pytest

from benchmarks.load import Seen, told
from benchmarks.page import PAGE, machine, write


def test_a_measurement_replaces_only_what_lies_between_its_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- measured -->\nold\n<!-- end -->\nb\n<!-- load -->\n<!-- end -->\nc\n")
    write("load", "measure", "12 ms", page)
    before = "a\n<!-- measured -->\nold\n<!-- end -->\nb\n"
    assert page.read_text() == f"{before}<!-- load -->\n`measure` on {machine()}:\n\n12 ms\n<!-- end -->\nc\n"
    write("load", "measure", "11 ms", page)
    assert page.read_text() == f"{before}<!-- load -->\n`measure` on {machine()}:\n\n11 ms\n<!-- end -->\nc\n"
    with pytest.raises(SystemExit, match="no <!-- closed -->"):
        write("closed", "measure", "12 ms", page)


@pytest.mark.parametrize("mark", ["measured", "load", "closed"])
def test_the_page_has_a_place_for_each_measurement(mark: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE.read_text())
    write(mark, "measure", "just this", page)
    assert page.read_text().count("just this") == 1


@pytest.mark.parametrize(
    ("seen", "closed", "holds"),
    [
        (Seen([0.1] * 99 + [9.0], [0.1], [], [100.0] * 8), False, True),
        (Seen([1.1] * 100, [0.1], [], [100.0] * 8), False, False),
        (Seen([1.1] * 100, [0.1], [], [100.0] * 8), True, True),
        (Seen([0.1] * 100, [0.1], [], [100.0] * 5 + [120.0] * 3), False, False),
        (Seen([0.1] * 100, [0.1], ["client 1: lost"], [100.0] * 8), True, False),
        (Seen([], [], [], [100.0] * 8), True, False),
    ],
)
def test_only_a_wrong_turn_breaks_the_closed_loop(seen: Seen, closed: bool, holds: bool) -> None:
    line, held = told(seen, 10.0, closed, 2)
    assert held is holds
    assert line.endswith(f"{len(seen.wrong)} wrong")
