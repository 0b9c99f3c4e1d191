"""Shared answers: who may share, what a link must not outlive, and a page that is text alone."""

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from ingestion.pipeline import ingest
from nacre.config.settings import Settings
from nacre.errors import ConfigError
from nacre.extensions.sharing.routes import shared_page
from nacre.extensions.sharing.shared_answers import (
    DAY,
    MAX_CELL,
    MAX_OF_OWNER,
    MAX_ROW_CHARACTERS,
    MAX_ROWS,
    DamagedShareError,
    Kind,
    OpenedShare,
    SharedAnswerStore,
    ShareLink,
    chart_figure,
    freeze_answer,
)
from nacre.records.answer import empty_derivation
from nacre.serving.app import create_app
from nacre.serving.cli.main import app as commands
from nacre.serving.keys import KeyStore
from nacre.stores.state.conversations import Conversations
from nacre.stores.state.database import open_file
from tests.support.ask_graph import KILNS, KILNS_QUESTION

LICENCE = """
<http://k.org/> a <http://www.w3.org/ns/dcat#Dataset> ; <http://purl.org/dc/terms/title> "Kilns of the coast" ;
  <http://purl.org/dc/terms/license> <https://example.org/free> ; <http://purl.org/dc/terms/publisher> "Kiln Trust" .
"""
BAD = '</p><script>alert(1)</script><img src=x onerror="alert(1)">\' & \u202eevil\x1b[2J'


def answer(**changed: Any) -> Any:
    record = {
        "question": KILNS_QUESTION,
        "standalone": KILNS_QUESTION,
        "standalone_own": KILNS_QUESTION,
        "answer": "12 [1].",
        "language": "en",
        "graph": "kilns",
        "version": "v",
        "status": "answered",
        "confidence": 0.9,
        "reason": None,
        "caveats": [],
        "values": [12],
        "table": None,
        "citations": [],
        "queries": [],
        "derivation": empty_derivation(),
    }
    return {**record, **changed}


def citation(n: int, text: str, rows: list[list[Any]]) -> Any:
    return {"n": n, "source": text, "text": text, "basis": text, "columns": [text], "rows": rows}


def query(text: str) -> Any:
    return {"tool": "sql", "words": text, "text": text, "params": [text, None], "rows": 1, "error": None}


@pytest.fixture(scope="module")
def kilns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sharing")
    (folder / "kilns.ttl").write_text(KILNS + LICENCE)
    ingest([str(folder / "kilns.ttl")], "kilns", data=folder / "data", no_vectors=True)
    return folder / "data"


@pytest.fixture
def keys(kilns: Path) -> Iterator[KeyStore]:
    yield KeyStore(kilns)
    (kilns / "keys.json").unlink(missing_ok=True)


def started(data: Path, *, sharing: bool = True) -> TestClient:
    settings = Settings(data=data, embedder="none", sharing=sharing, _env_file=None)
    return TestClient(create_app(settings), base_url="http://127.0.0.1:8200", client=("127.0.0.1", 5000))


