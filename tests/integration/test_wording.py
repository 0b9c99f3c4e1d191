"""Answers over properties of many shapes; tests.support.wording_table prints the table (fixtures/wording.yaml)."""

from collections.abc import Iterator

import pytest

from nacre.stores.sqlite.tables import Tables
from tests.support.read_yaml import read_yaml
from tests.support.small_graphs import FIXTURES, opened
from tests.support.wording_table import GRAPH, sentences

EXPECTED = read_yaml(FIXTURES / "wording.yaml")


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tables]:
    found, _ = opened(GRAPH, tmp_path_factory.mktemp(GRAPH))
    yield found
    found.close()


@pytest.fixture(scope="module")
def answers(tables: Tables) -> dict[str, dict[str, str]]:
    return sentences(tables)


def test_every_property_is_in_the_table(answers: dict[str, dict[str, str]]) -> None:
    assert list(answers) == list(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_answers_fit_the_shape_of_a_property(name: str, answers: dict[str, dict[str, str]]) -> None:
    assert answers[name] == EXPECTED[name]
