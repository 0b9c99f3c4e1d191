"""Snippets of README and docs: a Markdown document -> its blocks of code, and commands with their shown output."""

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
DOCUMENTS = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))
LANGUAGES = {"console": "shell", "sh": "shell", "shell": "shell", "bash": "shell", "js": "javascript"}
# blocks whose output may follow
PRINTING = ("shell", "python", "javascript")
# where a block does not name its language
SHELL = re.compile(r"(?:\.venv/bin/)?(?:nacre|pip|pipx|uvx|uv|make|python|docker|npx|npm|curl|mv|cd)\s|[A-Z_]+=\S* ?")
PYTHON = re.compile(r"from \w+(?:\.\w+)* import |import \w+")
# a line of shown output that stands for any lines
LEFT_OUT = "..."
# what differs from run to run: seconds, versions of a graph, keys, ports
VOLATILE = (
    (re.compile(r"\d[\d.,]* (?:s|seconds)\b"), "0 s"),
    (re.compile(r"\bversion \d{8}T\d{6}\S*"), "version V"),
    (re.compile(r"nacre_[A-Za-z0-9_-]{20,}"), "KEY"),
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:0"),
)


class Snippet(NamedTuple):
    """A block of code: `language` is shell, python, javascript, chat (what is typed into `nacre chat`), else its own
    name or "text". `line` is the number of its first line. `saved` is the file that its reader saves it as. `output` is
    what a following block of `text` says it prints, None without one."""

    document: Path
    line: int
    language: str
    text: str
    saved: str = ""
    output: str | None = None

    @property
    def place(self) -> str:
        return f"{self.document.relative_to(ROOT)}:{self.line}"


class Command(NamedTuple):
    """A command, the lines that are typed into it, and what it is shown to print with them (None: nothing is shown)."""

    text: str
    typed: tuple[str, ...] = ()
    shown: str | None = None


def read_snippets(document: Path) -> list[Snippet]:
    """The blocks of a document in order, fenced or indented."""
    found: list[Snippet] = []
    lines = document.read_text(encoding="utf-8").splitlines()
    for number, named, text in _blocks(lines):
        language = LANGUAGES.get(named, named) or _language(text)
        before = next(
            (line for line in reversed(lines[: number - 1]) if line.strip() and not line.startswith("```")), ""
        )
        if named == "text" and before == "prints" and found and found[-1].language in PRINTING:
            found[-1] = found[-1]._replace(output=text)
            continue
        saved = re.search(r"(?:Save this as|Write) `([^`]+)`", before)
        found.append(Snippet(document, number, language, text, saved[1] if saved else ""))
    return found


def _blocks(lines: list[str]) -> Iterator[tuple[int, str, str]]:
    """The number of the first line of code, the named language and the text of each block."""
    at = 0
    while at < len(lines):
        if lines[at].startswith("```"):
            end = next(i for i in range(at + 1, len(lines)) if lines[i].startswith("```"))
            yield at + 2, lines[at][3:].strip(), "\n".join(lines[at + 1 : end])
            at = end + 1
        elif lines[at].startswith("    ") and not (at and lines[at - 1].strip()):
            end = at
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                end += 1
            yield at + 1, "", textwrap.dedent("\n".join(lines[at:end])).rstrip()
            at = end
        else:
            at += 1


def _language(text: str) -> str:
    if text.startswith("> "):
        return "chat"
    if PYTHON.match(text):
        return "python"
    return "shell" if SHELL.match(text) else "text"


def read_commands(snippet: Snippet) -> Iterator[Command]:
    """The commands of a shell snippet: those after `$ `, with what follows as their output, else all lines. Comments
    are left out, and lines that end in a backslash go on in the next one."""
    text = re.sub(r" *\\\n *", " ", snippet.text)
    if not text.startswith("$ "):
        commands = [re.sub(r"(?:^|\s+)#(?![^']*').*$", "", line).strip() for line in text.splitlines()]
        commands = [command for command in commands if command]
        for command in commands:
            yield Command(command, (), snippet.output if command == commands[-1] else None)
        return
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.strip().partition("\n")
        typed = tuple(line.removeprefix("> ") for line in shown.splitlines() if line.startswith("> "))
        yield Command(command, typed, shown or snippet.output)


def output_differences(shown: str, printed: str) -> str:
    """What of the output is not shown or not printed, "" if they agree up to volatile parts, spaces and the width of
    lines. A line "..." stands for any lines."""
    parts = [_stable(part) for part in re.split(rf"^{re.escape(LEFT_OUT)}$", shown, flags=re.MULTILINE)]
    pattern = r"(?:.* )?".join(re.escape(part) + (r"(?: |$)" if part else "") for part in parts)
    output = _stable(printed)
    if re.fullmatch(pattern.rstrip() or "", output) or re.fullmatch(pattern, f"{output} "):
        return ""
    return f"shown:\n{shown}\nprinted:\n{printed}"


def _stable(text: str) -> str:
    for volatile, instead in VOLATILE:
        text = volatile.sub(instead, text)
    return " ".join(text.split())
