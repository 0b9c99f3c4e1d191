import re
import shlex
from pathlib import Path

import pytest
import typer.main

from nacre.serving.cli.main import app

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
MAKE = re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
SETTING = re.compile(r"NACRE_[A-Z][A-Z_]*[A-Z]")


def typed(document: Path) -> list[str]:
    """The lines of indented and fenced blocks, and the short commands between backticks."""
    text = document.read_text()
    lines = [line.strip() for line in text.splitlines() if line.startswith(("    ", "\t"))]
    for block in re.findall(r"```\w*\n(.*?)```", text, re.DOTALL):
        lines.extend(line.strip() for line in block.splitlines())
    lines.extend(re.findall(r"`([^`\n]+)`", text))
    return [line.removeprefix("$ ").removeprefix(".venv/bin/") for line in lines]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_make_target_exists(document):
    used = {line.split()[1] for line in typed(document) if re.match(r"make [a-z]", line)}
    assert used - set(MAKE) == set()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_nacre_command_and_option_exists(document):
    program = typer.main.get_command(app)
    commands, of_all = program.commands, {option for parameter in program.params for option in parameter.opts}  # type: ignore[attr-defined]
    unknown = []
    for line in typed(document):
        if not line.startswith("nacre "):
            continue
        words = shlex.split(line.split("#")[0], comments=True)
        if words[1] in of_all:
            continue
        if words[1] not in commands:
            unknown.append(line)
            continue
        command = commands[words[1]]
        if words[2:] and words[2] in getattr(command, "commands", {}):
            command = command.commands[words[2]]
        options = {option for parameter in command.params for option in parameter.opts} | {"--help"}
        unknown.extend(
            f"{line}: {word}" for word in words if word.startswith("--") and word.split("=")[0] not in options
        )
    assert unknown == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_setting_exists(document):
    from nacre.config.settings import Settings

    # NACRE_CHAT_UI is for the tests alone
    known = {"NACRE_CHAT_UI"} | {f"NACRE_{field.upper()}" for field in Settings.model_fields}
    assert set(SETTING.findall(document.read_text())) - known == set()
