"""From sources to a published graph: what is made, what is recognised, what a failure leaves."""

import io
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import ingestion.index.passages
from ingestion.pipeline import IngestResult, index_graph, ingest
from ingestion.read.tables import read_sheet_reports
from nacre.errors import ConfigError, IngestionError
from nacre.stores import versions
from nacre.stores.catalog import Library, Servers
from nacre.stores.vectors import connect_qdrant
from tests.support.word_count_embedder import WordHash

ROOT = Path(__file__).parents[2]
PREFIX = "@prefix : <http://x.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"


def graph(size: int = 5, colour: str = "green") -> str:
    things = [f':t{n} a :Tree ; rdfs:label "Tree {n}" ; :height "{n} m" ; :leaf "kind {n}" .' for n in range(size)]
    return PREFIX + "\n".join(things) + f'\n:t0 :colour "{colour}" .\n'


class Place:
    def __init__(self, root: Path) -> None:
        self.source = root / "graph.ttl"
        self.source.write_text(graph())
        self.data = root / "data"
        self.home = self.data / "g"
        self.embedder = WordHash()

    def ingest(self, *sources: str, **options: Any) -> IngestResult:
        options = {"embedder": self.embedder, **options}
        return ingest(sources or [str(self.source)], "g", data=self.data, **options)

    def versions(self) -> list[str]:
        return sorted(path.name for path in (self.home / "versions").iterdir())


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_a_file_becomes_a_graph_with_every_stage_reported(place: Place) -> None:
    seen: list[tuple[str, int, int]] = []
    made = place.ingest(on_stage=lambda stage, done, total: seen.append((stage, done, total)))
    stages = list(dict.fromkeys(stage for stage, _, _ in seen))
    told = ["parse", "tables", "names", "overview", "verbalise", "index", "publish", "vectors"]
    assert stages == told == list(made.seconds_by_stage)
    assert made.schema.triples == 21
    assert made.passages == made.vectors == made.embedded == 5
    assert not made.unchanged
    assert versions.current_version(place.home) == made.version
    assert place.versions() == [made.version]


def test_the_same_input_again_is_recognised(place: Place) -> None:
    first = place.ingest()
    again = place.ingest()
    assert again.unchanged
    assert (again.version, again.schema, again.passages, again.vectors) == (first.version, first.schema, 5, 5)
    assert again.seconds_by_stage == {}


def test_a_touched_part_or_setting_is_no_same_input(place: Place, tmp_path: Path) -> None:
    place.ingest()
    texts = tmp_path / "a.md"
    texts.write_text("# A\n\nTrees are tall.")
    made = place.ingest(texts=[str(texts)])
    assert (made.passages, made.texts) == (6, 1)
    again = place.ingest(texts=[str(texts)])
    assert (again.unchanged, again.passages, again.texts) == (True, 6, 1)
    made = place.ingest()
    (place.home / "versions" / made.version / "passages.sqlite").unlink()
    assert not place.ingest().unchanged


def test_one_changed_entity_embeds_one_passage(place: Place) -> None:
    place.ingest()
    place.embedder.seen.clear()
    place.source.write_text(graph(colour="red"))
    made = place.ingest()
    assert made.passages == 5
    assert made.embedded == 1
    assert [("Tree 0" in text, "red" in text) for text in place.embedder.seen if "Tree" in text] == [(True, True)]
    opened = Library(place.data, place.embedder).open("g")
    assert opened.vectors is not None
    assert opened.passages is not None
    for number, title, text in opened.passages.each():
        best = opened.vectors.search(f"{title}\n{text}", 1)[0]
        assert (best.id, round(best.score, 4)) == (number, 1.0)


def test_an_incremental_ingest_equals_a_full_one(place: Place, tmp_path: Path) -> None:
    place.ingest()
    place.source.write_text(graph(size=7, colour="red"))
    place.ingest()
    (tmp_path / "fresh").mkdir()
    fresh = Place(tmp_path / "fresh")
    fresh.source.write_text(place.source.read_text())
    fresh.ingest()
    one, two = (Library(p.data, p.embedder).open("g") for p in (place, fresh))
    assert list(one.tables.trusted().iterdump()) == list(two.tables.trusted().iterdump())
    assert one.passages is not None
    assert two.passages is not None
    assert one.passages.get(one.passages.written()) == two.passages.get(two.passages.written())


