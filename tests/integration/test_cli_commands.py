"""The commands of `nacre` in one process, over real stores in a temporary folder."""

import io
import json
from pathlib import Path

import pytest
from pyoxigraph import RdfFormat, parse

from nacre.extensions.server_tables.translate import ServerPlace, write_place
from nacre.serving.cli.main import main

FINDS_EXAMPLES = True

GRAPHS = Path(__file__).parents[1] / "fixtures/graphs"
ROOM, KITCHEN = GRAPHS / "reading_room.ttl", GRAPHS / "kitchen.ttl"


@pytest.fixture
def nacre(tmp_path, monkeypatch, capfdbinary):
    """Runs a command: its exit code, stdout and stderr."""
    monkeypatch.setenv("NACRE_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        code = main([str(argument) for argument in arguments])
        stdout, stderr = capfdbinary.readouterr()
        return code, stdout.decode(), stderr.decode()

    return run


@pytest.fixture
def room(nacre):
    """As `nacre`, with a graph in it that has no vectors."""
    code, _, stderr = nacre("ingest", ROOM, "--graph", "room", "--no-vectors")
    assert code == 0, stderr
    return nacre


def triples(content: bytes, form: RdfFormat) -> set[str]:
    return {str(quad.triple) for quad in parse(content, format=form)}


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("ingest", ["--graph", "--texts", "--annotations", "--tables-only", "--no-vectors", "--max-expansion"]),
        ("report", ["--graph", "--json"]),
        ("export", ["--graph", "--format"]),
        ("remove", ["--graph"]),
        ("index", ["--graph"]),
        ("ask", ["--graph", "--thread", "--json", "--reasoner", "--branches", "--show-sources"]),
        ("chat", ["--graph"]),
        ("serve", ["--host", "--port"]),
        ("eval", ["--graph", "--out", "--reasoner", "--branches", "--limit"]),
        ("compare", ["--graph", "--configurations", "--out", "--reasoner", "--limit"]),
    ],
)
def test_a_command_has_the_options_of_the_contract(nacre, command, options):
    code, stdout, _ = nacre(command, "--help")
    assert code == 0
    assert [option for option in options if option not in stdout] == []


def test_an_ingest_tells_what_it_made(nacre):
    code, stdout, stderr = nacre("ingest", ROOM, "--graph", "room", "--no-vectors")
    assert code == 0
    assert [line.split(":")[0] for line in stderr.splitlines()] == [
        "parse", "tables", "names", "overview", "verbalise", "index", "publish",
    ]  # fmt: skip
    assert "'room' is now version " in stdout
    assert "  book          6\n" in stdout.lower()
    assert "  author        3\n" in stdout.lower()
    triples_in = len(triples(ROOM.read_bytes(), RdfFormat.TURTLE))
    assert f"{triples_in} triples" in stdout


def test_its_three_questions_are_answered(nacre):
    _, stdout, _ = nacre("ingest", ROOM, "--graph", "room", "--no-vectors")
    suggested = [line.split('"')[1] for line in stdout.splitlines() if line.startswith("  nacre ask ")]
    assert len(suggested) == 3
    for question in suggested:
        code, answer, stderr = nacre("ask", question, "--graph", "room", "--json")
        assert code == 0, stderr
        assert json.loads(answer)["status"] == "answered", question


def test_the_same_again_changes_nothing(room):
    before = room("graphs")[1]
    code, stdout, _ = room("ingest", ROOM, "--graph", "room", "--no-vectors")
    assert code == 0
    assert "Nothing changed" in stdout
    assert room("graphs")[1] == before


def test_graphs_are_listed(room):
    room("ingest", KITCHEN, "--graph", "kitchen", "--tables-only")
    _, stdout, _ = room("graphs")
    assert [line.split()[0] for line in stdout.splitlines()] == ["kitchen", "room"]
    assert "no lexical: ingested with --tables-only; no vector: ingested with --tables-only" in stdout.splitlines()[0]
    assert "no vector" in stdout.splitlines()[1]


def test_without_a_graph_the_list_says_how_to_make_one(nacre):
    code, stdout, _ = nacre("graphs")
    assert code == 0
    assert "nacre ingest FILE.ttl --graph NAME" in stdout


def test_a_report_accounts_for_every_triple(room):
    _, text, _ = room("report", "--graph", "room")
    _, stdout, _ = room("report", "--json")
    found = json.loads(stdout)
    assert found["triples"] == found["shown"] + found["left_out"] == len(triples(ROOM.read_bytes(), RdfFormat.TURTLE))
    assert text.startswith(f"{found['triples']} triples")


