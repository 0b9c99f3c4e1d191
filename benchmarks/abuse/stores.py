"""Hostile stores of graphs: a server follows a store into which somebody else writes. It goes on to answer from what it
has, and nothing is written outside of its data folder."""

import hashlib
import io
import json
import tarfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx

from benchmarks.abuse.case import GRAPH, AttackResult, HealthLog, polled_health
from benchmarks.server import ROOT, StartedServer, run_nacre, started_server

SECRET, CHANGED = "quicksilver-5521", b"changed"
# a server looks for new publications about as often; it has looked twice after so many seconds
FOLLOWED_SECONDS = 8.0
REPLY_SECONDS = 5.0
QUESTION = "How many car models are there?"
# of databases that others attach a graph to
DATABASE: dict[str, object] = {"dialect": "sqlite", "tables": []}
SERVER: dict[str, object] = {"dialect": "postgres", "tables": []}
# what is no publication of a graph at all
UNREAD = "a graph with a name that is a path"

# the root of the store, the number of the next publication -> what somebody else writes there
Attack = Callable[[Path, int], None]


def _publish(root: Path, number: int, content: bytes, graph: str = GRAPH) -> None:
    (root / "current" / f"{graph}.{number:012}.json").write_bytes(content)


def _publication(root: Path, number: int, archive: bytes, key: str = f"parts/{GRAPH}/versions-v-1.tar") -> None:
    """A publication with one part, whose size and checksum are right."""
    place = root / f"parts/{GRAPH}/versions-v-1.tar"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(archive)
    sha256 = hashlib.sha256(archive).hexdigest()
    part = {"place": "versions/v", "key": key, "size": len(archive), "sha256": sha256}
    _publish(root, number, json.dumps({"pointer": {"version": "v"}, "parts": [part]}).encode())


def _archive(name: str, kind: bytes = tarfile.REGTYPE, target: str = "", content: bytes = CHANGED) -> bytes:
    data = io.BytesIO()
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname, entry.size = kind, target, len(content) if kind == tarfile.REGTYPE else 0
    with tarfile.open(fileobj=data, mode="w") as archive:
        archive.addfile(entry, io.BytesIO(content) if entry.size else None)
    return data.getvalue()


def _attached(name: str, **record: object) -> Attack:
    """A version with a record of what it is attached to; SECRET in a value is the path of a file outside."""

    def attack(root: Path, number: int) -> None:
        text = json.dumps(record).replace(SECRET, str(_secret(root)))
        _publication(root, number, _archive(name, content=text.encode()))

    return attack


def _secret(root: Path) -> Path:
    return root.parent / "secret"


def _many(root: Path, number: int) -> None:
    for each in range(number, number + 5000):
        _publish(root, each, b"")


