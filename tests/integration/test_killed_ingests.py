"""kill -9 at random moments of an ingest: readers find one graph, never a mix. More: `benchmarks.soak_kill`."""

from pathlib import Path

from benchmarks.soak_kill import kill_ingests


def test_a_kill_at_any_moment_leaves_the_old_or_the_new_graph(tmp_path: Path) -> None:
    found = list(kill_ingests(2, seed=3, folder=tmp_path))
    assert len(found) == 2
    assert [kill.wrong for kill in found] == [""] * 2
    assert {kill.found for kill in found} <= {"old", "new", "new, without vectors"}
