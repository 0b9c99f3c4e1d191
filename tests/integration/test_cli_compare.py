"""`nacre compare` over a small graph: each configuration asked once, the gold read at the end."""

import json
from pathlib import Path

import pytest

from nacre.serving.cli.main import main


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
