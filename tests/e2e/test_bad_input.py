"""What a person may get wrong: one clear line, the right exit code, no traceback, the earlier graph still answering."""

import json
import signal
import time
from pathlib import Path

import pytest

GRAPHS = Path(__file__).parents[1] / "fixtures/graphs"
QUESTION = "How many books are there?"


def refused(done, *told):
    """A command that was refused says so in its last line, and there is no traceback above it."""
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr + done.stdout
    line = done.stderr.strip().splitlines()[-1]
    for words in told:
        assert words in line
    return line


def answers(run, question=QUESTION, **settings):
    done = run("ask", question, "--json", **settings)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("missing.ttl", None, "missing.ttl"),
        ("empty.ttl", b"", "empty.ttl"),
        ("truncated.ttl", b'@prefix : <http://e.org/> .\n:a :b "c" .\n:d :e "f', "truncated.ttl"),
        ("prose.ttl", b"Dear reader,\nthis is a letter.\n", "prose.ttl"),
        ("picture.ttl", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "picture.ttl"),
        ("paper.pdf", b"%PDF-1.7\n", "paper.pdf"),
    ],
)
def test_a_source_that_is_no_graph_leaves_the_earlier_one(nacre, data, tmp_path, name, content, told):
    before = answers(nacre)
    if content is not None:
        (tmp_path / name).write_bytes(content)
    refused(nacre("ingest", tmp_path / name, "--graph", "reading-room"), told)
    after = answers(nacre)
    assert after["values"] == before["values"] == [6]
    assert after["version"] == before["version"]
    assert [folder.name for folder in (data / "reading-room/versions").iterdir()] == [after["version"]]


def test_a_truncated_file_names_its_line(fresh, tmp_path):
    (tmp_path / "cut.ttl").write_text('@prefix : <http://e.org/> .\n:a :b "c" .\n:d :e "f')
    line = refused(fresh("ingest", tmp_path / "cut.ttl", "--graph", "cut"), "cut.ttl")
    assert "3" in line.split("cut.ttl", 1)[1]
    assert not (tmp_path / "data/cut").exists()


@pytest.mark.parametrize("name", ["Reading Room", "../up", "-x-", "a" * 65, "ÄÖ"])
def test_a_name_that_no_graph_may_have(fresh, name):
    refused(fresh("ingest", GRAPHS / "kitchen.ttl", f"--graph={name}"), name)


def test_nothing_to_ingest(fresh):
    refused(fresh("ingest", "--graph", "x"), "nacre ingest FILE.ttl --graph x")


def test_no_graph_at_all(fresh):
    refused(fresh("ask", QUESTION), "nacre ingest")
    refused(fresh("ask", QUESTION, "--graph", "library"), "library", "nacre ingest")


@pytest.mark.parametrize("command", [["ask", QUESTION], ["report"], ["export"], ["index"], ["remove"], ["chat"]])
def test_an_unknown_graph_gets_a_hint(nacre, command):
    refused(nacre(*command, "--graph", "reading-rom"), "Did you mean 'reading-room'?")


@pytest.mark.parametrize("question", ["", "   ", "why " * 5000])
def test_a_question_that_is_none(nacre, question):
    refused(nacre("ask", question), "The question")


@pytest.mark.parametrize(
    "question",
    [
        "🙂🙂🙂",
        "?",
        "SELECT * FROM book; DROP TABLE book",
        "'; DELETE FROM entity; --",
        "\u202etxet\u202c",
        "\udcff",
        "a" * 3999,
    ],
)
def test_an_odd_question_is_answered_or_declined(nacre, question):
    done = nacre("ask", question, "--json")
    assert done.returncode in (0, 1), done.stderr
    assert "Traceback" not in done.stderr
    assert json.loads(done.stdout)["status"] in ("answered", "partial", "not_in_graph", "failed", "clarify")
    assert answers(nacre)["values"] == [6]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--mind", "guess"], "mind"),
        (["--mind", "model"], "NACRE_MODEL"),
        (["--branches", "sql,telepathy"], "telepathy"),
        (["--colour"], "--colour"),
    ],
)
def test_an_option_that_does_not_fit(nacre, arguments, told):
    refused(nacre("ask", QUESTION, *arguments), told)


def test_a_setting_that_does_not_fit(nacre):
    refused(nacre("ask", QUESTION, NACRE_MAX_ROUNDS="many"), "NACRE_MAX_ROUNDS")
    refused(nacre("ask", QUESTION, NACRE_MODEL="telepathy"), "telepathy")


def test_a_model_that_does_not_answer_gives_way_to_rules(nacre):
    settings = {"NACRE_MODEL": "openai:none", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "NACRE_MODEL_SECONDS": "5"}
    record = answers(nacre, **settings)
    assert record["values"] == [6]
    unsure = nacre("ask", "Which of the novels would please a sailor?", "--json", **settings)
    assert any(by.startswith("rules after model: ") for by in json.loads(unsure.stdout)["by"].values())
    doctor = nacre("doctor", **settings)
    assert doctor.returncode == 1
    assert "does not answer" in doctor.stdout


