"""`nacre compare` over a small graph: each configuration asked once, the gold read at the end."""

import json
from pathlib import Path

import pytest

from nacre.serving.cli.main import main
from tests.support.model_servers import Reply, openai_server


def test_configurations_are_asked_and_compared(
    kitchen: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NACRE_DATA", str(kitchen))
    monkeypatch.setenv("NACRE_EMBEDDER", "none")
    monkeypatch.chdir(tmp_path)
    asked = {"id": 1, "question": "which dishes contain rice", "answers": ["pilaf", "rice porridge"]}
    questions = tmp_path / "questions.jsonl"
    questions.write_text(json.dumps(asked) + "\n")
    assert main(["compare", str(questions), "--graph", "kitchen", "--configurations", "sql,sparql,all"]) == 0
    told = capsys.readouterr().out
    assert "all: sql, lexical, sparql" in told
    assert told.count("100.0%") >= 3
    folder = tmp_path / "comparison"
    assert {file.name for file in folder.iterdir()} == {
        "all.jsonl", "comparison.csv", "comparison.svg", "sparql.jsonl", "sql.jsonl"
    }  # fmt: skip
    record = json.loads((folder / "sparql.jsonl").read_text())
    assert (record["values"], record["enabled"]) == (["pilaf", "rice porridge"], ["sparql"])


@pytest.mark.parametrize(
    ("configurations", "said"),
    [("sql,nothing", "No configuration named 'nothing'"), ("", "No configuration named ''")],
)
def test_wrong_configurations_are_bad_input(
    kitchen: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    configurations: str, said: str,
) -> None:  # fmt: skip
    monkeypatch.setenv("NACRE_DATA", str(kitchen))
    questions = tmp_path / "questions.jsonl"
    questions.write_text(json.dumps({"question": "?"}) + "\n")
    assert main(["compare", str(questions), "--graph", "kitchen", "--configurations", configurations]) == 2
    assert said in capsys.readouterr().err


def test_questions_are_translated_and_compared_with_gold_queries(
    kitchen: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NACRE_DATA", str(kitchen))
    monkeypatch.setenv("NACRE_EMBEDDER", "none")
    rice = "SELECT ?d { ?d kitchen:contains kitchen:rice }"
    truth = "ASK { kitchen:dal kitchen:contains kitchen:rice }"
    challenge = [
        {"id": 1, "question": {"en": "which dishes contain rice", "de": "hoo ha?"}, "query": {"sparql": rice}},
        {"id": 2, "question": {"en": "does the pilaf contain rice?"}, "query": {"sparql": truth}},
    ]
    file = tmp_path / "questions.yaml"
    file.write_text(json.dumps({"questions": challenge}))
    assert main(["eval", str(file), "--graph", "kitchen", "--out", str(tmp_path / "out.jsonl"), "--text2sparql"]) == 0
    report = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    assert report == [
        ["en", "2", "2", "1", "50.0%"],
        ["de", "1", "0", "0", "0.0%"],
        ["together", "3", "2", "1", "33.3%"],
    ]
    records = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [(record["language"], record["f1"]) for record in records] == [("en", 1.0), ("de", 0.0), ("en", 0.0)]
    file.write_text(json.dumps([{"question": {"en": "which?"}}]))
    assert main(["eval", str(file), "--graph", "kitchen", "--out", str(tmp_path / "out.jsonl"), "--text2sparql"]) == 2
    assert "question 1 has no gold 'query'" in capsys.readouterr().err


ALONE = ("which dishes contain rice", "and which of them is quick")


def test_the_model_alone_is_asked_once_and_scored_beside_nacre(
    kitchen: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NACRE_DATA", str(kitchen))
    monkeypatch.setenv("NACRE_EMBEDDER", "none")
    monkeypatch.delenv("NACRE_FORBID_MODELS", raising=False)
    monkeypatch.chdir(tmp_path)
    questions = tmp_path / "questions.jsonl"
    gold = [{"id": n, "question": text, "answers": ["pilaf"], "conversation": "c"} for n, text in enumerate(ALONE)]
    questions.write_text("".join(json.dumps(each) + "\n" for each in gold))
    command = ["compare", str(questions), "--graph", "kitchen", "--configurations", "sql", "--reasoner", "rules"]
    sql = "SELECT label FROM entity WHERE label = 'pilaf'"
    with openai_server(*[Reply(json.dumps({"sql": sql}))] * 2) as server:
        monkeypatch.setenv("NACRE_MODEL", "openai:any")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        assert main([*command, "--alone"]) == 0
        asked, following = server.asked
    assert f"Question: {ALONE[0]}\nAnswer: " in following["messages"][-1]["content"]
    lines = {line.split()[0]: line.split() for line in capsys.readouterr().out.splitlines() if " all " in line}
    assert (lines["alone"][3], lines["sql"][3]) == ("100.0%", "0.0%")
    sent = "".join(message["content"] for message in asked["messages"])
    assert "CREATE TABLE dish" in sent
    assert "<readings>" not in sent
    record = json.loads((tmp_path / "comparison/alone.jsonl").read_text().splitlines()[0])
    assert (record["values"], record["llm_calls"]) == (["pilaf"], 1)