def test_an_export_gives_the_triples_back(room, tmp_path):
    _, stdout, _ = room("export")
    assert triples(stdout.encode(), RdfFormat.N_TRIPLES) == triples(ROOM.read_bytes(), RdfFormat.TURTLE)
    named = tmp_path / "named.trig"
    named.write_text('@prefix : <http://e.org/> . :g { :a a :Thing ; :name "a" . }')
    assert room("ingest", named, "--graph", "named", "--tables-only")[0] == 0
    code, stdout, stderr = room("export", "--graph", "named", "--format", "nt")
    assert (code, stdout) == (2, "")
    assert "nq" in stderr
    _, stdout, _ = room("export", "--graph", "named")
    assert "<http://e.org/g>" in stdout


def test_a_removed_graph_is_gone(room):
    assert room("remove")[0] == 2
    assert room("remove", "--graph", "room")[0] == 0
    assert room("ask", "How many books are there?")[0] == 2
    assert "No graph" in room("graphs")[1]


def test_an_index_adds_the_vectors_that_were_left_out(room):
    code, stdout, stderr = room("index")
    assert code == 0, stderr
    assert "newly embedded" in stdout
    assert "no vector" not in room("graphs")[1]
    record = json.loads(room("ask", "poems about lighthouses", "--json")[1])
    assert "vector" in record["visited"]
    assert record["unavailable"] == {}


def test_ctrl_c_while_vectors_are_made_leaves_a_graph_that_answers(nacre, monkeypatch, tmp_path):
    (tmp_path / "hours.md").write_text("# Hours\n\nThe reading room closes early on Fridays.\n")

    def interrupted(self, texts):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("nacre.config.embedder.LocalEmbedder.embed", interrupted)
        code, stdout, stderr = nacre("ingest", ROOM, "--texts", "hours.md", "--graph", "room")
    assert code == 130
    assert "1 text, " in stdout
    assert "It answers, for example:" in stdout
    assert "'room' answers without search by meaning. To continue: nacre index --graph room" in stderr.splitlines()[-1]
    assert "no vector: the vectors are not complete yet" in nacre("graphs")[1]
    [line] = [line for line in nacre("doctor")[1].splitlines() if line.split()[1] == "graph"]
    assert "not complete yet" in line
    assert line.endswith("Next: nacre index --graph room")
    record = json.loads(nacre("ask", "How many pages does Granite have?", "--json")[1])
    assert (record["values"], set(record["unavailable"])) == ([540], {"vector"})
    code, stdout, stderr = nacre("index")
    assert code == 0, stderr
    assert "(no " not in nacre("graphs")[1]


def test_an_ingest_mends_a_graph_whose_pointer_is_damaged(room, tmp_path):
    (tmp_path / "data/room/current").write_text("half a")
    assert room("ask", "How many books are there?")[0] == 2
    assert room("index")[0] == 2
    code, _, stderr = room("ingest", ROOM, "--graph", "room", "--no-vectors")
    assert code == 0, stderr
    assert room("ask", "How many books are there?")[0] == 0


def test_standard_input_is_a_source(nacre, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(KITCHEN.read_bytes())))
    code, stdout, stderr = nacre("ingest", "-", "--graph", "kitchen", "--tables-only")
    assert code == 0, stderr
    assert "dish" in stdout.lower()


def test_several_texts_follow_one_option(room, tmp_path):
    for name in ("one", "two"):
        (tmp_path / f"{name}.md").write_text(f"# Chapter {name}\n\nThe reading room closes at {name} on Fridays.\n")
    code, _, stderr = room("ingest", ROOM, "--texts", "one.md", "two.md", "--graph", "room", "--no-vectors")
    assert code == 0, stderr
    _, before, _ = room("index")
    assert room("ingest", ROOM, "--graph", "room", "--no-vectors")[0] == 0
    _, without, _ = room("index")
    counted = [int(stdout.split(": ")[1].split()[0]) for stdout in (before, without)]
    assert counted[0] == counted[1] + 2


def test_an_answer_is_printed_with_its_citations(room):
    code, stdout, stderr = room("ask", "How many pages does Granite have?")
    assert code == 0, stderr
    lines = stdout.splitlines()
    assert "540" in lines[0]
    assert "[1]" in lines[0]
    assert lines[1].startswith("[1] ")
    assert "sql:" not in stdout


def test_sources_and_timings_are_printed_on_request(room):
    _, stdout, _ = room("ask", "How many pages does Granite have?", "--show-sources", "--timings")
    assert "(understood as: How many pages does Granite have?)" in stdout
    assert "    sql: SELECT " in stdout
    assert "    key: http://example.org/reading-room/granite" in stdout
    assert "whole turn" in stdout.splitlines()[-1]


def test_json_is_one_line_and_nothing_else(room):
    _, stdout, stderr = room("ask", "How many pages does Granite have?", "--json")
    assert stdout.count("\n") == 1
    assert json.loads(stdout)["values"] == [540]
    assert stderr == ""


