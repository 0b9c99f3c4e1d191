"""Uploads that are made to take all memory, time or disk: each ends with a message, and makes no graph."""

import gzip
import io
import random
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.inputs.hostile_files import gzip_bomb
from nacre.errors import ConfigError
from nacre.extensions.uploads.routes import FILES, FOLDER, Uploads, UploadState
from nacre.serving.keys import Caller
from tests.e2e.test_uploads import ANN, BO, TURTLE, finished

MEGABYTES, GZIP_BYTES = 500, 250_000_000
HOSTILE_NAMES = ("../../keys.ttl", "a\x00b.ttl", "-rf ~;id`.ttl", "<img src=x onerror=alert(1)>.ttl", "\u202egnp.ttl")


@pytest.fixture
def uploads(tmp_path: Path) -> Uploads:
    return Uploads(tmp_path, MEGABYTES)


def zip_bomb() -> bytes:
    """A Word file whose text unpacks to 300 MB."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("[Content_Types].xml", "<Types/>")
        with out.open("word/document.xml", "w", force_zip64=True) as part:
            for _ in range(300):
                part.write(b" " * 1_000_000)
    return packed.getvalue()


def ended(uploads: Uploads, caller: Caller, name: str, content: bytes, replace: bool = False) -> UploadState:
    upload = uploads.begin(caller).upload
    uploads.append(caller, upload, name, 0, content)
    if name.endswith(".yaml"):
        with pytest.raises(ConfigError, match="Send it with RDF"):
            uploads.start(caller, upload, "kites", replace_graph=replace)
        uploads.append(caller, upload, "kite.ttl", 0, TURTLE)
    uploads.start(caller, upload, "kites", replace_graph=replace)
    return finished(uploads, caller, upload)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("bomb.ttl.gz", lambda: gzip_bomb(TURTLE, TURTLE, GZIP_BYTES, stated=False), "max-expansion"),
        ("cut.ttl.gz", lambda: gzip.compress(random.Random(1).randbytes(9000))[:-40], "cut.ttl.gz"),
        ("bomb.docx", zip_bomb, "bomb.docx"),
        ("deep.jsonld", lambda: b'{"urn:a":' * 200_000 + b"1" + b"}" * 200_000, "deep.jsonld"),
        ("deep.json", lambda: b"[" * 1_000_000, "deep.json"),
        ("deep.yaml", lambda: b"[" * 100_000, "deep.yaml"),
        ("none.pdf", lambda: b"%PDF-1.7\n" + bytes(1_000_000), "none.pdf"),
    ],
)
def test_a_bomb_ends_with_its_name_and_makes_no_graph(
    uploads: Uploads, tmp_path: Path, name: str, content: Callable[[], bytes], said: str
) -> None:
    state = ended(uploads, ANN, name, content())
    assert state.phase == "failed", state.lines
    assert said in " ".join(state.lines)
    # no line of the file itself fills the page
    assert sum(map(len, state.lines)) < 5000
    assert not (tmp_path / "kites").exists()
    assert list((tmp_path / FOLDER).glob(f"*/{FILES}")) == []


def test_500_megabytes_of_nothing_are_refused_by_their_beginning(uploads: Uploads, tmp_path: Path) -> None:
    upload = uploads.begin(ANN).upload
    uploads.append(ANN, upload, "nothing.nt", 0, bytes(8 << 20))
    with (tmp_path / FOLDER / upload / FILES / "nothing.nt").open("r+b") as sparse:
        sparse.truncate(MEGABYTES * 1_000_000)
    uploads.start(ANN, upload, "kites", replace_graph=False)
    state = finished(uploads, ANN, upload)
    assert state.phase == "failed"
    assert state.lines == ("nothing.nt: no text in it, but zero bytes.",)
    assert not (tmp_path / "kites").exists()


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_a_hostile_name_is_a_name(uploads: Uploads, tmp_path: Path, name: str) -> None:
    upload = uploads.begin(BO).upload
    uploads.append(BO, upload, name, 0, TURTLE)
    ((stored, _),) = uploads.state(BO, upload).files
    assert not set(stored) & set("/\\<>;`\x00\u202e ")
    assert (tmp_path / FOLDER / upload / FILES / stored).read_bytes() == TURTLE
    assert {path.name for path in tmp_path.iterdir()} == {FOLDER}


def test_an_upload_that_broke_off_goes_on_where_it_was_or_is_refused(uploads: Uploads) -> None:
    upload = uploads.begin(ANN).upload
    uploads.append(ANN, upload, "kites.ttl", 0, TURTLE[:30])
    # whoever comes back asks where to go on
    assert uploads.state(ANN, upload).files == (("kites.ttl", 30),)
    uploads.append(ANN, upload, "kites.ttl", 30, TURTLE[30:])
    uploads.start(ANN, upload, "kites", replace_graph=False)
    assert finished(uploads, ANN, upload).phase == "done"
    # the last statement of what broke off for good is cut, so that it replaces nothing
    state = ended(uploads, ANN, "kites.ttl", TURTLE + TURTLE[:40], replace=True)
    assert state.phase == "failed"
    assert "line 2" in " ".join(state.lines)
