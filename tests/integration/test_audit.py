"""The audit: who did what, in files of limited size or in a table; what is stored of a person, shown and deleted."""

import json
import logging
import os
import queue
import stat
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from ingestion.pipeline import ingest
from nacre.config.settings import Settings
from nacre.extensions.audit.entries import (
    CURRENT,
    DAY,
    FILES,
    FOLDER,
    MAX_OF_VISITOR,
    MAX_UNKNOWN,
    MEGABYTE,
    AuditFiles,
    AuditTable,
    EntryFilter,
    _Waiting,
)
from nacre.extensions.login.rights import FILE, Accounts, Person, read_rights
from nacre.serving.app import create_app
from nacre.serving.cli.main import app as commands
from nacre.serving.keys import NOBODY, Caller, KeyStore
from nacre.stores.state.database import open_file
from tests.support.ask_graph import KILNS, KILNS_QUESTION


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "kilns.ttl").write_text(KILNS)
    for name in ("kilns", "other"):
        ingest([str(tmp_path / "kilns.ttl")], name, data=tmp_path / "data", no_vectors=True)
    return tmp_path / "data"


@pytest.fixture
def run(data: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.setenv("NACRE_DATA", str(data))
    monkeypatch.chdir(tmp_path)

    def ran(*words: str) -> str:
        result = CliRunner().invoke(commands, list(words))
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result.output

    return ran


def started(data: Path, **more: Any) -> TestClient:
    settings = Settings(data=data, embedder="none", audit=True, sharing=True, _env_file=None, **more)
    return TestClient(create_app(settings), base_url="http://127.0.0.1:8200", client=("127.0.0.1", 5000))


def test_the_sessions_of_a_person_end_and_their_data_stays(data: Path, run: Any) -> None:
    accounts = Accounts(open_file(data / FILE), read_rights("{staff: {graphs: all}}"))
    person = Person("https://id.example", "7", "Ann Reed", ("staff",))
    cookies = [{"Cookie": f"nacre-session={accounts.begin_session(person, 60)}"} for _ in range(2)]
    accounts.close()
    login = {"login_issuer": "https://id.example", "login_client": "c"}
    with started(data, login_groups="{staff: {graphs: all}}", **login) as client:
        asked(client, cookies[0])
        assert "2 sessions" in run("person", "log-out", "Ann Reed")
        assert [client.get("/api/graphs", headers=each).status_code for each in cookies] == [401, 401]
    assert '"what": "turn"' in run("person", "show", "Ann Reed")
    assert "Nobody called 'Eve'" in str(CliRunner().invoke(commands, ["person", "log-out", "Eve"]).exception)


def asked(client: TestClient, headers: dict[str, str], thread: str = "one") -> dict[str, Any]:
    body = {"question": KILNS_QUESTION, "graph": "kilns", "thread": thread}
    record: dict[str, Any] = client.post(
        "/api/ask", json=body, headers={**headers, "Accept": "application/json"}
    ).json()
    assert record["values"] == [12]
    return record


def do_all(client: TestClient, headers: dict[str, str]) -> dict[str, Any]:
    """Everything that is noted."""
    record = asked(client, headers)
    body: dict[str, Any] = {"language": "sql", "text": "SELECT height FROM kiln"}
    assert client.post("/api/graphs/kilns/query", json=body, headers=headers).status_code == 200
    text = {"question": KILNS_QUESTION, "dataset": "kilns"}
    assert client.get("/api/text2sparql", params=text, headers=headers).status_code == 200
    for path in ("threads/one/turns/1/answer.csv", "threads/one/turns/1/rows.csv", "threads/one/export"):
        assert client.get(f"/api/{path}", headers=headers).status_code == 200
    kiln = {"iri": "http://example.org/k/Kiln"}
    assert client.get("/api/graphs/kilns/class/file", params=kiln, headers=headers).status_code == 200
    body = {"thread": "one", "turn": 1}
    entry = client.post("/api/graphs/kilns/verified", json=body, headers=headers).json()
    for path in (f"{entry['id']}/run", "check"):
        assert client.post(f"/api/graphs/kilns/verified/{path}", headers=headers).status_code == 200
    assert client.delete(f"/api/graphs/kilns/verified/{entry['id']}", headers=headers).status_code == 204
    link = client.post("/api/threads/one/turns/1/share", json={}, headers=headers).json()["link"]
    assert client.delete(f"/api/shares/{link['id']}", headers=headers).status_code == 204
    upload = client.post("/api/uploads", headers=headers).json()["upload"]
    place = {"name": "k.ttl", "offset": "0"}
    sent = client.put(f"/api/uploads/{upload}/files", params=place, content=KILNS.encode(), headers=headers)
    assert sent.status_code == 200, sent.text
    body = {"graph": "new", "replace": False}
    assert client.post(f"/api/uploads/{upload}", json=body, headers=headers).status_code == 202
    client.delete(f"/api/uploads/{upload}", headers=headers)
    assert client.delete("/api/threads/one", headers=headers).status_code == 204
    assert client.delete("/api/graphs/other?confirm=other", headers=headers).status_code == 204
    return record


def test_who_did_what_is_noted_and_shown_without_what_was_said(data: Path, run: Any) -> None:
    key = {"Authorization": f"Bearer {KeyStore(data).add('ann', None, may=['write', 'approve', 'share'])}"}
    with started(data) as client:
        record = do_all(client, key)
        assert client.get("/api/graphs").status_code == 401
    entries = [json.loads(line) for line in run("audit", "--json").splitlines()]
    assert [each["did"] for each in entries] == [
        *("asked", "queried", "translated", "exported an answer", "exported an answer", "exported a thread"),
        *("exported a class", "approved", "ran a verified question", "checked verified questions"),
        *("deleted a verified question", "shared", "withdrew a shared answer"),
        *("uploaded", "deleted a thread", "deleted a graph", "was refused"),
    ]
    assert {each["who"] for each in entries[:-1]} == {"ann"}
    first = entries[0]
    assert (first["graph"], first["version"], first["run"]) == ("kilns", record["version"], record["id"])
    assert (first["status"], len(first["query"])) == ("answered", 16)
    assert abs(first["time"] - time.time()) < 600
    assert entries[1]["query"] != first["query"]
    stored = "".join(each.read_text() for each in (data / FOLDER).glob("*.jsonl"))
    assert not [each for each in ("Old Kiln", "SELECT", "height") if each in stored]
    assert stat.S_IMODE((data / FOLDER / CURRENT).stat().st_mode) == 0o600
    assert len(run("audit", "--graph", "other").splitlines()) == 1
    assert len(run("audit", "--since", "1h", "--who", "ann").splitlines()) == len(entries) - 1
    assert "ann  asked  kilns" in run("audit").splitlines()[0]
    for words in (("--since", "2999-01-01"), ("--who", "bo"), ("--graph", "nowhere")):
        assert "There is no such entry" in run("audit", *words) or "Nothing is noted" in run("audit", *words)
    assert "--since can't be" in str(CliRunner().invoke(commands, ["audit", "--since", "soon"]).exception)


def test_nothing_is_noted_by_default(data: Path, run: Any) -> None:
    settings = Settings(data=data, embedder="none", _env_file=None)
    with TestClient(create_app(settings), base_url="http://127.0.0.1:8200", client=("127.0.0.1", 5000)) as client:
        asked(client, {})
    assert not (data / FOLDER).exists()
    assert "Set NACRE_AUDIT=true" in run("audit")


def test_what_a_client_names_makes_no_line_of_its_own(data: Path, run: Any) -> None:
    with started(data) as client:
        asked(client, {}, thread="x" * 200)
        asked(client, {}, thread="\u2028{'who': 'bo'}\x7f\u202e")
    lines = (data / FOLDER / CURRENT).read_text().split("\n")
    assert [json.loads(line)["who"] for line in lines if line] == ["local", "local"]
    assert not {"\x7f", "\u202e"} & set(run("audit"))


def entry(number: int, who: str = "ann", at: float | None = None) -> dict[str, Any]:
    return {"time": at or time.time(), "who": who, "did": "asked", "number": number, "more": "x" * 200}


def test_files_are_of_limited_size_and_the_oldest_entries_go(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    files = AuditFiles(tmp_path, 1, 0)
    for start in range(0, 8000, 400):
        files.write(entry(number) for number in range(start, start + 400))
    sizes = [each.stat().st_size for each in (tmp_path / FOLDER).glob("*.jsonl")]
    assert sum(sizes) <= MEGABYTE + MEGABYTE // FILES
    kept = [each["number"] for each in files.read(EntryFilter())]
    assert kept == list(range(kept[0], 8000))
    assert 1000 < len(kept) < 8000
    # somebody may want to push them out
    assert "the audit is full" in caplog.text


def test_old_entries_go_after_their_days(tmp_path: Path) -> None:
    files = AuditFiles(tmp_path, 1, 3)
    files.write([entry(1, at=time.time() - 2 * DAY)])
    (closed,) = (tmp_path / FOLDER).glob("*.jsonl")
    assert closed.name != CURRENT
    files.write([entry(2)])
    assert [each["number"] for each in files.read(EntryFilter())] == [1, 2]
    os.utime(closed, (0, time.time() - 3.1 * DAY))
    files.write([])
    assert [each["number"] for each in files.read(EntryFilter())] == [2]


def test_a_running_server_deletes_old_entries_by_itself(data: Path) -> None:
    (data / FOLDER).mkdir(mode=0o700)
    old, new = (data / FOLDER / f"{number:020}.jsonl" for number in (1, 2))
    for file, days in ((old, 4), (new, 2)):
        file.write_text("".join(json.dumps(entry(number)) + "\n" for number in (1, 2)))
        os.utime(file, (time.time() - days * DAY,) * 2)
    # a deletion makes no entry younger
    old.write_text(old.read_text() + json.dumps(entry(3, who="bo")) + "\n")
    os.utime(old, (time.time() - 4 * DAY,) * 2)
    assert AuditFiles(data, 1, 3).delete("bo") == 1
    with started(data, audit_days=3) as client:
        for _ in range(500):
            if not old.exists():
                break
            time.sleep(0.02)
        assert client.get("/healthz").status_code == 200
    assert [each.name for each in (data / FOLDER).glob("0*.jsonl")] == [new.name]


def test_a_line_that_was_cut_is_left_out(tmp_path: Path) -> None:
    files = AuditFiles(tmp_path, 1, 0)
    files.write([entry(1)])
    with (tmp_path / FOLDER / CURRENT).open("a") as out:
        out.write('{"time": 1, "who"\n[]\n7\n\n')
    files.write([entry(2)])
    assert [each["number"] for each in files.read(EntryFilter())] == [1, 2]


def test_a_table_has_the_same_entries_and_limits(tmp_path: Path) -> None:
    database = open_file(tmp_path / "state.sqlite")
    table = AuditTable(database, 1, 3)
    table.write([entry(1, at=time.time() - 4 * DAY), entry(2, "bo"), entry(3)])
    assert [each["number"] for each in table.read(EntryFilter())] == [2, 3]
    table.write(entry(number) for number in range(4, 3000))
    table.write([])
    kept = [each["number"] for each in table.read(EntryFilter())]
    assert (kept[-1], len(kept)) == (2999, 2000)
    assert table.delete("ann") == 2000
    table.close()


def test_what_is_stored_of_a_person_is_shown_and_deleted(data: Path, run: Any) -> None:
    person = Person("https://id.example", "7", "Ann Reed", ("staff",))
    rights = read_rights("{staff: {graphs: all, may: [share, write]}}")
    accounts = Accounts(open_file(data / FILE), rights)
    token = accounts.begin_session(person, 60)
    accounts.note(Person("https://id.example", "8", "Bo", ("staff",)))
    accounts.note(Person("https://id.example", "9", "Bo", ("staff",)))
    accounts.close()
    bo = {"Authorization": f"Bearer {KeyStore(data).add('bo', None)}"}
    login = {"login_issuer": "https://id.example", "login_client": "c"}
    cookie = {"Cookie": f"nacre-session={token}"}
    with started(data, login_groups="{staff: {graphs: all, may: [share, write]}}", **login) as client:
        asked(client, cookie)
        asked(client, bo)
        body = {"thread": "one", "turn": 1}
        assert client.post("/api/graphs/kilns/verified", json=body, headers=cookie).status_code == 201
        path = client.post("/api/threads/one/turns/1/share", json={}, headers=cookie).json()["path"]
        assert client.get(path).status_code == 200
        rated = client.put("/api/threads/one/turns/1/feedback", json={"thumb": -1, "comment": "odd"}, headers=cookie)
        assert rated.status_code == 204
        assert client.post("/api/uploads", headers=cookie).status_code == 201
        shown = [json.loads(line) for line in run("person", "show", "Ann Reed").splitlines()]
        assert [each["what"] for each in shown] == [
            *("account", "conversation", "turn", "shared answer", "verified question", "upload"),
            *["audit"] * (len(shown) - 6),
        ]
        assert shown[2]["comment"] == "odd"
        assert shown[2]["record"]["values"] == [12]
        assert "https://id.example" in shown[0]["issuer"]
        assert "Several persons" in str(CliRunner().invoke(commands, ["person", "show", "Bo"]).exception)
        assert "repeat the command with --yes" in run("person", "delete", "Ann Reed")
        assert client.get("/api/graphs", headers=cookie).status_code == 200
        assert "turn: 1" in run("person", "delete", "Ann Reed", "--yes")
        # of a running server too
        assert client.get("/api/graphs", headers=cookie).status_code == 401
        assert client.get(path).status_code == 404
        # nor do journals have what was deleted
        assert [each.name for each in data.glob("*-wal") if b"Ann Reed" in each.read_bytes()] == []
        assert [each["thread"] for each in client.get("/api/threads", headers=bo).json()] == ["one"]
    assert list((data / "_uploads").iterdir()) == []
    left = [json.loads(line)["what"] for line in run("person", "show", person.owner).splitlines()]
    assert set(left) == {"audit"}
    # nothing that is stored has the name
    assert [each for each in data.rglob("*") if each.is_file() and b"Ann Reed" in each.read_bytes()] == []
    run("person", "delete", person.owner, "--yes", "--audit")
    assert run("person", "show", person.owner) == ""
    assert [json.loads(line)["who"] for line in run("audit", "--json").splitlines()] == ["bo", "-"]
    found = CliRunner().invoke(commands, ["person", "delete", "bo", "--yes"])
    assert "nacre keys revoke bo" in found.output + found.stderr


@pytest.mark.parametrize("is_table", [False, True])
def test_a_person_is_deleted_from_the_entries_of_others_too(tmp_path: Path, is_table: bool) -> None:
    audit = AuditTable(open_file(tmp_path / "a.sqlite"), 1, 0) if is_table else AuditFiles(tmp_path, 1, 0)
    own, about = entry(1, "@7"), {**entry(2, "bo"), "by": "@7", "name": "Bo"}
    others = [{**entry(3, "bo"), "thread": "@7"}, {**entry(4, "bo"), "by": "@8"}]
    audit.write([{**own, "name": "Ann\u2028Reed"}, about, *others])
    assert audit.delete("@7", name_only=True) == 1
    assert list(audit.read(EntryFilter())) == [own, about, *others]
    assert audit.delete("@7") == 2
    assert list(audit.read(EntryFilter())) == [{name: value for name, value in about.items() if name != "by"}, *others]
    audit.close()


def test_a_person_who_is_called_as_a_key_is_not_taken_for_it(data: Path, run: Any) -> None:
    KeyStore(data).add("crawler", None)
    accounts = Accounts(open_file(data / FILE), read_rights("{staff: {graphs: all}}"))
    person = Person("https://id.example", "7", "crawler", ("staff",))
    accounts.note(person)
    accounts.close()
    for command in ("show", "delete", "log-out"):
        refused = str(CliRunner().invoke(commands, ["person", command, "crawler"]).exception)
        assert "A key and the person" in refused
        assert person.owner in refused
    assert '"what": "account"' in run("person", "show", person.owner)


def test_a_person_who_is_called_as_the_owner_or_subject_of_another_is_not_meant(data: Path, run: Any) -> None:
    accounts = Accounts(open_file(data / FILE), read_rights("{staff: {graphs: all}}"))
    ann = Person("https://id.example", "7", "Ann Reed", ("staff",))
    for number, name in enumerate((ann.owner, ann.subject, ann.name)):
        accounts.note(Person("https://id.example", f"eve{number}", name, ("staff",)))
    accounts.note(ann)
    accounts.close()
    for who in (ann.owner, ann.subject):
        assert json.loads(run("person", "show", who))["owner"] == ann.owner
    assert "Several persons" in str(CliRunner().invoke(commands, ["person", "delete", ann.name]).exception)


def test_nothing_is_made_to_delete_from(tmp_path: Path) -> None:
    assert AuditFiles(tmp_path, 1, 0).delete("ann") == 0
    assert list(tmp_path.iterdir()) == []


def test_entries_with_line_separators_of_unicode_are_deleted_too(tmp_path: Path) -> None:
    files = AuditFiles(tmp_path, 1, 0)
    files.write([{**entry(1, "bo"), "thread": "\u2028\x85\x0c"}, {**entry(2), "thread": "a\u2028b\x85c"}])
    assert files.delete("ann") == 1
    assert [each["number"] for each in files.read(EntryFilter())] == [1]


def test_refused_requests_are_noted_but_push_out_nothing(data: Path, run: Any) -> None:
    keys = KeyStore(data)
    keys.add("ann", None)
    bo = {"Authorization": f"Bearer {keys.add('bo', ['other'])}"}
    with started(data) as client:
        for number in range(50):
            wrong = {"Authorization": f"Bearer nacre_{number}"}
            assert client.get(f"/api/graphs?{number}", headers=wrong).status_code == 401
        assert client.post("/api/uploads", headers=bo).status_code == 403
        assert client.delete("/api/graphs/other?confirm=other", headers=bo).status_code == 403
    entries = [json.loads(line) for line in run("audit", "--json").splitlines()]
    unknown = [each for each in entries if each["who"] == "-"]
    # one a minute
    assert 1 <= len(unknown) <= 2
    assert (unknown[0]["did"], unknown[0]["path"], unknown[0]["address"]) == ("was refused", "/api/graphs", "127.0.0.1")
    known = [(each["who"], each["path"], each.get("address")) for each in entries if each["who"] != "-"]
    assert known == [("bo", "/api/uploads", None), ("bo", "/api/graphs/other", None)]


def test_of_many_addresses_without_a_key_few_are_noted() -> None:
    waiting: Any = queue.Queue()
    minutes = [1.0]
    handler = _Waiting(waiting, lambda: minutes[0] * 60)
    for number in range(100):
        about = {"caller": NOBODY, "about": {"address": f"2001:db8:{number:x}::1"}}
        handler.handle(logging.makeLogRecord({"msg": "was refused", **about}))
    assert waiting.qsize() == MAX_UNKNOWN
    minutes[0] += 1
    handler.handle(logging.makeLogRecord({"msg": "was refused", **about}))
    assert waiting.qsize() == MAX_UNKNOWN + 1


def test_of_the_deeds_of_visitors_few_are_noted_with_their_addresses(data: Path, run: Any) -> None:
    keys = KeyStore(data)
    keys.add("site", ["kilns"])
    ann = {"Authorization": f"Bearer {keys.add('ann', None)}"}
    with started(data, embed="site=https://a.example") as client:
        asked(client, ann)
        thread = client.post("/embed/site/api/threads", json={"graph": "kilns"}).json()["thread"]
        body = {"question": KILNS_QUESTION, "graph": "kilns", "thread": thread}
        assert client.post("/embed/site/api/ask", json=body).status_code == 200
        for _ in range(30):
            assert client.get(f"/embed/site/api/threads/{thread}/turns/1/answer.csv").status_code == 200
    entries = [json.loads(line) for line in run("audit", "--json").splitlines()]
    assert [(each["who"], each.get("visitor")) for each in entries[:2]] == [("ann", None), ("site", "127.0.0.1")]
    # a minute may end meanwhile
    assert MAX_OF_VISITOR < len(entries) <= 2 * MAX_OF_VISITOR + 1
    assert "visitor=127.0.0.1" in run("audit", "--who", "site")


def test_visitors_of_many_addresses_leave_room_for_others() -> None:
    waiting: Any = queue.Queue()
    handler = _Waiting(waiting, lambda: 60.0)
    for number in range(50):
        for network in (f"2001:db8:{number:x}::1", "2001:db8::2"):
            caller = Caller("site", (), visitor=network)
            handler.handle(logging.makeLogRecord({"msg": "asked", "caller": caller, "about": {}}))
    assert waiting.qsize() == MAX_UNKNOWN
    noted = Counter(waiting.get().__dict__["caller"].visitor for _ in range(MAX_UNKNOWN))
    assert noted["2001:db8::2"] < MAX_OF_VISITOR + 1
    for caller in (Caller("site", ()), NOBODY, Caller("other", (), visitor="192.0.2.7")):
        handler.handle(logging.makeLogRecord({"msg": "asked", "caller": caller, "about": {}}))
    assert waiting.qsize() == 3


def test_the_log_says_who_sent_a_request_and_from_where(data: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "nacre.access")
    key = {"Authorization": f"Bearer {KeyStore(data).add('ann', None)}"}
    with started(data) as client:
        client.get("/api/graphs", headers=key)
        client.get("/api/graphs")
    fields = [each.__dict__["fields"] for each in caplog.records if each.name == "nacre.access"]
    assert [(each["who"], each["client"]) for each in fields] == [("ann", "127.0.0.1"), ("-", "127.0.0.1")]
    assert "by ann at 127.0.0.1" in caplog.text