def test_a_chat_from_a_file_is_one_conversation(room, monkeypatch):
    monkeypatch.setattr(
        "sys.stdin", io.StringIO("How many pages does Granite have?\n\n/graph\n/nonsense\nWho wrote it?\n/quit\nmore\n")
    )
    code, stdout, stderr = room("chat")
    assert code == 0, stderr
    assert "> How many pages does Granite have?" in stdout
    assert "540" in stdout
    assert "room, version " in stdout
    assert "No command /nonsense" in stdout
    assert "Tomas Brill" in stdout
    assert "more" not in stdout.splitlines()
    thread = stdout.strip().splitlines()[-1].split("--thread ")[1]
    assert json.loads(room("ask", "How many pages?", "--thread", thread, "--json")[1])["turn"] == 3


def test_a_chat_takes_commands(room, monkeypatch, tmp_path):
    assert room("ingest", KITCHEN, "--graph", "kitchen", "--no-vectors")[0] == 0
    lines = [
        "/help", "/export", "How many pages does Granite have?", "/export talk.md", "/export talk.md",
        "/reasoner model", "/mind", "/reasoner both", "/sources", "/graph", "/graph rome",
        "/graph kitchen", "How many dishes are there?", "/export new.md",
    ]  # fmt: skip
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
    code, stdout, stderr = room("chat", "--graph", "room")
    assert code == 0, stderr
    parts = {part.split("\n", 1)[0].removeprefix("> "): part for part in stdout.split("\n> ")}
    assert all(
        f"{name} " in parts["/help"]
        for name in ("/help", "/new", "/graph", "/sources", "/teach", "/export", "/reasoner", "/quit")
    )
    assert "nothing to export" in parts["/export"]
    assert "540" in parts["How many pages does Granite have?"]
    assert "exists" in parts["/export talk.md"]
    assert "No model is set" in parts["/reasoner model"]
    assert "The rules answer." in parts["/mind"]
    assert "There are rules and model" in parts["/reasoner both"]
    assert "room, version" in parts["/graph"]
    assert "others: kitchen" in parts["/graph"]
    assert "Did you mean 'room'?" in parts["/graph rome"]
    assert "new conversation" in parts["/graph kitchen"]
    assert "sql: SELECT" in parts["How many dishes are there?"]
    assert "Granite" in (tmp_path / "talk.md").read_text()
    assert "Granite" not in (tmp_path / "new.md").read_text()
    assert "nacre chat --graph kitchen --thread" in stdout.splitlines()[-1]


def test_a_chat_teaches_a_word(room, monkeypatch):
    lines = [
        "/teach gubbins",
        "What is the gubbins of Granite?",
        "/teach gubbins",
        "/teach gubbins = pages",
        "/new",
        "/teach",
    ]
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
    code, stdout, stderr = room("chat", "--graph", "room")
    assert code == 0, stderr
    first, _, proposed, taught, new, nothing = stdout.split("> ")[1:]
    assert "nothing to teach" in first
    assert "It may mean:" in proposed
    assert "/teach gubbins = NUMBER" in proposed
    assert "540" in taught
    assert "new conversation" in new
    assert "nothing to teach" in nothing


def test_eval_scores_what_it_wrote(room, tmp_path):
    questions = [
        {"question": "How many pages does Granite have?", "answers": [540]},
        {"question": "How many authors are there?", "answers": [4]},
        {"question": "How many books are there?"},
    ]
    file = tmp_path / "q.jsonl"
    file.write_text("".join(json.dumps(question) + "\n" for question in questions))
    code, stdout, stderr = room("eval", file, "--graph", "room", "--out", "p.jsonl", "--score")
    assert code == 0, stderr
    together = next(line for line in stdout.splitlines() if line.startswith("together")).split()
    assert together[1:5] == ["2", "1", "50.0%", "50.0%"]
    assert "said with confidence: 2 of 2, of these right: 1 (50.0%)" in stdout
    file.write_text(json.dumps(questions[-1]) + "\n")
    code, stdout, _ = room("eval", file, "--graph", "room", "--out", "p.jsonl", "--score")
    assert (code, stdout.count("\n")) == (0, 1)
    assert "gold answers" in stdout