def sent_by(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def asked(client: TestClient, headers: dict[str, str], thread: str) -> None:
    body = {"question": KILNS_QUESTION, "graph": "kilns", "thread": thread}
    reply = client.post("/api/ask", json=body, headers={**headers, "Accept": "application/json"})
    assert reply.status_code == 200
    assert reply.json()["values"] == [12]


def shared(client: TestClient, headers: dict[str, str], thread: str, **terms: int) -> dict[str, Any]:
    reply = client.post(f"/api/threads/{thread}/turns/1/share", json=terms, headers=headers)
    assert reply.status_code == 201, reply.text
    made: dict[str, Any] = reply.json()
    return made


def test_a_link_is_read_without_a_key_and_ends_with_its_thread_its_owner_and_its_right(
    kilns: Path, keys: KeyStore, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "nacre.access")
    ann = sent_by(keys.add("ann", None, may=["share"]))
    bo = sent_by(keys.add("bo", None, may=["share"]))
    cy = sent_by(keys.add("cy", None))
    with started(kilns) as client:
        asked(client, ann, "one")
        assert client.get("/api/choices", headers=ann).json()["may_share"] is True
        assert client.get("/api/choices", headers=cy).json()["may_share"] is False
        for headers, status in ((cy, 403), (bo, 404), ({}, 401)):
            assert client.post("/api/threads/one/turns/1/share", json={}, headers=headers).status_code == status
        for days in (0, -1, 366, 10**30, "x"):
            body = {"days": days}
            assert client.post("/api/threads/one/turns/1/share", json=body, headers=ann).status_code == 422
        assert client.post("/api/threads/one/turns/2/share", json={}, headers=ann).status_code == 404
        first, second = shared(client, ann, "one"), shared(client, ann, "one", days=1)
        assert first["path"] != second["path"]
        assert first["link"]["expires"] - first["link"]["created"] == pytest.approx(30 * DAY)
        page = client.get(first["path"])
        assert page.status_code == 200
        assert KILNS_QUESTION in page.text
        assert 'href="#source-1"' in page.text
        # who made the graph, its licence, and when it was read
        footer = page.text.partition("<footer>")[2]
        for stated in ("Kiln Trust", "https://example.org/free", "read in on"):
            assert stated in footer
        _check_headers(page)
        # the token is stored nowhere, nor is it in a log
        token = first["path"].removeprefix("/share/")
        assert not [each for each in kilns.glob("threads.sqlite*") if token.encode() in each.read_bytes()]
        assert token not in caplog.text
        assert "/share/..." in caplog.text
        # a list of one's own, and nobody else's link can be withdrawn
        assert {each["id"] for each in client.get("/api/shares", headers=ann).json()} == {
            each["link"]["id"] for each in (first, second)
        }
        assert client.get("/api/shares", headers=bo).json() == []
        own = f"/api/shares/{first['link']['id']}"
        assert client.delete(own, headers=bo).status_code == 404
        assert client.delete(own, headers=ann).status_code == 204
        gone = client.get(first["path"])
        assert (gone.status_code, gone.text) == (404, client.get("/share/" + "a" * 43).text)
        _check_headers(gone)
        assert client.get(second["path"]).status_code == 200
        # without the right, with fewer graphs, and with another key of the same name
        for graphs, may in ((None, []), ([], ["share"]), (None, ["share"])):
            ann = sent_by(keys.add("ann", graphs, may=may, replace=True))
            assert client.get(second["path"]).status_code == 404
        third = shared(client, ann, "one")
        assert client.delete("/api/threads/one", headers=ann).status_code == 204
        assert client.get(third["path"]).status_code == 404
        assert client.get("/api/shares", headers=ann).json() == []
        asked(client, ann, "one")
        assert client.get(third["path"]).status_code == 404
        fourth = shared(client, ann, "one")
        assert client.get(fourth["path"]).status_code == 200
        keys.revoke("ann")
        assert client.get(fourth["path"]).status_code == 404
        keys.file.write_text("[")
        refused = client.get(fourth["path"])
        assert refused.status_code == 503
        assert "keys.json" not in refused.text
        _check_headers(refused)


def _check_headers(page: Any) -> None:
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'none'" in policy
    assert "connect-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "sandbox" in policy
    assert "noindex" in page.headers["x-robots-tag"]
    assert page.headers["referrer-policy"] == "no-referrer"
    assert page.headers["cache-control"] == "no-store"
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "<script" not in page.text


def test_off_is_off_and_links_made_before_can_still_be_withdrawn(kilns: Path) -> None:
    with started(kilns) as client:
        asked(client, {}, "two")
        made = shared(client, {}, "two")
        assert client.get(made["path"], headers={"Accept-Language": "de"}).status_code == 200
        assert '<html lang="de">' in client.get(made["path"], headers={"Accept-Language": "de-AT,en"}).text
    with started(kilns, sharing=False) as client:
        assert client.get("/api/choices").json()["may_share"] is False
        assert client.post("/api/threads/two/turns/1/share", json={}).status_code == 403
        assert client.get(made["path"]).status_code == 404
        assert [each["id"] for each in client.get("/api/shares").json()] == [made["link"]["id"]]
        assert client.delete(f"/api/shares/{made['link']['id']}").status_code == 204


def test_a_key_ends_what_was_shared_without_keys(kilns: Path, keys: KeyStore) -> None:
    with started(kilns) as client:
        asked(client, {}, "open")
        made = shared(client, {}, "open")
        assert client.get(made["path"]).status_code == 200
        keys.add("ann", None, may=["share"])
        assert client.get(made["path"]).status_code == 404
        # nobody is authenticated here, so that a link of other pages gets no further than any other
        assert client.get(made["path"], headers={"Origin": "https://elsewhere.example"}).status_code == 404


def test_a_deleted_graph_takes_its_shared_answers_along(
    kilns: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NACRE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("NACRE_EMBEDDER", "none")
    (tmp_path / "kilns.ttl").write_text(KILNS)

    def read_again() -> None:
        ingest([str(tmp_path / "kilns.ttl")], "kilns", data=tmp_path / "data", no_vectors=True)

    read_again()
    with started(tmp_path / "data") as client:
        asked(client, {}, "one")
        made = shared(client, {}, "one")
        # another version of the same graph changes nothing
        read_again()
        assert client.get(made["path"]).status_code == 200
        assert client.delete("/api/graphs/kilns?confirm=kilns").status_code == 204
        assert client.get(made["path"]).status_code == 404
        read_again()
        assert client.get(made["path"]).status_code == 404
        asked(client, {}, "two")
        made = shared(client, {}, "two")
        listed = CliRunner().invoke(commands, ["shares", "list"])
        assert made["link"]["id"] in listed.output
        assert KILNS_QUESTION in listed.output
        assert "1 shared answers" in CliRunner().invoke(commands, ["remove", "--graph", "kilns"]).output
        read_again()
        assert client.get(made["path"]).status_code == 404
        made = shared(client, {}, "two")
        assert CliRunner().invoke(commands, ["shares", "revoke", made["link"]["id"]]).exit_code == 0
        assert client.get(made["path"]).status_code == 404
        assert "No answer is shared" in CliRunner().invoke(commands, ["shares", "list"]).output


@pytest.fixture
def conversations(tmp_path: Path) -> Iterator[Conversations]:
    made = Conversations(open_file(tmp_path / "threads.sqlite"))
    made.begin("ann", "t", "kilns")
    yield made
    made.close()


def test_a_link_expires_and_a_clock_that_is_set_back_does_not_revive_it(
    conversations: Conversations, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1_800_000_000.0
    monkeypatch.setattr("nacre.stores.state.database.time.time", lambda: now)
    store, start = SharedAnswerStore(conversations), now
    token, link = store.add("ann", "t", 1, freeze_answer(answer()), "", 2)
    now = start + 2 * DAY - 1
    assert store.open(token) is not None
    assert store.listed("ann") == [link]
    now = start + 2 * DAY + 1
    assert store.open(token) is None
    assert store.listed("ann") == store.listed() == []
    conversations.observe_time(now)
    now = start
    assert store.open(token) is None
    assert conversations.delete_expired_shares() == 1
    assert conversations.delete_expired_shares() == 0


def test_a_damaged_copy_is_refused(conversations: Conversations) -> None:
    store = SharedAnswerStore(conversations)
    token, _ = store.add("ann", "t", 1, freeze_answer(answer()), "", 2)
    for damage in ("", "[", "[" * 100_000, "{}", '{"question": 3}'):
        with conversations.database.writing() as run:
            run("UPDATE shared_answer SET record = ?", damage)
        with pytest.raises(DamagedShareError):
            store.open(token)
    for wrong in ("", token[:-1], token + "a", "%", "' OR 1=1 --".ljust(43, "-"), "\ud800" * 43):
        assert store.open(wrong) is None


def test_an_owner_shares_so_many_and_they_count_as_stored(conversations: Conversations) -> None:
    store, copy = SharedAnswerStore(conversations), freeze_answer(answer())
    before = conversations.stored_bytes("ann")
    store.add("ann", "t", 1, copy, "", 30)
    assert conversations.stored_bytes("ann") > before
    with conversations.database.writing() as run:
        for n in range(MAX_OF_OWNER - 1):
            values = str(n), str(n), "ann", "t", 1, "kilns", "", "q", 0.0, 4e9, "{}"
            run("INSERT INTO shared_answer VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", *values)
    with pytest.raises(ConfigError, match="the most for one key"):
        store.add("ann", "t", 1, copy, "", 30)
    conversations.begin("bo", "t", "kilns")
    assert store.add("bo", "t", 1, copy, "", 30)
    assert not store.revoke("1", "bo")
    conversations.delete("ann", "t")
    assert store.listed("ann") == []
    assert len(store.listed("bo")) == 1


def page_of(record: Any) -> str:
    return shared_page(OpenedShare(ShareLink("i", "o", "t", 1, BAD, BAD, 0.0, 1.0), "", freeze_answer(record)), "en")


class Tags(HTMLParser):
    """Collects the names of tags and attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


def test_markup_in_every_text_stays_text() -> None:
    derivation = empty_derivation()
    derivation["triples"] = [[BAD, BAD, BAD]]
    derivation["planned"]["selected"] = [{"words": BAD, "probability": None, "queries": []}]
    texts = ("question", "standalone", "standalone_own", "answer", "language", "graph", "version", "status", "reason")
    record = answer(
        **dict.fromkeys(texts, BAD),
        caveats=[BAD],
        table={"columns": [BAD], "rows": [[BAD], [None], [True], [0.5]]},
        citations=[citation(1, BAD, [[BAD]])],
        queries=[query(BAD)],
        derivation=derivation,
    )
    page = page_of(record)
    assert page.count("alert(1)") > 20
    read = Tags()
    read.feed(page)
    assert {"script", "img"}.isdisjoint(read.tags)
    assert read.attributes == {
        *("lang", "charset", "name", "content", "rel", "href", "class", "id", "role", "tabindex", "aria-label", "scope")
    }
    assert "\u202e" not in page
    assert "\x1b" not in page
    assert page.count("<main>") == page.count("</main>") == 1


def test_ten_thousand_rows_are_bounded_and_said_to_be() -> None:
    rows = [[n, "x" * 10] for n in range(10_000)]
    record = answer(table={"columns": ["n", "x"], "rows": rows}, citations=[citation(1, "c", rows)] * 100)
    copy = freeze_answer(record)
    assert (len(copy.rows), copy.all_rows) == (MAX_ROWS, 10_000)
    assert "500 of 10,000" in page_of(record)
    wide = [["y" * 100_000] * 1000] * 10_000
    bounded = freeze_answer(answer(table={"columns": ["c"] * 1000, "rows": wide}, citations=[citation(1, "c", wide)]))
    characters = sum(len(str(cell)) for row in (*bounded.rows, *bounded.citations[0].rows) for cell in row)
    assert 0 < characters <= MAX_ROW_CHARACTERS
    assert max(len(str(cell)) for row in bounded.rows for cell in row) == MAX_CELL
    # a long list without a table is given in full, and nothing names the command line
    names = [f"Kiln {n}" for n in range(40)]
    listed = page_of(answer(values=names, answer="Kiln 0 and 39 more (ask with --json for all)."))
    assert "Kiln 39</td>" in listed
    assert "--json" not in listed


def test_a_copy_asks_its_readers_nothing() -> None:
    asked = {"en": "Is that what you meant?", "de": "Ist das gemeint?", "fr": "Est-ce bien cela ?"}
    for language, question in asked.items():
        assert freeze_answer(answer(answer=f"Three [1].\n\n{question}", language=language)).answer == "Three [1]."


def test_numbers_are_written_as_in_answers() -> None:
    rows = [["Old Kiln", 1951, 7315, 4711, 2469.0], ["New Kiln", 2004, 12, 4712, 0.25]]
    page = page_of(answer(table={"columns": ["kiln", "built", "bricks", "code", "height"], "rows": rows}))
    for cell in ("1951", "7,315", "4711", "2,469", "0.25"):
        assert f"<td>{cell}</td>" in page


def test_numbers_over_time_are_lines_with_axes_and_written_for_the_reader() -> None:
    rows = [[year, pier, tons] for year, tons in ((2001, 1250), (2002, 900), (2003, 2400)) for pier in ("East", "West")]
    rows[5][2] = 1800
    told = answer(table={"columns": ["year", "pier", "tons"], "rows": rows}, values=[])
    share = OpenedShare(ShareLink("i", "o", "t", 1, "g", "q", 0.0, 1.0), "", freeze_answer(told))
    page = shared_page(share, "de")
    drawing = page.partition("<figure")[2].partition("</figure>")[0]
    assert drawing.count("<polyline") == 2
    assert "<title>2003, West: 1.800</title>" in drawing
    assert all(f">{label}</text>" in drawing for label in ("tons", "2001", "2003", "2.500"))
    assert ">East</li>" in drawing
    assert "<td>1.250<" in page


def test_numbers_by_two_groups_are_stacked_bars() -> None:
    rows = [["East", "oak", 4], ["East", "ash", 2], ["West", "oak", 1200]]
    told = answer(table={"columns": ["pier", "wood", "boats"], "rows": rows}, values=[])
    page = shared_page(OpenedShare(ShareLink("i", "o", "t", 1, "g", "q", 0.0, 1.0), "", freeze_answer(told)), "en")
    drawing = page.partition("<figure")[2].partition("</figure>")[0]
    assert drawing.count("<rect") == 3
    assert all(
        each in drawing for each in ("<title>West, oak: 1,200</title>", ">East</span>", ">ash</li>", ">6</span>")
    )


@pytest.mark.parametrize(
    ("kind", "marks", "texts"),
    [
        ("", 3, ("C: 7", ">9</span>")),
        ("bars", 3, ("<title>C: 7</title>",)),
        ("pie", 3, ("C: 7 (35 %)", "B: 9 (45 %)")),
        ("histogram", 2, ("<title>4 – 6: 1</title>", ">tons</text>")),
        # no second number: what fits instead
        ("scatter", 3, ("<title>C: 7</title>",)),
    ],
)
def test_a_copy_keeps_the_kind_of_its_chart(kind: Kind, marks: int, texts: tuple[str, ...]) -> None:
    record = answer(table={"columns": ["pier", "tons"], "rows": [["A", 4], ["B", 9], ["C", 7]]}, values=[])
    share = OpenedShare(ShareLink("i", "o", "t", 1, "g", "q", 0.0, 1.0), "", freeze_answer(record, "", kind))
    drawing = shared_page(share, "en").partition("<figure")[2].partition("</figure>")[0]
    drawn = drawing.count('class="tone-') + drawing.count('class="part')
    assert drawn - (3 if kind == "pie" else 0) >= marks
    assert all(text in drawing for text in texts)


def test_many_groups_of_a_copy_are_summed_and_small_tables_have_no_chart() -> None:
    rows = [(f"wood {n}", n) for n in range(1, 12)]
    figure = chart_figure(["wood", "boats"], rows, str, "pie", "{n} others")
    assert figure.count('class="part') == 8
    assert "4 others: 10 (15.2 %)" in figure
    grouped = [(pier, f"w{n}", n) for pier in "AB" for n in range(1, 4)]
    assert chart_figure(["pier", "wood", "boats"], grouped, str, "grouped").count("<rect") == 6
    assert chart_figure(["length", "price"], [(1, 2.5), (3, 4)], str, "scatter").count("<circle") == 2
    assert chart_figure(["pier", "boats"], [("A", 1), ("B", 2)], str) == ""


def test_values_of_named_things_are_a_table_with_their_names() -> None:
    record = answer(values=[4, 9, 7], citations=[citation(1, "c", [[4], [9], [7]])])
    copy = freeze_answer(record, "", "pie", ["East", "West", "North"])
    assert copy.rows == (("East", 4), ("West", 9), ("North", 7))
    assert "North: 7 (35 %)" in chart_figure(copy.columns, copy.rows, str, copy.chart)
    assert freeze_answer(record, "", "pie", ["East"]).rows == ()