ATTACKS: tuple[tuple[str, Attack], ...] = (
    ("an archive with a path to its parent", lambda root, n: _publication(root, n, _archive("../../../../secret"))),
    (
        "an archive with a link",
        lambda root, n: _publication(root, n, _archive("inner", tarfile.SYMTYPE, str(_secret(root)))),
    ),
    (
        "an archive with a hard link",
        lambda root, n: _publication(root, n, _archive("inner", tarfile.LNKTYPE, str(_secret(root)))),
    ),
    ("an archive with a device", lambda root, n: _publication(root, n, _archive("inner", tarfile.CHRTYPE))),
    ("an archive that is none", lambda root, n: _publication(root, n, b"PK\x03\x04" + b"\0" * 1000)),
    (
        "an archive with a link in itself",
        lambda root, n: _publication(root, n, _archive("inner", tarfile.SYMTYPE, "x")),
    ),
    ("a database that is a file of the server", _attached("database.json", **DATABASE, url=f"sqlite:///{SECRET}")),
    ("a kept file by its path", _attached("database.json", **DATABASE, url="sqlite:///x", kept=SECRET)),
    ("a kept file above its folder", _attached("database.json", **DATABASE, url="sqlite:///x", kept="kept/../../../x")),
    ("a database on a host that is not named", _attached("database.json", **SERVER, url="postgresql://127.0.0.1/x")),
    ("a database on a socket", _attached("database.json", **SERVER, url="postgresql:///x?host=/run/postgresql")),
    ("an endpoint on a host that is not named", _attached("endpoint.json", url="http://169.254.169.254/latest")),
    ("tables of another graph", _attached("tables.json", url="postgresql+psycopg://127.0.0.1/x", schema="public")),
    ("vectors of another graph", _attached("manifest.json", version="v", collection="nacre_other_v")),
    (
        "a record of a database nested 100,000 deep",
        lambda root, n: _publication(root, n, _archive("database.json", content=b"[" * 100_000)),
    ),
    ("a key outside of the graph", lambda root, n: _publication(root, n, b"x", key="../secret")),
    ("a key of another graph", lambda root, n: _publication(root, n, b"x", key="parts/other/versions-v-1.tar")),
    (
        "a pointer outside of the graph",
        lambda root, n: _publish(root, n, b'{"pointer": {"version": "../../v"}, "parts": []}'),
    ),
    ("a publication of 60 MB", lambda root, n: _publish(root, n, b'{"pointer": "' + b"x" * 60_000_000)),
    ("a publication nested 100,000 deep", lambda root, n: _publish(root, n, b"[" * 100_000)),
    ("a publication that is no JSON", lambda root, n: _publish(root, n, b"\x00\xff{")),
    (UNREAD, lambda root, n: _publish(root, n, b'{"pointer": null}', graph="..")),
    ("5,000 publications", _many),
)


def attack_with_stores(folder: Path, only: str) -> Iterator[AttackResult]:
    """One server publishes a graph; another follows the store while it is attacked."""
    root = folder / "store"
    _secret(root).write_text(SECRET)
    address = f"file://{root}"
    publisher, follower = folder / "publisher", folder / "follower"
    publisher.mkdir()
    follower.mkdir()
    source = str(ROOT / "examples/bmw/kg.ttl")
    run_nacre(publisher, "ingest", source, "--graph", GRAPH, "--no-vectors", NACRE_GRAPHS=address)
    known = {path for path in root.rglob("*") if path.is_file()}
    with started_server(follower, NACRE_GRAPHS=address) as server, polled_health(server.address) as health:
        right = _answer(server.address)
        if not right:
            raise SystemExit("The follower does not answer from the store.")
        for what, attack in ATTACKS:
            if only.casefold() in f"a store: {what}".casefold():
                yield _attacked(what, attack, root, server, right, health)
                for path in {path for path in root.rglob("*") if path.is_file()} - known:
                    path.unlink()


def _attacked(
    what: str, attack: Attack, root: Path, server: StartedServer, right: str, health: HealthLog
) -> AttackResult:
    failed, logged = health.failed, len(server.log.read_text())
    number = 2 + max(int(path.name.split(".")[-2]) for path in (root / "current").iterdir())
    attack(root, number)
    time.sleep(FOLLOWED_SECONDS)
    begun = time.perf_counter()
    answer = _answer(server.address)
    seconds = time.perf_counter() - begun
    problem = "" if answer == right else f"answered {answer[:80]!r}"
    if what != UNREAD and f"graph {GRAPH}: " not in server.log.read_text()[logged:]:
        problem = "the server did not look at it"
    if health.failed > failed:
        problem = "/healthz failed"
    if _secret(root).read_text() != SECRET:
        problem = "a file outside was changed"
    if any(path.name in ("secret", "inner") for path in (root.parent / "follower").rglob("*")):
        problem = "a file of the archive is left"
    return AttackResult(f"a store: {what}", seconds, REPLY_SECONDS, problem=problem)


def _answer(address: str) -> str:
    body = {"question": QUESTION, "graph": GRAPH}
    reply = httpx.post(f"{address}/api/ask", json=body, headers={"Accept": "application/json"}, timeout=60)
    told = reply.json() if reply.status_code == 200 else {}
    return str(told["answer"]) if told.get("status") == "answered" else ""
