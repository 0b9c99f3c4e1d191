"""An answer as a file: typed cells, texts that nothing runs, and triples that are read again."""

import csv
import io
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from rdflib import Graph, Literal, URIRef
from starlette.testclient import TestClient

from nacre.config.settings import Settings
from nacre.extensions.client.facade import Reply
from nacre.extensions.downloads.formats import MAX_CELL, Format, write_answer
from nacre.records.answer import Answer, Citation, QuestionLine, Value, failed_record
from nacre.serving.app import create_app
from nacre.serving.cli.main import app as command_line

ROOM = "http://example.org/reading-room/"
GRAPH = Path(__file__).parents[1] / "fixtures/graphs/reading_room.ttl"
QUESTION = "Which books have more than 300 pages?"
HOSTILE = [
    "=1+1",
    "+cmd|'/C calc'!A0",
    "-2+3",
    "@SUM(A1)",
    "\uff1d1+1",
    "\t=1",
    "https://evil.example",
    "a\x00\x1b[2Jb\ud800",
]


def answer(rows: list[list[Value | None]], triples: list[list[str]] | None = None) -> Answer:
    record = failed_record(QuestionLine("", "=Which?|x", graph="room"), "t", "")
    cited: Any = {
        **{"n": 1, "tool": "sql", "source": "=s|1", "text": "@t", "query": None, "basis": "1 row", "place": None},
        **{
            "keys": [f"{ROOM}a b>c"],
            "triples": triples or [],
            "columns": ["a"],
            "units": [""],
            "rows": [["=name](x)"]],
        },
        **{"contributing": None, "queries": []},
    }
    citation: Citation = cited
    table: Any = {"columns": [f"c{i}" for i in range(len(rows[0]))], "rows": rows}
    return {**record, "table": table, "citations": [citation], "answer": "=1 [1]"}


def opened(content: bytes) -> Any:
    return openpyxl.load_workbook(io.BytesIO(content))


def test_coordinates_are_points_whose_longitude_comes_first() -> None:
    near = [["http://e.org/o", "http://w.org/#lat", "59.91"], ["http://e.org/o", "http://w.org/#long", "10.75"]]
    mill = [["http://e.org/m", "http://g.org/hasGeometry", "_:g"], ["_:g", "http://g.org/asWKT", "POINT(5.3 60.4)"]]
    sea = [["http://e.org/s", "http://g.org/asWKT", "<http://www.opengis.net/def/crs/EPSG/0/4326> POINT(60.4 5.3)"]]
    half = [["http://e.org/h", "http://w.org/#lat", "59"], ["http://e.org/x", "http://w.org/#lat", "nine"]]
    found = json.loads(write_answer(answer([[1]], [*near, *mill, *sea, *half]), "geojson"))
    assert {each["id"]: each["geometry"]["coordinates"] for each in found["features"]} == {
        "http://e.org/o": [10.75, 59.91],
        "http://e.org/m": [5.3, 60.4],
        "http://e.org/s": [5.3, 60.4],
    }


def test_cells_have_types() -> None:
    row: list[Value | None] = [3, 2.5, True, "2020-01-31", "2020-02-30", None, 2**60, float("nan"), "x" * 40_000]
    row += ["2020-01-31T09:30:00", "2020-01-31T09:30:00Z", "1899-12-31", -0.25]
    sheet = opened(write_answer(answer([row]), "xlsx"))["Answer"]
    values = [cell.value for cell in sheet[2]]
    assert values[:6] == [3, 2.5, True, datetime(2020, 1, 31), "2020-02-30", None]
    assert values[6:8] == [str(2**60), "nan"]
    assert len(values[8]) == MAX_CELL
    assert values[9:] == [datetime(2020, 1, 31, 9, 30), "2020-01-31T09:30:00Z", "1899-12-31", -0.25]
    assert [sheet.cell(2, x).number_format for x in (4, 10)] == ["yyyy-mm-dd", "yyyy-mm-dd hh:mm:ss"]
    assert [cell.data_type for cell in sheet[2]][:5] == ["n", "n", "b", "d", "s"]
    assert sheet["A1"].font.bold


def test_no_text_is_a_formula_or_a_link() -> None:
    rows: list[list[Value | None]] = [[each] for each in HOSTILE]
    book = opened(write_answer(answer(rows), "xlsx", "http://127.0.0.1/"))
    assert book.sheetnames == ["Answer", "Sources", "About"]
    for sheet in book:
        assert {cell.data_type for row in sheet for cell in row if isinstance(cell.value, str)} == {"s"}
    assert [row[0].value for row in book["Answer"].iter_rows(min_row=2)][:4] == HOSTILE[:4]
    assert [cell.coordinate for row in book["Answer"] for cell in row if cell.hyperlink] == []
    linked = book["Sources"]["E2"]
    assert linked.value == "=name](x)"
    assert linked.hyperlink.target.startswith("http://127.0.0.1/?graph=room&thing=http")
    heads, *cells = csv.reader(io.StringIO(write_answer(answer(rows), "csv").decode()))
    assert heads == ["c0"]
    assert [cell for (cell,) in cells if cell[:1] in "=+-@\uff1d\t"] == []


