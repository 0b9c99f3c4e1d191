"""Uploads: names, parts, limits, owners, and an ingest that is stopped."""

import time
from pathlib import Path

import pytest

from nacre.errors import ConfigError
from nacre.serving.errors import Forbidden, NotFound
from nacre.serving.keys import Caller
from nacre.serving.uploads.uploads import FOLDER, MAX_UPLOADS, OUTPUT, Uploads, UploadState

ANN, BO = Caller("ann", may=("write",)), Caller("bo", may=("write",))
READER, LIMITED = Caller("cy"), Caller("di", graphs=("maps",), may=("write",))
TURTLE = b'<urn:a> a <urn:Kite> ; <http://www.w3.org/2000/01/rdf-schema#label> "Red Kite" .\n'


@pytest.fixture
def uploads(tmp_path: Path) -> Uploads:
    return Uploads(tmp_path, 1)


def finished(uploads: Uploads, caller: Caller, upload: str) -> UploadState:
    for _ in range(600):
        if (state := uploads.state(caller, upload)).phase != "running":
            return state
        time.sleep(0.2)
    raise AssertionError("it does not end")


def test_files_come_in_parts_and_stay_in_their_folder(uploads: Uploads, tmp_path: Path) -> None:
    upload = uploads.begin(ANN).upload
    assert uploads.append(ANN, upload, "../../evil kite.ttl", 0, TURTLE[:10]) == 10
    assert uploads.append(ANN, upload, "../../evil kite.ttl", 10, TURTLE[10:]) == len(TURTLE)
    # a part that comes twice, or after one that was lost
    with pytest.raises(ConfigError, match="Continue there"):
        uploads.append(ANN, upload, "../../evil kite.ttl", 10, TURTLE[10:])
    assert uploads.state(ANN, upload).files == (("evil_kite.ttl", len(TURTLE)),)
    assert [path.name for path in tmp_path.iterdir()] == [FOLDER]
    for name in ("run.sh", "kite", ".ttl"):
        with pytest.raises(ConfigError, match="is no RDF file"):
            uploads.append(ANN, upload, name, 0, b"x")
    with pytest.raises(ConfigError, match="at most 1 MB"):
        uploads.append(ANN, upload, "large.nt", 0, b"x" * 1_000_000)


def test_only_its_owner_and_only_who_may_write(uploads: Uploads) -> None:
    upload = uploads.begin(ANN).upload
    for wrong in (upload, "0" * 32, "../keys"):
        with pytest.raises(NotFound):
            uploads.state(BO, wrong)
    with pytest.raises(Forbidden):
        uploads.begin(READER)
    own = uploads.begin(LIMITED).upload
    uploads.append(LIMITED, own, "a.ttl", 0, TURTLE)
    with pytest.raises(Forbidden, match="may not write"):
        uploads.start(LIMITED, own, "kites", replace_graph=True)
    for _ in range(MAX_UPLOADS - 1):
        uploads.begin(ANN)
    with pytest.raises(ConfigError, match="Too many"):
        uploads.begin(ANN)
    uploads.cancel(ANN, upload)
    uploads.begin(ANN)


def test_an_upload_becomes_a_graph_and_a_second_one_must_confirm(uploads: Uploads, tmp_path: Path) -> None:
    upload = uploads.begin(ANN).upload
    for bad in ("../x", "", "Kites"):
        with pytest.raises(ConfigError, match="name of a graph"):
            uploads.start(ANN, upload, bad, replace_graph=False)
    with pytest.raises(ConfigError, match="Send files first"):
        uploads.start(ANN, upload, "kites", replace_graph=False)
    uploads.append(ANN, upload, "kites.ttl", 0, TURTLE)
    uploads.start(ANN, upload, "kites", replace_graph=False)
    other = uploads.begin(BO).upload
    uploads.append(BO, other, "kites.ttl", 0, TURTLE)
    with pytest.raises(ConfigError, match="Other data is being read"):
        uploads.start(BO, other, "others", replace_graph=False)
    state = finished(uploads, ANN, upload)
    assert state.phase == "done", state.lines
    assert str(tmp_path) not in "\n".join(state.lines)
    assert any("2 triples" in line for line in state.lines)
    assert state.files == ()
    with pytest.raises(ConfigError, match="Confirm"):
        uploads.start(BO, other, "kites", replace_graph=False)
    # one that is stopped changes nothing, unless it had published its version by then
    before = (tmp_path / "kites/current").read_bytes()
    uploads.start(BO, other, "kites", replace_graph=True)
    uploads.cancel(BO, other)
    is_unchanged = (tmp_path / "kites/current").read_bytes() == before
    phase = finished(uploads, BO, other).phase
    is_unchanged &= (tmp_path / "kites/current").read_bytes() == before
    assert phase == ("cancelled" if is_unchanged else "done")


def test_a_file_that_broke_off_fails_with_its_line_and_makes_no_graph(uploads: Uploads, tmp_path: Path) -> None:
    upload = uploads.begin(ANN).upload
    # a file that broke off
    uploads.append(ANN, upload, "kites.ttl", 0, TURTLE + b"<urn:broken")
    uploads.start(ANN, upload, "kites", replace_graph=False)
    state = finished(uploads, ANN, upload)
    assert state.phase == "failed"
    assert state.lines[-1].startswith("kites.ttl, line 2")
    assert not (tmp_path / "kites/current").exists()


def test_an_ingest_that_fails_shows_its_reason(uploads: Uploads, tmp_path: Path) -> None:
    # the last line of the command ends in a command, which nobody can run on the page
    empty = uploads.begin(ANN).upload
    uploads.append(ANN, empty, "kites.ttl", 0, b"# nothing\n")
    uploads.start(ANN, empty, "kites", replace_graph=False)
    state = finished(uploads, ANN, empty)
    assert state.phase == "failed"
    assert "kites.ttl" in state.lines[-1]
    (tmp_path / FOLDER / empty / OUTPUT).write_text(
        "reading\nInternal error (KeyError: 1). Run it again as bin/python3.11 -m nacre --debug ...\n"
    )
    assert uploads.state(ANN, empty).lines == ("reading", "Internal error (KeyError: 1).")

    killed = uploads.begin(ANN).upload
    uploads.append(ANN, killed, "kites.ttl", 0, TURTLE)
    uploads.start(ANN, killed, "kites", replace_graph=False)
    assert uploads._running is not None
    uploads._running.kill()
    state = finished(uploads, ANN, killed)
    assert state.phase == "failed"
    assert "was killed" in state.lines[-1]