def test_files_are_added_to_what_the_graph_has(place: Place, tmp_path: Path) -> None:
    first = {"trees.ttl": graph(3), "lamps.csv": "lamp,price\nAlpha,3\n", "a.md": "# Coast\n\nThe pier is old.\n"}
    second = {"more.ttl": graph(4, "red"), "tools.csv": "tool,weight\nAnchor,30\n", "b.md": "The quay is new.\n"}
    for name, text in {**first, **second}.items():
        (tmp_path / name).write_text(text)

    def add(files: dict[str, str], **options: Any) -> IngestResult:
        names = [str(tmp_path / name) for name in files]
        return place.ingest(*names[:2], texts=names[2:], **options)

    whole = place.ingest(
        *(str(tmp_path / name) for name in ("trees.ttl", "more.ttl", "lamps.csv", "tools.csv")),
        texts=[str(tmp_path / name) for name in ("a.md", "b.md")],
    )
    add(first)
    made = add(second, add=True)
    assert (made.texts, made.passages) == (whole.texts, whole.passages) == (2, whole.passages)
    assert made.schema.triples == whole.schema.triples
    assert {each.label: each.count for each in made.schema.classes} == {"tree": 4, "lamps": 1, "tools": 1}
    with Library(place.data, None).open("g") as opened:
        assert opened.documents is not None
        assert [each.text for each in opened.documents.all()] == ["# Coast\n\nThe pier is old.\n", "The quay is new.\n"]
        folder = versions.version_folder(place.home, opened.version)
    assert [each.label for each in read_sheet_reports(folder)] == ["lamps", "tools"]
    # a document of the same name takes the place of the earlier one; the same triples are there once
    (tmp_path / "b.md").write_text("The quay was rebuilt.\n")
    again = add(second, add=True)
    assert (again.texts, again.schema.triples) == (2, whole.schema.triples)
    with Library(place.data, None).open("g") as opened:
        assert opened.documents is not None
        assert opened.documents.text("b.md") == "The quay was rebuilt.\n"
        folder = versions.version_folder(place.home, opened.version)
    assert [each.label for each in read_sheet_reports(folder)] == ["lamps", "tools"]
    # to a name without a graph, files are added as the first ones
    assert ingest([str(place.source)], "new", data=place.data, add=True, no_vectors=True).schema.triples == 21


def test_folders_globs_and_standard_input(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "rdf"
    folder.mkdir()
    (folder / "a.ttl").write_text(PREFIX + ":a :p :b .")
    (folder / "b.nt").write_text("<http://x.org/b> <http://x.org/p> <http://x.org/c> .\n")
    assert place.ingest(str(folder)).schema.triples == 2
    assert place.ingest(str(folder / "*.nt")).schema.triples == 1
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(graph(2).encode())))
    assert place.ingest("-").schema.triples == 9
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(graph(2).encode())))
    assert place.ingest("-").unchanged
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"no RDF <at all")))
    with pytest.raises(IngestionError, match=r"^standard input"):
        place.ingest("-")


def test_tables_only_and_no_vectors_say_so(place: Place) -> None:
    made = place.ingest(tables_only=True)
    assert list(made.seconds_by_stage) == ["parse", "tables", "names", "publish"]
    opened = Library(place.data, place.embedder).open("g")
    assert opened.unavailable == dict.fromkeys(("lexical", "vector"), "ingested with --tables-only")
    assert opened.passages is None
    with pytest.raises(ConfigError, match="--tables-only"):
        index_graph("g", data=place.data, embedder=place.embedder)
    place.ingest(no_vectors=True)
    opened = Library(place.data, place.embedder).open("g")
    assert "--no-vectors" in opened.unavailable["vector"]
    assert opened.lexical is not None
    assert index_graph("g", data=place.data, embedder=place.embedder).embedded == 5
    assert Library(place.data, place.embedder).open("g").unavailable == {}
    # the version is the same with and without vectors, and those that were left out come back without embedding
    assert place.ingest(no_vectors=True).unchanged
    assert "--no-vectors" in Library(place.data, place.embedder).open("g").unavailable["vector"]
    back = place.ingest()
    assert (back.unchanged, back.vectors, back.embedded) == (False, 5, 0)
    assert Library(place.data, place.embedder).open("g").unavailable == {}


