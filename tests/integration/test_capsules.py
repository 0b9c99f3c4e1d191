"""Facts are a set, grouped by subject in a stable order; blank nodes are named by what they say."""

import time
from itertools import permutations
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from ingestion.read.facts import Facts
from ingestion.read.parse import parse_files
from tests.support.capsules import capsules

E = "http://example.org/"


def facts_of(lines: list[str], folder: Path) -> Facts:
    path = folder / "g.nt"
    path.write_text("\n".join(lines) + "\n")
    return parse_files([path])


def test_doubles_are_dropped_and_order_does_not_matter(tmp_path: Path) -> None:
    lines = [f'<{E}a> <{E}p> "{n}" .' for n in (3, 1, 2, 1)] + [f"<{E}b> <{E}p> <{E}a> ."]
    first, second = facts_of(lines, tmp_path), facts_of(lines[::-1], tmp_path)
    assert first.triples == 4
    assert list(capsules(first)) == list(capsules(second))
    assert [capsule.subject.value for capsule in capsules(first)] == [f"{E}a", f"{E}b"]


def test_blank_names_do_not_depend_on_labels_or_order(tmp_path: Path) -> None:
    one = [f'_:a <{E}p> "x" .', f"_:a <{E}q> _:b .", f'_:b <{E}p> "y" .', f"<{E}s> <{E}r> _:a ."]
    two = [line.replace("_:a", "_:other").replace("_:b", "_:a") for line in reversed(one)]
    assert list(capsules(facts_of(one, tmp_path))) == list(capsules(facts_of(two, tmp_path)))


def test_equal_blank_nodes_stay_apart(tmp_path: Path) -> None:
    lines = [f"<{E}s> <{E}r> _:b{n} ." for n in range(3)] + [f'_:b{n} <{E}p> "x" .' for n in range(3)]
    facts = facts_of(lines, tmp_path)
    assert len({capsule.subject for capsule in capsules(facts)}) == 4


def test_complete_graph_of_blank_nodes_is_bounded(tmp_path: Path) -> None:
    lines = [f"_:n{a} <{E}p> _:n{b} ." for a, b in permutations(range(12), 2)]
    start = time.process_time()
    facts = facts_of(lines, tmp_path)
    assert facts.triples == 132
    assert len({capsule.subject for capsule in capsules(facts)}) == 12
    assert time.process_time() - start < 2


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2), st.integers(0, 5)), min_size=1, max_size=25))
def test_every_triple_is_in_one_capsule(edges: list[tuple[int, int, int]]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        facts = facts_of([f"_:n{s} <{E}{p}> _:n{o} ." for s, p, o in edges], Path(folder))
    assert sum(len(capsule.facts) for capsule in capsules(facts)) == len(set(edges)) == facts.triples
