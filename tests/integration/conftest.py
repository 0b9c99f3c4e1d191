import gc
from collections.abc import Iterator

import pytest

from nacre.stores.sqlite.lexicon import Lexicon
from nacre.stores.sqlite.tables import Tables
from tests.support.small_graphs import NAMES, opened

pytest.register_assert_rewrite("tests.support.plan_checks")


@pytest.fixture(scope="session")
def small_graphs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, tuple[Tables, Lexicon]]]:
    """The tables and lexicon of every graph that questions are asked of, by name; without an embedder: words decide."""
    found = {name: opened(name, tmp_path_factory.mktemp(name)) for name in NAMES}
    yield found
    for tables, _ in found.values():
        tables.close()


@pytest.fixture(autouse=True, scope="module")
def _collected(request: pytest.FixtureRequest) -> None:
    """A server that starts collects garbage in its own thread; RDF results of earlier tests may only go in theirs."""
    if hasattr(request.module, "create_app"):
        gc.collect()
