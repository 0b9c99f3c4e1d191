"""docs/tutorial.md: its files are written, its commands run, and what it shows is what they print."""

import io
import re
import shlex
from pathlib import Path

import pytest

from nacre.serving.cli.main import main

TEXT = (Path(__file__).parents[2] / "docs/tutorial.md").read_text()
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
SAVED = re.compile(r"Save this as `([^`]+)`")
# these install, fetch or serve
ELSEWHERE = (
    "cd",
    "mkdir",
    "pip",
    "curl",
    "nacre --install-completion",
    "nacre model",
    "nacre serve",
    "NACRE_MODEL=local",
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder with the files that the tutorial has its reader save."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NACRE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("NACRE_EMBEDDER", "none")
    for name, after in ((found[1], TEXT[found.end() :]) for found in SAVED.finditer(TEXT)):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        block = BLOCK.search(after)
        assert block is not None
        file.write_text(block[2])
    return tmp_path


def commands():
    """Each command with the lines that it is shown to print."""
    for kind, block in BLOCK.findall(TEXT):
        if kind == "console":
            for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command, *shown = part.strip().split("\n")
                yield command, shown


def test_the_tutorial_does_what_it_shows(folder, monkeypatch, capfd):
    run = 0
    for command, shown in commands():
        if command.startswith(ELSEWHERE):
            continue
        words = shlex.split(command)[1:]
        at = next((i for i, word in enumerate(words) if "*" in word), None)
        if at is not None:
            words[at : at + 1] = [str(file) for file in folder.glob(words[at])]
        typed = [line.removeprefix("> ") for line in shown if line.startswith("> ")]
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in typed)))
        assert main(words) == 0, command
        printed = capfd.readouterr().out
        assert [line for line in shown if line not in printed] == [], command
        run += 1
    assert run > 8
    assert "Brook Plot" in (folder / "talk.md").read_text()
