"""Prompts from files: name + values -> text. A `$blank` without a value is an error."""

from functools import cache
from pathlib import Path
from string import Template

FOLDER = Path(__file__).parent / "prompts"


def prompt(name: str, **blanks: str) -> str:
    """The text of `prompts/<name>.md` with every `$blank` filled."""
    return _template(name).substitute(blanks)


def read_prompts() -> None:
    """Read all prompts now, so that no turn reads a file on the event loop."""
    for file in FOLDER.glob("*.md"):
        _template(file.stem)


@cache
def _template(name: str) -> Template:
    return Template((FOLDER / f"{name}.md").read_text("utf-8").strip())
