"""Command names in hints: "nacre ask" -> the same command with the program name that this process was started with."""

import os
import re
import shutil
import sys
from pathlib import Path

# a command in a sentence, as opposed to a file, an option or the name of the project
_COMMAND = re.compile(
    r"(?<![\w./'\-])nacre (?=(?:ingest|attach|graphs|report|export|remove|index|doctor|ask|chat|serve|mcp|keys|model"
    r"|eval|calibrate|extract|complete|compare|--\w+)\b)"
)


def adapt_commands(text: str) -> str:
    """The text with commands that work even if `nacre` is not on the PATH.

    >>> adapt_commands("No graph. Run: nacre ingest FILE.ttl") == f"No graph. Run: {program_command()} ingest FILE.ttl"
    True
    """
    return _COMMAND.sub(lambda _: f"{program_command()} ", text)


def program_command() -> str:
    """The command of this program: `nacre` if it is on the PATH, else its path, or `python -m nacre`."""
    script = Path(sys.argv[0] if sys.argv else "")
    if script.name == "__main__.py" and script.parent.name == "nacre":
        return f"{_shell_name(sys.executable, 'python')} -m nacre"
    return _shell_name(str(script), "nacre") if script.stem == "nacre" and script.is_file() else "nacre"


def _shell_name(path: str, name: str) -> str:
    """The name of a program on the PATH, else its path, relative if it is below the working directory."""
    # not resolved: a virtual environment's Python is a link to one without its packages
    absolute, on_path = os.path.abspath(path), shutil.which(name)
    if on_path and os.path.abspath(on_path) == absolute:
        return name
    relative = os.path.relpath(absolute)
    return absolute if relative.startswith(os.pardir) else relative
