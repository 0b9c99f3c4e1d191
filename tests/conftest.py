import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from nacre.config.settings import Settings
from tests.support.light import close_pools, finding_examples, lighten, relax
from tests.support.scripted_model import ScriptedModel

# two cores are shared with other work: how long an example takes says nothing; every run tries the same examples, and
# others with `pytest --hypothesis-profile=others`
hypothesis.settings.register_profile("others", deadline=None)
hypothesis.settings.register_profile("untimed", deadline=None, derandomize=True)
hypothesis.settings.load_profile("untimed")

GRAPHS = Path(__file__).parent / "fixtures/graphs"
# files that take five seconds of processor time and more: they begin first, so that no process waits for the other at
# the end
LONGEST = (
    "test_questions",
    "test_packs",
    "test_extensions",
    "test_upload_bombs",
    "test_databases",
    "test_login",
    "test_regular_expressions",
    "test_uploaded_data",
    "test_verifier",
    "test_direct_mapping",
    "test_cli_commands",
    "test_uploads",
    "test_hostile_files",
    "test_same_readings",
    "test_killed_ingests",
    "test_derived_codes",
    "test_vocabularies",
    "test_random_plans",
    "test_hostile_attach",
    "test_sparql_plans",
    "test_pipeline",
)


def pytest_configure() -> None:
    """Modules of tests are read without a collection of garbage."""
    gc.disable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    place = {name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path.stem, len(place)))


def pytest_collection_finish() -> None:
    """Garbage is rarely collected; processes obey interrupts, which a script in the background has them ignore."""
    gc.enable()
    relax()
    lighten()
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, scope="session")
def _plain_environment() -> Iterator[None]:
    """No setting of this machine, no tracing, no real chat model."""
    kept = dict(os.environ)
    for name in list(os.environ):
        if name.startswith(("NACRE_", "OPENAI_", "OLLAMA_", "LANGSMITH_", "LANGCHAIN_")):
            del os.environ[name]
    os.environ.update(NACRE_FORBID_MODELS="true", LANGSMITH_TRACING="false")
    yield
    os.environ.clear()
    os.environ.update(kept)


@pytest.fixture(autouse=True, scope="module")
def _light(request: pytest.FixtureRequest) -> Iterator[None]:
    """Ingests find example questions for the modules that say so; no module leaves processes behind."""
    with finding_examples(hasattr(request.module, "FINDS_EXAMPLES")):
        yield
    close_pools()


@pytest.fixture(scope="session")
def kitchen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the small graph `kitchen`, without vectors."""
    from ingestion.pipeline import ingest

    data = tmp_path_factory.mktemp("kitchen")
    with finding_examples(True):
        ingest([str(GRAPHS / "kitchen.ttl")], "kitchen", data=data, sparql=True)
    return data


@pytest.fixture
def settings(kitchen: Path) -> Settings:
    return Settings(data=kitchen, embedder="none", _env_file=None)


@pytest.fixture
def scripted() -> ScriptedModel:
    return ScriptedModel()
