"""Things that are told by codes (fixtures/codes), and graphs in the shape of common vocabularies (fixtures/shapes):
nested values, catalogues, provenance, sensors, organisations, statements. The pairs are extended without Python."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from graph.builder import App, compose
from graph.stream import stream_turn
from ingestion.pipeline import ingest
from nacre.config.settings import Settings
from tests.support.read_yaml import read_yaml

FIXTURES = Path(__file__).parents[1] / "fixtures"
SOURCES = sorted(path for folder in ("codes", "shapes") for path in (FIXTURES / folder).glob("*.[!y]*"))
OPEN = pytest.mark.xfail(reason="not yet understood", strict=True)
CASES = [
    pytest.param(path.stem, case, id=f"{path.stem}: {case['ask']}", marks=OPEN if case.get("open") else ())
    for path in SOURCES
    for case in read_yaml(path.with_suffix(".yaml"))
]


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> App:
    data = tmp_path_factory.mktemp("codes")
    for path in SOURCES:
        ingest([str(path)], path.stem.replace("_", "-"), data=data, no_vectors=True)
    return compose(Settings(data=data, embedder="none", _env_file=None)).build()


@pytest.mark.parametrize(("name", "case"), CASES)
def test_what_is_asked_is_found(name: str, case: dict[str, Any], app: App) -> None:
    """By `values`, or by a name that the answer or what it lacks must tell: `near`."""

    async def ask() -> Any:
        return [event async for event in stream_turn(app, case["ask"], graph=name.replace("_", "-"))][-1][1]

    record = asyncio.run(ask())
    if "near" in case:
        assert case["near"] in " ".join((record["answer"], *record["caveats"]))
    else:
        assert sorted(map(str, record["values"])) == sorted(map(str, case["values"]))
