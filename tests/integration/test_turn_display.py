"""What the command line prints besides the answer's own words: drawn tables, hints, the address of a model."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from nacre.config.models import model_address
from nacre.config.settings import Settings
from nacre.serving.cli.turn_display import AnswerWriter, adapt_commands, note_lines, program_command

ROOT = Path(__file__).parents[2]
SAID = "Two books [1]:\n\n| Book | Pages |\n| --- | --- |\n| [red]Ash[/red] \\| Oak | 9 |\n| Elm | 1,204 |"


def tokens(text):
    """Cut as an answer streams, and once within a row."""
    return [text[start : start + 7] for start in range(0, len(text), 7)]


def test_a_table_is_drawn_on_a_terminal(capsys):
    drawn = AnswerWriter(draws_tables=True)
    for token in tokens(f"{SAID}\n\nOr two [2]?"):
        drawn.write(token)
    drawn.finish()
    lead, _, head, rule, first, second, _, last = capsys.readouterr().out.splitlines()
    assert (lead, last) == ("Two books [1]:", "Or two [2]?")
    assert head.split() == ["Book", "Pages"]
    assert set(rule.strip()) == {"─"}
    assert first.rstrip().endswith("9")
    assert "[red]Ash[/red] | Oak" in first
    assert len(first.rstrip()) == len(second.rstrip())


def test_an_answer_may_end_with_its_table(capsys):
    drawn = AnswerWriter(draws_tables=True)
    drawn.write(SAID)
    drawn.finish()
    assert capsys.readouterr().out.splitlines()[-1].split() == ["Elm", "1,204"]


def test_elsewhere_the_text_is_the_answer(capsys):
    drawn = AnswerWriter(draws_tables=False)
    for token in tokens(SAID):
        drawn.write(token)
    drawn.finish()
    assert capsys.readouterr().out == f"{SAID}\n"


@pytest.fixture
def environment(tmp_path, monkeypatch):
    """A folder with an environment in it whose programs are not on the PATH."""
    scripts = tmp_path / ".venv/bin"
    scripts.mkdir(parents=True)
    for name in ("nacre", "python"):
        (scripts / name).write_text("#!/bin/sh\n")
        (scripts / name).chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/usr/bin")
    monkeypatch.setattr(sys, "executable", str(scripts / "python"))
    return scripts


def test_hints_name_the_program_as_it_was_started(environment, monkeypatch):
    monkeypatch.setattr(sys, "argv", [str(environment / "nacre"), "ask"])
    assert (
        adapt_commands("Run: nacre ask 'x', then nacre serve.")
        == "Run: .venv/bin/nacre ask 'x', then .venv/bin/nacre serve."
    )
    assert adapt_commands("pip install nacre, nacre is there") == "pip install nacre, nacre is there"
    assert adapt_commands("Run: pip install 'nacre[xlsx]'") == "Run: .venv/bin/python -m pip install 'nacre[xlsx]'"
    assert adapt_commands("see data/nacre ask") == "see data/nacre ask"
    monkeypatch.setenv("PATH", str(environment))
    assert program_command() == "nacre"
    monkeypatch.setattr(sys, "argv", ["/anywhere/nacre/__main__.py", "ask"])
    assert program_command() == "python -m nacre"
    monkeypatch.setenv("PATH", "/usr/bin")
    assert program_command() == ".venv/bin/python -m nacre"
    monkeypatch.setattr(sys, "argv", ["my_script.py"])
    assert program_command() == "nacre"


def test_python_runs_the_package(tmp_path):
    command = [sys.executable, "-m", "nacre", "ask", "How many?", "--graph", "none"]
    surroundings = {"PYTHONPATH": str(ROOT), "NACRE_DATA": str(tmp_path), "PATH": "/usr/bin"}
    done = subprocess.run(command, capture_output=True, text=True, env=surroundings, cwd=tmp_path)
    assert done.returncode == 2
    assert f"Run: {sys.executable} -m nacre ingest FILE.ttl --graph none" in done.stderr


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, ""),
        ({"model": "local:a.gguf"}, ""),
        ({"model": "openai:m"}, "https://api.openai.com"),
        ({"model": "openai:m", "openai_base_url": "http://10.0.0.7:8080/v1"}, "http://10.0.0.7:8080/v1"),
        ({"model": "openai:m", "openai_base_url": "https://ann:pw@[::1]:9/v1?key=s#t"}, "https://[::1]:9/v1"),
        ({"model": "ollama:m"}, "http://127.0.0.1:11434"),
        ({"model": "ollama:m", "ollama_host": "ann:pw@box:11434"}, "box:11434"),
    ],
)
def test_the_address_of_a_model_holds_no_secret(settings, expected):
    assert model_address(Settings(**settings)) == expected


def test_a_note_of_a_failing_model_names_its_address():
    record: Any = {"status": "answered", "answer": "x", "reason": None, "caveats": []}
    record["by"] = {"sql": "rules after model: no answer within 3 s", "fuser": "rules"}
    assert note_lines(record, "http://10.0.0.7:8080/v1") == [
        "Note: sql by rules after model: no answer within 3 s (the model is at http://10.0.0.7:8080/v1)"
    ]
    assert note_lines(record) == ["Note: sql by rules after model: no answer within 3 s"]


def test_notes_are_in_the_language_of_the_turn():
    record: Any = {"status": "partial", "answer": "x", "reason": None, "by": {}, "caveats": ["Nur 3 Zeilen."]}
    record |= {"language": "de", "unclear": ["klirrt"], "question": "Was klirrt?", "graph": "g"}
    record["derivation"] = {"depends": False}
    note, teach = note_lines(record)
    assert (note, teach.split(":")[0]) == ("Hinweis: Nur 3 Zeilen.", "Zum Beibringen von “klirrt”")
    assert note_lines(record | {"language": "en"})[0] == "Note: Nur 3 Zeilen."
