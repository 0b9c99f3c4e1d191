"""Documents of LangChain loaders: read by the command line alone, cited by source, refused beyond their limits."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document

from nacre.extensions.documents import read_document
from nacre.serving.cli.main import main
from nacre.stores.catalog import Library

LIGHTS = {
    "https://lights.example/wiki/Grey_Point": "Grey Point is a lighthouse. It was lit on 3 May 1887.",
    "https://lights.example/wiki/Sull_Rock": "Sull Rock is a lighthouse. It was built by Anna Reeve.",
}


class LightLoader(BaseLoader):
    """A page for each lighthouse whose name contains a word."""

    def __init__(self, query: str, most: int = 9, *, upper: bool | None = None) -> None:
        assert isinstance(most, int)
        self.query, self.most, self.upper = query, most, upper

    def lazy_load(self) -> Iterator[Document]:
        found = [(url, text) for url, text in LIGHTS.items() if self.query in text]
        for url, text in found[: self.most]:
            yield Document(text.upper() if self.upper else text, metadata={"source": url, "title": url[-10:]})


class PageLoader(BaseLoader):
    """A report of three pages, two parts on the last."""

    def lazy_load(self) -> Iterator[Document]:
        for page, text in enumerate(("Page one.", "The lamp burns whale oil.", "The keeper is Jon Vik.")):
            yield Document(text, metadata={"source": "report.pdf", "page": page})
        yield Document("The end.", metadata={"source": "report.pdf", "page": 2})


class EndlessLoader(BaseLoader):
    """Documents without end."""

    def lazy_load(self) -> Iterator[Document]:
        while True:
            yield Document("a word " * 10)


class BrokenLoader(BaseLoader):
    """A loader whose site is down."""

    def lazy_load(self) -> Iterator[Document]:
        raise ConnectionError("the site\nis down\x1b[31m" + "!" * 5000)
        yield


class HostileLoader(BaseLoader):
    """Metadata that is made to harm: names with control characters, pages without end, other types."""

    def lazy_load(self) -> Iterator[Document]:
        odd: list[dict[str, Any]] = [
            {"source": "a\x1b[2J\x00b" + "c" * 9000, "page": 10**9},
            {"source": {"not": "text"}, "page": "7"},
            {"source": "../../etc/passwd", "page": True},
            {},
        ]
        for number, metadata in enumerate(odd):
            yield Document(f"Lamp number {number} is green.", metadata=metadata)


class NoLoader:
    """A class that loads nothing."""


HERE = "loaders_of_this_test"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NACRE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("NACRE_EMBEDDER", "none")
    monkeypatch.setitem(sys.modules, HERE, sys.modules[__name__])
    return tmp_path


def ingest(name: str, *arguments: str) -> int:
    return main(["ingest", "--graph", "lights", "--no-vectors", "--loader", f"{HERE}:{name}", *arguments])


def test_what_a_loader_returns_is_asked_and_cited_by_its_source(capsys: pytest.CaptureFixture[str]) -> None:
    assert ingest("LightLoader", "--loader-args", "query=lighthouse", "most=2") == 0
    capsys.readouterr()
    assert main(["ask", "Who built Sull Rock?", "--graph", "lights", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["values"] == ["Anna Reeve"]
    (place,) = {tuple(each["place"].values()) for each in record["citations"]}
    assert place[0] == "https://lights.example/wiki/Sull_Rock"
    text = LIGHTS[place[0]]
    assert "built by Anna Reeve" in text[place[1] : place[2]]


def test_arguments_have_the_types_that_the_class_declares(folder: Path) -> None:
    assert ingest("LightLoader", "--loader-args", "query=lighthouse", "most=1", "upper=true") == 0
    with Library(folder / "data", None).open("lights") as graph:
        assert graph.documents is not None
        assert (
            graph.documents.text("https://lights.example/wiki/Grey_Point")
            == LIGHTS["https://lights.example/wiki/Grey_Point"].upper()
        )
        assert graph.documents.text("https://lights.example/wiki/Sull_Rock") is None


def test_pages_of_one_source_are_one_document_with_pages(folder: Path) -> None:
    assert ingest("PageLoader") == 0
    with Library(folder / "data", None).open("lights") as graph:
        assert graph.documents is not None
        text = graph.documents.text("report.pdf")
        assert text is not None
        pages = [graph.documents.page("report.pdf", text.index(word)) for word in ("one", "whale", "Vik", "end")]
        assert pages == [1, 2, 3, 3]


def test_it_joins_a_graph_and_texts_and_unchanged_documents_change_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "g.ttl").write_text("<http://l.example/s> a <http://l.example/Light> ; <http://l.example/height> 40 .")
    (folder / "report.pdf.md").write_text("The harbour is at Vik.")
    given = ["g.ttl", "--texts", "report.pdf.md"]
    assert ingest("PageLoader", *given) == 0
    assert ingest("PageLoader", *given) == 0
    assert "Nothing changed" in capsys.readouterr().out
    with Library(folder / "data", None).open("lights") as graph:
        assert graph.documents is not None
        assert graph.documents.text("report.pdf.md") == "The harbour is at Vik."
        assert graph.documents.text("report.pdf") is not None


@pytest.mark.parametrize(
    ("loader", "arguments", "says"),
    [
        (f"{HERE}:NoLoader", [], "is no document loader"),
        (f"{HERE}:Nothing", [], "is no document loader"),
        ("langchain_core.document_loaders:BaseLoader", [], "is no document loader"),
        ("os:system", [], "is no document loader"),
        ("no_such_package.loaders:Loader", [], "pip install no-such-package"),
        ("os.system", [], "use MODULE:CLASS"),
        ("os; import x:y", [], "use MODULE:CLASS"),
        (f"{HERE}:LightLoader", [], "missing 1 required positional argument: 'query'"),
        (f"{HERE}:LightLoader", ["topic=x"], "takes no argument 'topic'. It takes: query, most, upper."),
        (f"{HERE}:LightLoader", ["query=x", "most=many"], "this is no int"),
        (f"{HERE}:LightLoader", ["query"], "use NAME=VALUE"),
        (f"{HERE}:LightLoader", ["query=no light has this"], "returned no document"),
        (f"{HERE}:BrokenLoader", [], "ConnectionError: the site is down"),
    ],
)
def test_anything_else_is_refused_in_one_line(
    loader: str, arguments: list[str], says: str, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    given = ["--loader-args", *arguments] if arguments else []
    assert main(["ingest", "--graph", "lights", "--loader", loader, *given]) == 2
    told = capsys.readouterr().err
    assert says in told
    assert len(told.splitlines()) == 1
    assert len(told) < 700
    assert "\x1b" not in told
    assert not (folder / "data" / "lights" / "current").exists()


def test_arguments_without_a_loader_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ingest", "--graph", "lights", "--texts", "x.md", "--loader-args", "query=x"]) == 2
    assert "Add: --loader MODULE:CLASS" in capsys.readouterr().err


@pytest.mark.parametrize(("limit", "value"), [("MAX_DOCUMENTS", 20), ("MAX_TEXT_BYTES", 2000)])
def test_a_loader_without_end_is_stopped(
    limit: str, value: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(read_document, limit, value)
    assert ingest("EndlessLoader") == 2
    assert "returns more than" in capsys.readouterr().err


def test_metadata_made_to_harm_is_a_name_at_most(folder: Path) -> None:
    assert ingest("HostileLoader") == 0
    with read_document.loaded_documents(f"{HERE}:HostileLoader", {}) as documents:
        names = [document.name for document in documents]
        assert all(document.path.parent.name.startswith("nacre-loaded-") for document in documents)
    assert max(map(len, names)) <= read_document.MAX_SOURCE
    assert not any(ord(character) < 32 for name in names for character in name)
    assert len(set(names)) == 4
    assert not documents[0].path.exists()
    with Library(folder / "data", None).open("lights") as graph:
        assert graph.documents is not None
        assert [graph.documents.page(name, 0) for name in names] == [None] * 4


def test_no_other_interface_takes_a_loader() -> None:
    root = Path(__file__).parents[2]
    users = [
        str(path.relative_to(root))
        for package in ("nacre", "graph", "agents", "tools", "ingestion")
        for path in (root / package).rglob("*.py")
        if 'service("documents", "load"' in path.read_text()
    ]
    assert users == ["nacre/serving/cli/ingest.py"]