def test_markdown_has_no_markup_of_a_text() -> None:
    text = write_answer(answer([["a|b", "<script>", "[x](javascript:1)"]]), "md", "http://127.0.0.1/kg/").decode()
    assert "| a\\|b | \\<script\\> | \\[x\\](javascript:1) |" in text
    assert "[=name\\](x)](<http://127.0.0.1/kg/?graph=room&thing=http%3A%2F%2F" in text
    assert f"(<{ROOM}a%20b%3Ec>)" in write_answer(answer([[1]]), "md").decode()


def test_triples_are_read_again() -> None:
    triples = [
        [f"{ROOM}a", f"{ROOM}p", 'x" . <urn:evil> <urn:evil> "'],
        [f"{ROOM}a", f"{ROOM}p", f"{ROOM}b> . <urn:evil> <urn:evil> <urn:evil"],
        ["_:n 1", f"{ROOM}p", "a\x00\ud800b"],
        [f"{ROOM}a", f"{ROOM}p", "_:n 1"],
    ]
    read = Graph().parse(data=write_answer(answer([[1]], triples), "ttl"), format="turtle")
    assert len(read) == 4
    assert URIRef("urn:evil") not in set(read.all_nodes()) | set(read.predicates())
    assert (URIRef(f"{ROOM}a"), URIRef(f"{ROOM}p"), Literal('x" . <urn:evil> <urn:evil> "')) in read


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    from typer.testing import CliRunner

    monkeypatch.setenv("NACRE_DATA", str(tmp_path))
    made = CliRunner().invoke(command_line, ["ingest", str(GRAPH), "--graph", "room", "--no-vectors"])
    assert made.exit_code == 0, made.output
    return tmp_path


def test_a_stored_answer_is_downloaded(room: Path) -> None:
    settings = Settings(data=room)
    with TestClient(create_app(settings), base_url="http://127.0.0.1:8200", client=("127.0.0.1", 5000)) as client:
        asked = {"question": QUESTION, "thread": "t"}
        record = client.post("/api/ask", json=asked, headers={"Accept": "application/json"}).json()

        def downloaded(format: Format, query: str = "") -> bytes:
            reply = client.get(f"/api/threads/t/turns/1/answer.{format}{query}")
            assert reply.status_code == 200, reply.text
            assert reply.headers["content-disposition"] == f'attachment; filename="turn-1.{format}"'
            return reply.content

        assert [row[0].value for row in opened(downloaded("xlsx"))["Answer"]] == ["answer", *record["values"]]
        assert downloaded("csv").decode().split("\r\n")[1:-1] == record["values"]
        assert json.loads(downloaded("json"))["values"] == record["values"]
        place = "http://127.0.0.1:8200/?graph=room&thing=http%3A%2F%2Fexample.org%2Freading-room%2Fgranite"
        assert place in downloaded("md").decode()
        # each format has the link that opens a thing
        linked = [row.split(",") for row in downloaded("csv", "?links=true").decode().split("\r\n")[:-1]]
        assert (linked[0], [row[0] for row in linked[1:]]) == (["answer", "link"], record["values"])
        assert place in [row[1] for row in linked]
        assert place in json.loads(downloaded("json"))["citations"][0]["links"]
        assert f"# {place}\n" in downloaded("ttl").decode()
        sources = opened(downloaded("xlsx"))["Sources"]
        assert place in {cell.hyperlink.target for row in sources for cell in row if cell.hyperlink}
        triples = Graph().parse(data=downloaded("ttl"), format="turtle")
        assert (URIRef(f"{ROOM}granite"), URIRef(f"{ROOM}pages"), Literal("540")) in triples
        assert client.get("/api/threads/t/turns/1/answer.exe").status_code == 422
        assert client.get("/api/threads/t/turns/9/answer.csv").status_code == 404
        # the rows of a citation are as they were
        assert client.get("/api/threads/t/turns/1/rows.csv").status_code == 200


def test_a_reply_is_a_frame() -> None:
    pandas = pytest.importorskip("pandas")
    frame = Reply(answer([[1, "a"], [2, "b"]])).to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert frame.to_dict("list") == {"c0": [1, 2], "c1": ["a", "b"]}