def test_without_an_embedder_the_reason_is_kept(place: Place) -> None:
    place.ingest(embedder=None)
    assert "pip install" in Library(place.data, place.embedder).open("g").unavailable["vector"]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("gone.ttl", None, r"gone\.ttl: no such file"),
        ("*.owl", None, r"\*\.owl: no file matches"),
        ("empty.ttl", "", r"empty\.ttl.*empty"),
        ("broken.ttl", PREFIX + ":a :b 'c", r"broken\.ttl"),
        ("paper.pdf", "%PDF", r"paper\.pdf: \.pdf is no RDF.*--texts"),
    ],
)
def test_bad_input_leaves_the_old_graph(
    place: Place, tmp_path: Path, name: str, content: str | None, said: str
) -> None:
    first = place.ingest()
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(IngestionError, match=said):
        place.ingest(str(tmp_path / name))
    with pytest.raises(IngestionError, match=said):
        ingest([str(tmp_path / name)], "new", data=place.data)
    assert versions.current_version(place.home) == first.version
    assert place.versions() == [first.version]
    assert not (place.data / "new").exists()


def test_ctrl_c_in_any_stage_leaves_nothing_half_written(place: Place) -> None:
    first = place.ingest()
    place.source.write_text(graph(6))
    for stopped in first.seconds_by_stage:

        def stop(stage: str, done: int, total: int, stopped: str = stopped) -> None:
            if stage == stopped:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            place.ingest(on_stage=stop)
        assert versions.current_version(place.home) in (first.version, max(place.versions()))
        if stopped not in ("publish", "vectors"):
            assert place.versions() == [first.version]
        assert not [path for path in place.home.rglob("*") if path.name.endswith(".building")]


class Counting(WordHash):
    """Fails, or is interrupted, after a number of texts."""

    def __init__(self, most: int, error: BaseException) -> None:
        super().__init__()
        self.left, self.error = most, error

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.left -= len(texts)
        if self.left < 0:
            raise self.error
        return super().embed(texts)


def test_a_graph_answers_before_its_vectors_are_there_and_an_index_completes_them(place: Place) -> None:
    place.source.write_text(graph(300))
    with pytest.raises(KeyboardInterrupt):
        place.ingest(embedder=Counting(200, KeyboardInterrupt()))
    library = Library(place.data, place.embedder)
    turn = library.open("g")
    assert turn.schema.triples == 1201
    assert turn.lexical is not None
    assert turn.vectors is None
    assert "nacre index --graph g" in turn.unavailable["vector"]
    assert library.missing_branches("g") == turn.unavailable
    made = index_graph("g", data=place.data, embedder=place.embedder)
    # the first 128 were kept
    assert (made.version, made.passages, made.vectors, made.embedded) == (turn.version, 300, 300, 172)
    assert [path.name for path in (place.home / "vectors").iterdir()] == [library.open("g").vector_set]
    # a turn goes on with what it began with
    assert library.open("g", turn.version, turn.vector_set) is turn
    with library.open("g") as after:
        assert after.vectors is not None
        assert after.passages is not None
        for number, title, text in after.passages.each():
            best = after.vectors.search(f"{title}\n{text}", 50)
            assert number in [hit.id for hit in best if round(hit.score, 4) == 1]
    library.close()


def test_a_new_graph_before_its_vectors_are_there_keeps_those_to_copy(place: Place) -> None:
    place.ingest()
    for size in (6, 7):
        place.source.write_text(graph(size))
        with pytest.raises(ConfigError, match="word-hash can't be used: no weights"):
            place.ingest(embedder=Counting(0, RuntimeError("no weights")))
    made = place.ingest()
    assert (made.unchanged, made.vectors, made.embedded) == (False, 7, 2)


def test_an_index_with_nothing_to_complete_builds_both_indexes_anew(place: Place) -> None:
    first = place.ingest()
    made = index_graph("g", data=place.data, embedder=place.embedder)
    assert made.version != first.version
    assert (made.passages, made.vectors, made.embedded) == (5, 5, 0)
    assert place.versions() == [made.version]
    assert Library(place.data, place.embedder).open("g").unavailable == {}


