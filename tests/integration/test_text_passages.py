"""Documents to passages: formats, titles, places, repetitions, refusals."""

from pathlib import Path

import pytest

from ingestion.documents import DocumentText
from nacre.errors import IngestionError
from nacre.extensions.documents.passages import SeenTexts, document_title, text_passages
from nacre.extensions.documents.read_document import find_documents, load_documents
from nacre.records.evidence import Passage

FIXTURES = Path(__file__).parents[1] / "fixtures/documents"


def texts(*places: Path) -> dict[str, DocumentText]:
    return {
        each.document.name: each.text
        for each in load_documents(find_documents([str(place) for place in places]))
        if each.text
    }


def read(*places: Path) -> list[Passage]:
    seen = SeenTexts()
    return [passage for name, text in texts(*places).items() for passage in text_passages(name, text, seen)]


def left_out(place: Path) -> str:
    (loaded,) = load_documents(find_documents([str(place)]))
    assert loaded.text is None
    return loaded.why


@pytest.mark.parametrize(
    ("file", "title", "told"),
    [
        (
            "orchard.md",
            "The orchard",
            {
                "The orchard": ["The oldest tree was planted in 1902 by Greta Holm."],
                "The orchard: Harvest": [
                    "Apples weigh 180 g.",
                    "Pears ripen in October.",
                    "Sort: Russet; Trees: 40.",
                    "Sort: Quince; Trees: 3.",
                    "# no heading",
                ],
                "The orchard: Harvest: Storage": ["Apples keep until March.", "They lie in the cellar."],
            },
        ),
        (
            "orchard.txt",
            "orchard",
            {"orchard": ["The cellar has two doors.", "One of them is green.", "It squeaks."]},
        ),
        (
            "prices.csv",
            "prices",
            {"prices": ["sort: Russet; price: 2.40; note: sweet; keeps long.", "sort: Quince; price: 3.10."]},
        ),
        (
            "trees.json",
            "trees",
            {
                "trees": [
                    "orchard: Holm.",
                    "sort: Russet; count: 40; graft stock: M9.",
                    "sort: Quince; count: 3; wild: no.",
                ]
            },
        ),
        (
            "orchard.html",
            "Visiting",
            {
                "Visiting": ["The gate opens at 9:30.", "It closes at dusk.", "Dogs stay outside."],
                "Visiting: Prices": ["Who: Adults; Price: 4 euros.", "Cash only"],
            },
        ),
        ("press.pdf", "The press", {"The press: Use": ["Two people turn the wheel."]}),
        (
            "bees.docx",
            "Bees",
            {
                "Bees": ["The hives stand behind the barn."],
                "Bees: Honey": ["A jar holds 500 g.", "Year: 2021; Jars: 80.", "Year: 2022; Jars: 95."],
            },
        ),
    ],
)
def test_a_document_becomes_sentences_under_its_headings(file: str, title: str, told: dict[str, list[str]]) -> None:
    (text,) = texts(FIXTURES / file).values()
    assert document_title(file, text) == title
    found: dict[str, list[str]] = {}
    for passage in read(FIXTURES / file):
        found.setdefault(passage.title, []).extend(s.text for s in passage.sentences)
    assert {key: found.get(key) for key in told} == told


@pytest.mark.parametrize("file", sorted(path.name for path in FIXTURES.iterdir()))
def test_a_sentence_stands_at_its_place(file: str) -> None:
    (text,) = texts(FIXTURES / file).values()
    for passage in read(FIXTURES / file):
        assert passage.key == file
        for sentence in passage.sentences:
            raw = text.text[sentence.start : sentence.end]
            # a row is said with the names of its columns, the rest as it is written but for marks
            last = sentence.text.rstrip(".").split()[-1]
            assert last in raw or sentence.text.startswith("orchard:") or last == "no", (sentence, raw)


def test_pages_of_a_pdf_and_what_stands_on_all_of_them() -> None:
    (text,) = texts(FIXTURES / "press.pdf").values()
    assert "page" not in text.text
    begins = [text.text[place:].split("\n")[0] for place in text.pages]
    assert begins == ["The press", "Use", "Care"]