def test_a_data_folder_without_write_rights(fresh, bound, tmp_path):
    assert fresh("ingest", GRAPHS / "reading_room.ttl", "--graph", "reading-room").returncode == 0
    folders = [folder for folder in (tmp_path / "data").rglob("*") if folder.is_dir()] + [tmp_path / "data"]
    for folder in folders:
        folder.chmod(0o555)
    try:
        refused(bound("ingest", GRAPHS / "kitchen.ttl", "--graph", "kitchen"), "data")
        refused(bound("ingest", GRAPHS / "kitchen.ttl", "--graph", "reading-room"), "data")
        refused(bound("index", "--graph", "reading-room"), "data")
        refused(bound("remove", "--graph", "reading-room"), "data")
        refused(bound("ask", QUESTION, "--thread", "t"), "threads.sqlite")
        record = answers(bound)
        assert (record["values"], record["unavailable"]) == ([6], {})
    finally:
        for folder in folders:
            folder.chmod(0o755)


def test_a_data_folder_that_is_a_file(fresh, tmp_path):
    (tmp_path / "data").write_text("not a folder")
    refused(fresh("ingest", GRAPHS / "kitchen.ttl", "--graph", "kitchen"), "data")


def test_ctrl_c_while_reading_standard_input(fresh, begin, tmp_path):
    reading = begin(tmp_path / "data", "ingest", "-", "--graph", "room")
    reading.stdin.write("@prefix : <http://example.org/> .\n")
    reading.stdin.flush()
    time.sleep(3)
    reading.send_signal(signal.SIGINT)
    _, stderr = reading.communicate(timeout=60)
    assert (reading.returncode, stderr) == (130, "Stopped.\n")
    assert "No graph" in fresh("graphs").stdout


@pytest.mark.parametrize("stage", ["tables", "verbalise", "index"])
def test_ctrl_c_in_an_ingest_leaves_the_earlier_graph(fresh, begin, tmp_path, stage):
    assert fresh("ingest", GRAPHS / "reading_room.ttl", "--graph", "reading-room").returncode == 0
    stopped = begin(tmp_path / "data", "ingest", _large(tmp_path), "--graph", "reading-room")
    # a stage is told when the next begins: the line of the stage before it says that it is this one's turn
    order = ["parse", "tables", "names", "overview", "verbalise", "index"]
    for line in stopped.stderr:
        if line.startswith(f"{order[order.index(stage) - 1]}:"):
            break
    # the index of words is made in a fifth of a second
    time.sleep(0.02 if stage == "index" else 0.3)
    stopped.send_signal(signal.SIGINT)
    stdout, stderr = stopped.communicate(timeout=60)
    assert stopped.returncode == 130, stderr
    assert stderr.strip().splitlines()[-1] == "Stopped."
    assert "Traceback" not in stderr + stdout
    assert answers(fresh)["values"] == [6]
    assert len(list((tmp_path / "data/reading-room/versions").iterdir())) == 1


def test_ctrl_c_in_a_file_of_questions_keeps_what_is_written(begin, data, tmp_path):
    questions = tmp_path / "q.jsonl"
    questions.write_text("".join(json.dumps({"id": str(i), "question": QUESTION}) + "\n" for i in range(20_000)))
    asked = begin(data, "eval", questions, "--out", tmp_path / "p.jsonl")
    for line in asked.stderr:
        if line.startswith("3/"):
            break
    asked.send_signal(signal.SIGINT)
    _, stderr = asked.communicate(timeout=60)
    assert asked.returncode == 130
    assert stderr.strip().splitlines()[-1] == "Stopped."
    records = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text().splitlines()]
    assert [record["id"] for record in records[:3]] == ["0", "1", "2"]


def test_a_reader_that_leaves(nacre, data, tmp_path, begin):
    exported = begin(data, "export", "--graph", "reading-room")
    exported.stdout.close()
    exported.stdout = None
    assert exported.wait(60) in (0, 141)
    assert exported.stderr.read() == ""


@pytest.mark.parametrize(
    ("content", "told"), [(None, "No file"), ("", "no question"), ("{}", "line 1"), ('{"question": "a"', "line 1")]
)
def test_a_file_of_questions_that_is_none(nacre, tmp_path, content, told):
    file = tmp_path / "q.jsonl"
    if content is not None:
        file.write_text(content)
    refused(nacre("eval", file, "--out", tmp_path / "p.jsonl"), told)
    assert not (tmp_path / "p.jsonl").exists()


def _large(folder: Path) -> Path:
    """A graph that takes some seconds to ingest."""
    file = folder / "large.nt"
    with file.open("w") as out:
        for i in range(20_000):
            subject = f"<http://example.org/stone/{i}>"
            out.write(f"{subject} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://example.org/Stone> .\n")
            out.write(f'{subject} <http://www.w3.org/2000/01/rdf-schema#label> "stone number {i}" .\n')
            out.write(f'{subject} <http://example.org/found> "in field {i * 7919 % 10_007} near the river" .\n')
    return file
