"""Uploads: names, parts, limits, owners; an ingest that is stopped, or whose server is killed; a full disk."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest
from fastapi import FastAPI, Request
from fastapi.testclient import TestClient

from benchmarks.abuse.measured import is_running
from nacre.config.settings import Settings
from nacre.errors import ConfigError, NacreError
from nacre.extensions.uploads.routes import (
    BEFORE,
    CHUNK,
    FILES,
    FOLDER,
    IDLE_SECONDS,
    INTERRUPTED,
    MAX_UPLOADS,
    OUTPUT,
    REASONS,
    STATE,
    Uploads,
    UploadState,
    router,
)
from nacre.serving.app import create_app
from nacre.serving.errors import Forbidden, NotFound
from nacre.serving.http.auth import authenticate
from nacre.serving.http.middleware import nacre_error_response
from nacre.serving.keys import Caller
from nacre.serving.turn_service import PART_SLOTS, TurnService
from nacre.stores.killable_pool import child_command
from nacre.stores.versions import CURRENT, WRITER
from tests.integration.test_relative_iris import manifest, triples

ANN, BO = Caller("ann", may=("write",)), Caller("bo", may=("write",))
READER, LIMITED = Caller("cy"), Caller("di", graphs=("maps",), may=("write",))
# a server with one upload, which is ingested
SERVER = """
import sys, time
from pathlib import Path
from nacre.serving.keys import Caller
from nacre.extensions.uploads.routes import Uploads
uploads, ann = Uploads(Path(sys.argv[1]), 1), Caller("ann", may=("write",))
upload = uploads.begin(ann).upload
uploads.append(ann, upload, "kites.ttl", 0, sys.argv[2].encode())
uploads.start(ann, upload, "kites", replace_graph=True)
print(upload, uploads._running.pid, flush=True)
time.sleep(600)
"""
TURTLE = b'<urn:a> a <urn:Kite> ; <http://www.w3.org/2000/01/rdf-schema#label> "Red Kite" .\n'
# takes longer to ingest than it takes to stop that
LARGE = TURTLE + b"".join(b"<urn:%d> a <urn:Kite> ; <urn:length> %d .\n" % (i, i) for i in range(20_000))


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


def test_of_equal_parts_that_come_at_once_one_is_kept(uploads: Uploads) -> None:
    upload = uploads.begin(ANN).upload

    def append(_: int) -> int:
        try:
            return uploads.append(ANN, upload, "kites.ttl", 0, TURTLE)
        except ConfigError:
            return 0

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(append, range(6))) == [0] * 5 + [len(TURTLE)]
    assert uploads.state(ANN, upload).files == (("kites.ttl", len(TURTLE)),)


class SlowUploads(Uploads):
    """Uploads in which several requests read a state before one of them writes."""

    def state(self, caller: Caller, upload: str) -> UploadState:
        found = super().state(caller, upload)
        time.sleep(0.1)
        return found


def test_parts_of_files_that_come_at_once_pass_no_limit(tmp_path: Path) -> None:
    uploads, part = SlowUploads(tmp_path, 1), b"x" * 400_000
    upload = uploads.begin(ANN).upload

    def append(number: int) -> int:
        try:
            return uploads.append(ANN, upload, f"kites{number}.nt", 0, part)
        except ConfigError:
            return 0

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(append, range(8))) == 2 * len(part)
    assert sum(size for _, size in uploads.state(ANN, upload).files) == 2 * len(part)


def test_only_its_owner_and_only_who_may_write(uploads: Uploads, tmp_path: Path) -> None:
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
    left = uploads.begin(ANN).upload
    # an abandoned upload, as of a page that was closed, is replaced
    folder = tmp_path / FOLDER / left
    for path in (folder, *(folder / FILES).iterdir()):
        os.utime(path, (0, time.time() - 2 * IDLE_SECONDS))
    uploads.begin(ANN)
    with pytest.raises(NotFound):
        uploads.state(ANN, left)


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
    uploads.append(BO, other, "kites.ttl", 0, LARGE)
    with pytest.raises(ConfigError, match="Other data is being read"):
        uploads.start(BO, other, "others", replace_graph=False)
    state = finished(uploads, ANN, upload)
    assert state.phase == "done", state.lines
    assert str(tmp_path) not in "\n".join(state.lines)
    assert any("2 triples" in line for line in state.lines)
    assert state.files == ()
    with pytest.raises(ConfigError, match="Confirm"):
        uploads.start(BO, other, "kites", replace_graph=False)
    more = uploads.begin(ANN).upload
    uploads.append(ANN, more, "more.ttl", 0, TURTLE.replace(b"urn:a", b"urn:b").replace(b"Red", b"Blue"))
    uploads.start(ANN, more, "kites", replace_graph=False, add=True)
    state = finished(uploads, ANN, more)
    assert any("4 triples" in line for line in state.lines), state.lines
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


def test_a_layer_names_no_files_but_those_of_its_upload(uploads: Uploads, tmp_path: Path) -> None:
    secret = uploads.begin(BO).upload
    uploads.append(BO, secret, "secret.yaml", 0, b"quicksilver: 1")
    told = set()
    for place in (f"../../{secret}/files/secret.yaml", f"../../{secret}/files/nothing.yaml", "/etc/hostname"):
        upload = uploads.begin(ANN).upload
        uploads.append(ANN, upload, "kites.ttl", 0, TURTLE)
        uploads.append(ANN, upload, "kites.yaml", 0, f"extends: [{place}]".encode())
        uploads.start(ANN, upload, "kites", replace_graph=False)
        state = finished(uploads, ANN, upload)
        assert state.phase == "failed"
        told.add(state.lines[-1].replace(place, "PLACE"))
    assert told == {"kites.yaml:1:1: 'extends' names files beside this one by their names, and 'PLACE' is none."}


def test_an_ingest_ends_with_a_server_that_is_killed_and_has_failed(uploads: Uploads, tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", SERVER, tmp_path, TURTLE], stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        upload, process = server.stdout.readline().decode().split()
        # another process of the server does not let in a second one meanwhile
        assert uploads.state(ANN, upload).phase == "running"
        other = uploads.begin(BO).upload
        uploads.append(BO, other, "kites.ttl", 0, TURTLE)
        with pytest.raises(ConfigError, match="Other data is being read"):
            uploads.start(BO, other, "kites", replace_graph=True)
        server.kill()
    state = finished(uploads, ANN, upload)
    assert not is_running(int(process))
    assert (state.phase, state.reason, state.files) == ("failed", INTERRUPTED, ())
    assert not (tmp_path / "kites" / CURRENT).exists()
    uploads.cancel(ANN, upload)
    assert [path.name for path in (tmp_path / FOLDER).iterdir()] == [other]
    uploads.start(BO, other, "kites", replace_graph=False)
    assert finished(uploads, BO, other).phase == "done"


def test_what_was_published_before_the_server_was_killed_is_done(uploads: Uploads, tmp_path: Path) -> None:
    upload = uploads.begin(ANN).upload
    folder = tmp_path / FOLDER / upload
    (folder / BEFORE).write_bytes(b"")
    (folder / STATE).write_text((folder / STATE).read_text().replace("receiving", "running").replace('""', '"kites"'))
    (tmp_path / "kites").mkdir()
    (tmp_path / "kites" / CURRENT).write_bytes(b"{}")
    assert uploads.state(ANN, upload).phase == "done"


def test_a_process_knows_its_time_limit(tmp_path: Path) -> None:
    (tmp_path / "endless.py").write_text("import time\nwhile True: time.sleep(9)")
    environment = os.environ | {"PYTHONPATH": f"{Path.cwd()}:{tmp_path}"}
    ended = subprocess.run(child_command(1, "endless"), env=environment, check=False)
    assert ended.returncode == -signal.SIGALRM


def test_a_start_on_a_full_disk_leaves_no_upload_stuck(
    uploads: Uploads, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload = uploads.begin(ANN).upload
    uploads.append(ANN, upload, "kites.ttl", 0, TURTLE)
    full = tmp_path / FOLDER / upload / f"{STATE}.new"
    full.symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left"):
        uploads.start(ANN, upload, "kites", replace_graph=False)
    assert uploads.state(ANN, upload).phase == "receiving"
    full.unlink()
    # nor one whose process can't be started
    with monkeypatch.context() as patched:
        patched.setattr(sys, "executable", str(tmp_path / "none"))
        with pytest.raises(OSError, match="No such file"):
            uploads.start(ANN, upload, "kites", replace_graph=False)
    assert uploads.state(ANN, upload).phase == "receiving"
    uploads.start(ANN, upload, "kites", replace_graph=False)
    assert finished(uploads, ANN, upload).phase == "done"


def test_an_end_that_a_full_disk_does_not_store_is_found_again(uploads: Uploads, tmp_path: Path) -> None:
    upload = uploads.begin(ANN).upload
    uploads.append(ANN, upload, "kites.ttl", 0, LARGE)
    uploads.start(ANN, upload, "kites", replace_graph=False)
    full = tmp_path / FOLDER / upload / f"{STATE}.new"
    full.symlink_to("/dev/full")
    uploads.cancel(ANN, upload)
    assert finished(uploads, ANN, upload).phase == "cancelled"
    assert "running" in (tmp_path / FOLDER / upload / STATE).read_text()
    uploads.cancel(ANN, upload)
    assert list((tmp_path / FOLDER).iterdir()) == []


def test_an_ingest_that_fails_after_its_graph_was_replaced_is_done(uploads: Uploads, tmp_path: Path) -> None:
    state = uploads.begin(ANN)
    (tmp_path / FOLDER / state.upload / BEFORE).write_bytes(b"earlier")
    (tmp_path / "kites").mkdir()
    current = tmp_path / "kites" / CURRENT
    running = replace(state, phase="running", graph="kites")
    for version, phase in ((b"earlier", "failed"), (b"later", "done")):
        current.write_bytes(version)
        assert uploads._finish(running, 2).phase == phase


async def test_parts_that_one_key_sends_slowly_are_few_in_memory_and_keep_no_other_key_waiting(tmp_path: Path) -> None:
    app, uploads = FastAPI(), Uploads(tmp_path, 100)
    composition = SimpleNamespace(library=None, settings=SimpleNamespace(max_turns=128))
    app.state.turn_service = TurnService(cast(Any, composition), cast(Any, None), None)
    app.state.uploads = uploads
    app.add_exception_handler(NacreError, nacre_error_response)
    app.include_router(router)

    async def caller(request: Request) -> Caller:
        return {"ann": ANN, "bo": BO}[request.headers["owner"]]

    app.dependency_overrides[authenticate] = caller
    received, over = list[int](), asyncio.Event()

    async def slow(number: int) -> AsyncIterator[bytes]:
        received.append(number)
        yield b"x"
        await over.wait()

    def send(client: httpx.AsyncClient, by: Caller, name: str, content: Any) -> Awaitable[httpx.Response]:
        route = f"/api/uploads/{uploads.begin(by).upload}/files?name={name}"
        return client.put(route, content=content, headers={"owner": by.owner})

    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test", timeout=60) as client:
        parts: list[asyncio.Task[httpx.Response]] = []
        upload = uploads.begin(ANN).upload
        for number in range(20):
            route = f"/api/uploads/{upload}/files?name=kites{number}.nt"
            parts.append(asyncio.ensure_future(client.put(route, content=slow(number), headers={"owner": "ann"})))
        async with asyncio.timeout(60):
            assert (await send(client, BO, "kites.nt", b"x")).json() == {"bytes": 1}
        assert len(received) <= PART_SLOTS - 2
        over.set()
        assert {reply.status_code for reply in await asyncio.gather(*parts)} == {200}
        too_large = await send(client, BO, "large.nt", b"x" * (CHUNK + 1))
        assert (too_large.status_code, len(received)) == (422, 20)


def test_a_full_disk_is_a_503_that_says_so(tmp_path: Path) -> None:
    app = create_app(Settings(data=tmp_path, embedder="none", _env_file=None))
    with TestClient(app, base_url="http://127.0.0.1:8200", client=("127.0.0.1", 5000)) as client:
        (tmp_path / FOLDER).write_bytes(b"")
        assert client.post("/api/uploads").status_code == 503
        (tmp_path / FOLDER).unlink()
        upload = client.post("/api/uploads").json()["upload"]
        folder, route = tmp_path / FOLDER / upload, f"/api/uploads/{upload}"
        (folder / FILES / "a.ttl").symlink_to("/dev/full")
        assert client.put(f"{route}/files?name=a.ttl", content=b"x").status_code == 503
        (folder / FILES / "a.ttl").unlink()
        assert client.put(f"{route}/files?name=a.ttl", content=TURTLE).status_code == 200
        (folder / f"{STATE}.new").symlink_to("/dev/full")
        reply = client.post(route, json={"graph": "kites"})
        assert reply.status_code == 503
        assert "No space left on device" in reply.json()["detail"]
        assert str(tmp_path) not in reply.text
        assert client.delete(route).status_code == 204
        assert client.get(route).status_code == 404
        # a graph whose removal was interrupted, and one that can't be removed
        (tmp_path / "kites/versions/1").mkdir(parents=True)
        (tmp_path / "kites" / WRITER).touch()
        assert client.delete("/api/graphs/kites?confirm=kites").status_code == 204
        assert not (tmp_path / "kites").exists()
        assert client.delete("/api/graphs/kites?confirm=kites").status_code == 404
        (tmp_path / "kites" / WRITER).mkdir(parents=True)
        (tmp_path / "kites" / CURRENT).write_bytes(b"{}")
        assert client.delete("/api/graphs/kites?confirm=kites").status_code == 503


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
    assert (state.phase, state.reason) == ("failed", REASONS[-signal.SIGKILL])


def test_lines_name_no_folder_and_keep_their_words(uploads: Uploads, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    for data in (tmp_path, Path("data")):
        data.mkdir(exist_ok=True)
        kept = Uploads(data, 1)
        upload = kept.begin(ANN).upload
        files = data / FOLDER / upload / FILES
        (data / FOLDER / upload / OUTPUT).write_text(
            f"{files}/a.ttl: the metadata/data of a database: no data.\n"
            f"{files.resolve()} and {data.resolve()}/maps are there.\n"
            "The driver of this database is not installed (psycopg). Run: /srv/bin/python3 -m pip install 'nacre[x]'\n"
        )
        assert kept.state(ANN, upload).lines == (
            "a.ttl: the metadata/data of a database: no data.",
            " and maps are there.",
            "The driver of this database is not installed (psycopg).",
        )


def test_an_ingest_gets_no_secret_that_it_does_not_need(
    uploads: Uploads, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NACRE_LOGIN_SECRET", "OPENAI_API_KEY", "HF_TOKEN", "MY_PASSWORD", "NACRE_PORT"):
        monkeypatch.setenv(name, "8123")
    monkeypatch.setattr(
        "nacre.extensions.uploads.routes.child_command",
        lambda *_: [sys.executable, "-c", "import os; print(*sorted(n for n, v in os.environ.items() if v == '8123'))"],
    )
    upload = uploads.begin(ANN).upload
    uploads.append(ANN, upload, "kites.ttl", 0, TURTLE)
    uploads.start(ANN, upload, "kites", replace_graph=True)
    assert finished(uploads, ANN, upload).lines == ("NACRE_PORT",)


def test_relative_iris_in_an_upload_have_the_name_of_its_file(tmp_path: Path) -> None:
    uploads, card = Uploads(tmp_path, 1), "<#me> <http://e.org/knows> <foo> ."
    for content in (card, card + card.replace("foo", "bar")):
        upload = uploads.begin(ANN).upload
        uploads.append(ANN, upload, "my card.ttl", 0, content.encode())
        uploads.start(ANN, upload, "cards", replace_graph=True)
        state = finished(uploads, ANN, upload)
        assert state.phase == "done", state.lines
        assert "<nacre-file:///cards/my_card.ttl#me> <nacre-file:///cards/foo>" in triples(tmp_path, "cards")
        # as a graph that an earlier release made of an upload
        written = json.loads(manifest(tmp_path, "cards").read_text())
        manifest(tmp_path, "cards").write_text(json.dumps(written | {"base": ""}))