def test_eval_writes_a_record_for_every_line(room, tmp_path):
    questions = [
        {"id": "b", "conversation": "c", "turn": 2, "question": "Who wrote it?", "answers": ["never read"]},
        {"id": "x", "question": ""},
        {"id": "a", "conversation": "c", "turn": 1, "question": "How many pages does Granite have?"},
        {"id": 4, "question": "How many books are there?", "graph": "room"},
        {"id": "left out", "question": "How many books are there?"},
    ]
    file = tmp_path / "q.jsonl"
    file.write_text("".join(json.dumps(question) + "\n" for question in questions))
    code, stdout, stderr = room("eval", file, "--graph", "room", "--out", tmp_path / "sub/p.jsonl", "--limit", "4")
    assert (code, stdout) == (0, ""), stderr
    records = [json.loads(line) for line in (tmp_path / "sub/p.jsonl").read_text().splitlines()]
    assert [record["id"] for record in records] == ["b", "x", "a", 4]
    assert [record["values"] for record in records] == [["Tomas Brill"], [], [540], [6]]
    assert [record["turn"] for record in records][::2] == [2, 1]
    assert (records[1]["status"], records[1]["question"]) == ("failed", "")
    assert "4/4 4 answered" in stderr
    assert set(records[1]) == set(records[0])


def test_eval_does_not_overwrite_its_questions(room, tmp_path):
    file = tmp_path / "q.jsonl"
    file.write_text('{"question": "How many books are there?"}\n')
    code, _, stderr = room("eval", file, "--out", file)
    assert code == 2
    assert "is the file of questions" in stderr
    assert file.read_text()


def test_eval_of_an_unknown_graph_asks_nothing(room, tmp_path):
    file = tmp_path / "q.jsonl"
    file.write_text('{"question": "How many books are there?"}\n{"question": "And authors?", "graph": "rom"}\n')
    code, _, stderr = room("eval", file, "--graph", "room", "--out", tmp_path / "p.jsonl")
    assert code == 2
    assert "'rom'" in stderr
    assert (tmp_path / "p.jsonl").read_text() == ""


def test_the_doctor_finds_all_well(room):
    assert room("index")[0] == 0
    code, stdout, stderr = room("doctor")
    assert code == 0, stderr
    assert {line.split()[1] for line in stdout.splitlines()} == {
        "python", "data", "embedder", "model", "qdrant", "graph", "port",
    }  # fmt: skip


def test_the_doctor_checks_the_server_of_tables(room, tmp_path):
    [version] = (tmp_path / "data/room/versions").iterdir()
    # as if they had been written to a server, which is down
    place = ServerPlace("postgresql+psycopg://reader@127.0.0.1:9/x", "nacre_room", {"entity": {"id": "integer"}})
    write_place(version, place)
    code, stdout, _ = room("doctor")
    [line] = [line for line in stdout.splitlines() if line.split()[1] == "graph"]
    assert code == 1
    assert line.startswith("attention")
    assert "127.0.0.1:9/x, which does not answer. Next: start the server" in line


def test_the_doctor_checks_what_several_servers_share(room, monkeypatch, tmp_path):
    def of(database, store):
        monkeypatch.setenv("NACRE_DATABASE_URL", database)
        monkeypatch.setenv("NACRE_GRAPHS", store)
        code, stdout, _ = room("doctor")
        lines = [line for line in stdout.splitlines() if line.split()[1] in ("database", "store")]
        return code, lines

    (tmp_path / "store").mkdir()
    code, lines = of(f"sqlite:///{tmp_path}/state.sqlite", f"file://{tmp_path}/store")
    assert [line.split()[0] for line in lines] == ["ok", "ok"]
    code, lines = of("postgresql://kim:s3cret@127.0.0.1:9/x", f"file://{tmp_path}/none")
    assert code == 1
    assert [line.split()[0] for line in lines] == ["attention", "attention"]
    assert "does not answer). Next: start its server" in lines[0]
    assert "does not exist. Next: create the bucket or folder" in lines[1]
    assert "s3cret" not in "".join(lines)
    assert of("nowhere", "s4://bucket")[0] == 1


def test_the_doctor_names_what_is_broken_and_what_to_do(room, monkeypatch, tmp_path):
    monkeypatch.setenv("NACRE_EMBEDDER", "no/such-embedder")
    monkeypatch.setenv("NACRE_QDRANT_URL", "http://127.0.0.1:9")
    (tmp_path / "data/room/current").write_text("half a")
    code, stdout, _ = room("doctor")
    attention = [line for line in stdout.splitlines() if line.startswith("attention")]
    assert code == 1
    for about in ("embedder", "qdrant", "graph"):
        assert any(line.split()[1] == about and ". Next: " in line for line in attention), stdout


def test_revoking_the_last_key_says_how_to_get_in_again(nacre, tmp_path):
    for name in ("ann", "bo"):
        assert nacre("keys", "add", name)[0] == 0
    assert nacre("keys", "revoke", "ann")[2] == ""
    told = nacre("keys", "revoke", "bo")[2]
    assert "keys add NAME" in told
    assert str(tmp_path / "data/keys.json") in told
