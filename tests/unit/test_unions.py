"""Classes that one word names: which share their properties, and what many of them cost."""

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from nacre.understanding.linking.schema_graph import MAX_UNION_CLASSES, _are_alike, _largest_sort, _widest
from nacre.understanding.linking.schema_paths import SchemaNode

CLASSES = st.lists(st.tuples(st.integers(1, 4), st.frozensets(st.sampled_from("abcdefg"), max_size=4)), max_size=14)


def node(index: int, count: int = 1, relations: frozenset[str] = frozenset()) -> SchemaNode:
    return SchemaNode(index, f"c{index}", (f"c{index}",), (), relations, count, (f"c{index}",), True, "c")


def sorts_by_definition(nodes: Sequence[SchemaNode], own: Mapping[int, frozenset[str]]) -> list[list[SchemaNode]]:
    """The classes in sets: each is like another of its set, and like none of another set."""
    sorts: list[list[SchemaNode]] = []
    for each in sorted(nodes, key=lambda n: -n.count):
        alike = [s for s in sorts if any(_are_alike(own[each.index], own[other.index]) for other in s)]
        sorts = [*(s for s in sorts if s not in alike), [*(n for s in alike for n in s), each]]
    return sorts


@given(CLASSES)
def test_the_largest_sort_is_that_of_its_definition(classes: list[tuple[int, frozenset[str]]]) -> None:
    nodes = [node(i, count) for i, (count, _) in enumerate(classes)]
    own = {i: properties for i, (_, properties) in enumerate(classes)}
    several = [s for s in sorts_by_definition(nodes, own) if len(s) > 1]
    largest = max(several, key=lambda s: sum(n.count for n in s), default=nodes)
    assert {n.index for n in _largest_sort(nodes, own)} == {n.index for n in largest}


class Counted(frozenset[str]):
    """A set that counts its comparisons."""

    compared = 0

    def __le__(self, other: Any) -> bool:
        Counted.compared += 1
        return super().__le__(other)


def test_of_many_classes_no_more_are_compared_than_a_union_may_have() -> None:
    nodes = [node(i, relations=Counted({f"t{i}"})) for i in range(2_000)]
    # too many for a union
    assert len(_widest(nodes)) == MAX_UNION_CLASSES + 1
    assert Counted.compared <= (MAX_UNION_CLASSES + 1) ** 2
