"""The commands that hints name: `nacre ask` -> the same command as this process was started."""

import os
import re
import shutil
import sys
from pathlib import Path

# a command in a sentence: not a file, an option or the name of the project
_COMMAND = re.compile(
    r"(?<![\w./'\-])nacre (?=(?:ingest|attach|graphs|report|export|remove|index|doctor|ask|chat|serve|mcp|keys|model"
    r"|eval|calibrate|extract|complete|compare|--\w+)\b)"
)


def adapt_commands(text: str) -> str:
    """Hints whose commands work here, whether `nacre` is on the PATH or not.

    >>> adapt_commands("No graph. Run: nacre ingest FILE.ttl") == f"No graph. Run: {program_command()} ingest FILE.ttl"
    True
    """
    return _COMMAND.sub(lambda _: f"{program_command()} ", text)


def program_command() -> str:
    """How to start this program once more: `nacre` where the PATH has it, else its path, or `python -m nacre`."""
    called = Path(sys.argv[0] if sys.argv else "")
    if called.name == "__main__.py" and called.parent.name == "nacre":
        return f"{_shown(sys.executable, 'python')} -m nacre"
    return _shown(str(called), "nacre") if called.stem == "nacre" and called.is_file() else "nacre"


def _shown(path: str, name: str) -> str:
    """The name of a program that the PATH has, else its path, from the working directory where it lies in it."""
    # not resolved: the Python of an environment is a link to another one, without its packages
    there, found = os.path.abspath(path), shutil.which(name)
    if found and os.path.abspath(found) == there:
        return name
    near = os.path.relpath(there)
    return there if near.startswith(os.pardir) else near