def test_a_markdown_file_keeps_its_places(tmp_path: Path) -> None:
    text = (
        "\ufeff# Olive trees\r\n\r\nThey grow **slowly**. See [the guide](http://x.org/a_b).\r\n\r\n"
        "## Water\r\n\r\n- Little of it.\r\n- Never\n  ice.\r\n"
    )
    (tmp_path / "olive.md").write_text(text, encoding="utf-8", newline="")
    first, second = read(tmp_path / "olive.md")
    assert (first.key, first.title) == ("olive.md", "Olive trees")
    assert [s.text for s in first.sentences] == ["They grow slowly.", "See the guide."]
    assert second.title == "Olive trees: Water"
    assert [s.text for s in second.sentences] == ["Little of it.", "Never ice."]
    decoded = text[1:]
    for passage in (first, second):
        for sentence in passage.sentences:
            raw = decoded[sentence.start : sentence.end]
            assert sentence.text.split()[0] in raw
            assert raw == raw.strip()


def test_what_was_told_is_not_told_again(tmp_path: Path) -> None:
    long = "The ferry to the northern islands leaves every morning at eight, " * 3 + "and comes back at night."
    (tmp_path / "a.md").write_text(f"# A\n\n{long}\n\nOpen daily.\n\nOpen daily.")
    (tmp_path / "b.md").write_text(f"# B\n\nB says:\n\n{long}\n\nOpen daily.")
    (tmp_path / "c.txt").write_text((tmp_path / "a.md").read_text().replace("# A\n\n", ""))
    told = {p.key: [s.text for s in p.sentences] for p in read(tmp_path / "a.md", tmp_path / "b.md")}
    assert told == {"a.md": [long, "Open daily."], "b.md": ["B says:", "Open daily."]}
    seen = SeenTexts()
    found = texts(tmp_path)
    names = [seen.text(Path(name).name, text) for name, text in found.items()]
    assert names == ["", "", "a.md"]


def test_a_folder_is_read_whole_and_in_order(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    (folder / "deep").mkdir(parents=True)
    (folder / "b.md").write_text("B is here.")
    (folder / "deep" / "a.txt").write_text("A is here.")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    (folder / "old.doc").write_bytes(b"\xd0\xcf")
    (folder / ".hidden.md").write_text("No.")
    assert [p.key for p in read(folder)] == ["docs/b.md", "docs/deep/a.txt"]
    assert [p.key for p in read(Path(str(folder / "*.md")))] == ["b.md"]
    found = {each.document.name: each.why for each in load_documents(find_documents([str(folder)]))}
    assert found.keys() == {"docs/b.md", "docs/deep/a.txt", "docs/old.doc"}
    assert "pandoc old.doc" in found["docs/old.doc"]


def test_files_of_the_same_name_are_told_apart(tmp_path: Path) -> None:
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.md").write_text(f"This is {name}.")
    keys = [p.key for p in read(tmp_path / "x" / "a.md", tmp_path / "y" / "a.md")]
    assert len(set(keys)) == 2


@pytest.mark.parametrize("name", ["a", "a.png", "a.doc"])
def test_other_formats_are_refused_by_name(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"x")
    with pytest.raises(IngestionError, match=rf"{name}: can't read"):
        find_documents([str(tmp_path / name)])


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(IngestionError, match=r"gone\.md: no such file"):
        find_documents([str(tmp_path / "gone.md")])
    with pytest.raises(IngestionError, match="no file matches"):
        find_documents([str(tmp_path / "*.md")])
    (tmp_path / "empty").mkdir()
    with pytest.raises(IngestionError, match="no document in this folder"):
        find_documents([str(tmp_path / "empty")])


def test_other_encodings_are_read_and_binary_files_are_not(tmp_path: Path) -> None:
    said = "Der Käse aus Österreich schmeckt süß und würzig. Die Bäuerin verkauft ihn täglich auf dem Markt."
    (tmp_path / "latin.txt").write_bytes(said.encode("cp1252"))
    (passage,) = read(tmp_path / "latin.txt")
    assert passage.text == said
    (tmp_path / "noise.txt").write_bytes(bytes(range(256)) * 4)
    assert left_out(tmp_path / "noise.txt")
    with pytest.raises(IngestionError, match=r"noise\.txt"):
        list(load_documents(find_documents([str(tmp_path / "noise.txt")]), strict=True))
