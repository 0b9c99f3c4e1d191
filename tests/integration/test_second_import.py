"""A second import: what two files and two documents say of one thing is kept; what an import drops is told."""

from pathlib import Path

import pytest

from ingestion.pipeline import ingest
from nacre.access.queries import search_sentences
from nacre.access.things import find_thing
from nacre.config.settings import Settings
from nacre.serving.cli.main import main
from nacre.stores.catalog import Library

HEAD = """
@prefix : <http://example.org/kites/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
FIRST = HEAD + ':heron a :Kite ; rdfs:label "Heron" ; :span 210 ; :maker "Ada Moor" .'
SECOND = HEAD + ':heron a :Kite ; rdfs:label "Heron" ; :weight 340 ; :maker "Ada Moor", "Ben Stow" .'
WORKSHOP = "# Workshop\n\nThe Heron was repaired in the workshop after the storm.\n"
LOGBOOK = "# Logbook\n\nThe Heron was flown over the dunes for nine hours.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "texts").mkdir()
    for name, text in (("first.ttl", FIRST), ("texts/workshop.md", WORKSHOP)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    ingest(
        [str(tmp_path / "first.ttl")], "kites", data=tmp_path / "data", no_vectors=True, texts=[str(tmp_path / "texts")]
    )
    return tmp_path


async def test_both_origins_of_a_thing_are_kept(folder: Path) -> None:
    for name, text in (("second.ttl", SECOND), ("texts/logbook.md", LOGBOOK)):
        (folder / name).write_text(text, encoding="utf-8")
    sources = [str(folder / name) for name in ("first.ttl", "second.ttl")]
    ingest(sources, "kites", data=folder / "data", no_vectors=True, texts=[str(folder / "texts")])
    library = Library(folder / "data", None)
    with library.open("kites") as graph:
        thing = find_thing(graph, "Heron", 10).thing
        values = {each.label: {end.text for end in each.ends} for each in thing.facts}
        # one thing with the facts of both files, none of them twice
        assert (values["span"], values["weight"], values["maker"]) == ({"210"}, {"340"}, {"Ada Moor", "Ben Stow"})
        assert graph.schema.entities == 1
        settings = Settings(data=folder / "data", embedder="none", _env_file=None)
        found = {
            hit.source for text in ("repaired after the storm", "flown over the dunes")
            for hit in await search_sentences(graph, text, settings, 5)
        }  # fmt: skip
        # and the sentences of each document under its own name
        assert {"workshop.md", "logbook.md"} <= {Path(each).name for each in found}
    library.close()


def test_what_an_import_dropped_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setenv("NACRE_DATA", str(folder / "data"))
    (folder / "third.nt").write_text(
        '<http://example.org/kites/heron> <http://example.org/kites/span> "210" .\nthis line is no triple\n',
        encoding="utf-8",
    )
    (folder / "texts/plan.pdf").write_bytes(b"no PDF at all")
    arguments = [folder / "first.ttl", folder / "third.nt", "--texts", folder / "texts", "--graph", "kites"]
    assert main(["ingest", *map(str, arguments), "--no-vectors"]) == 0
    told = capfdbinary.readouterr()[0].decode()
    assert "third.nt" in told
    assert "plan.pdf" in told