def test_what_was_embedded_by_another_model_or_is_damaged_is_not_taken(place: Place) -> None:
    class Other(WordHash):
        name = "other"

    place.source.write_text(graph(300))
    with pytest.raises(KeyboardInterrupt):
        place.ingest(embedder=Counting(200, KeyboardInterrupt()))
    assert index_graph("g", data=place.data, embedder=Other()).embedded == 300
    with pytest.raises(KeyboardInterrupt):
        index_graph("g", data=place.data, embedder=Counting(200, KeyboardInterrupt()))
    (place.home / "vectors" / versions.EMBEDDED).write_bytes(b"no database, but as long as one needs to be" * 99)
    assert index_graph("g", data=place.data, embedder=place.embedder).embedded == 300


def test_an_embedder_that_fails_is_named_and_the_graph_answers(place: Place) -> None:
    with pytest.raises(ConfigError, match="word-hash can't be used: no weights"):
        place.ingest(embedder=Counting(0, RuntimeError("no weights")))
    opened = Library(place.data, place.embedder).open("g")
    assert opened.schema.triples == 21
    assert set(opened.unavailable) == {"vector"}


def test_cards_are_embedded_in_small_graphs_and_prose_in_all(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingestion.index.passages, "MAX_FACT_PASSAGES", 4)
    monkeypatch.setattr(ingestion.index.passages, "MAX_PROSE_PASSAGES", 2)
    prose = "It is a tree that grows slowly, and its wood is used for barrels, ships and floors alike. "
    comments = f':t1 rdfs:comment "{prose}" . :t2 rdfs:comment "{prose * 99}" .'
    texts = tmp_path / "a.md"
    texts.write_text("# Trees\n\n" + "".join(f"Tree number {n} is tall. " for n in range(200)))
    place.source.write_text(graph(7) + comments)
    made = place.ingest(texts=[str(texts)])
    opened = Library(place.data, place.embedder).open("g")
    assert opened.vectors is not None
    assert opened.passages is not None
    found = opened.passages.get([hit.id for hit in opened.vectors.search("a tree", 1000)])
    documents = len(opened.passages.by_key("a.md"))
    assert documents > 2
    assert len(opened.passages.by_key("http://x.org/t2")) > 2
    assert Counter(passage.key for passage in found) == {
        "a.md": documents, "http://x.org/t1": 1, "http://x.org/t2": 2,
    }  # fmt: skip
    assert made.vectors == len(found)
    place.source.write_text(graph(4) + comments)
    assert place.ingest().vectors == 2 + 1 + 2


def test_a_place_that_can_not_be_written(place: Place, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(IngestionError, match=r"Can't write to .*NACRE_DATA"):
        ingest([str(place.source)], "g", data=tmp_path / "file")


def collections() -> list[str]:
    return [each.name for each in connect_qdrant(":memory:", None).get_collections().collections]


def test_vectors_on_a_server_have_a_collection_a_version(place: Place) -> None:
    connect_qdrant.cache_clear()
    first = place.ingest(server=Servers(":memory:"))
    [collection] = collections()
    assert collection.startswith(f"nacre_g_{first.version}-")
    place.source.write_text(graph(colour="red"))
    with pytest.raises(KeyboardInterrupt):
        place.ingest(server=Servers(":memory:"), embedder=Counting(0, KeyboardInterrupt()))
    library = Library(place.data, place.embedder, ":memory:")
    assert set(library.open("g").unavailable) == {"vector"}
    assert collections() == [collection]
    second = place.ingest(server=Servers(":memory:"))
    assert second.embedded == 1
    [collection] = collections()
    assert collection.startswith(f"nacre_g_{second.version}-")
    opened = library.open("g")
    assert opened.vectors is not None
    assert opened.vectors.search("red tree 0", 1)
    assert "NACRE_QDRANT_URL" in Library(place.data, place.embedder).open("g").unavailable["vector"]
    library.close()
    Library(place.data, None, ":memory:").remove("g")
    connect_qdrant(":memory:").close()
    connect_qdrant.cache_clear()
