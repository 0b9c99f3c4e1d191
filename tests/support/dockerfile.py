"""The parts of Docker's files that the tests replay: Dockerfile -> stages, .dockerignore -> the files that are sent."""

import json
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple


class Instruction(NamedTuple):
    """An instruction, such as COPY, and its arguments as they are written."""

    name: str
    arguments: str

    @property
    def words(self) -> list[str]:
        """The words of the exec form, else those between spaces."""
        if self.arguments.startswith("["):
            words: list[str] = json.loads(self.arguments)
            return words
        return self.arguments.split()


class Stage(NamedTuple):
    """A stage: the image or stage that it starts from, and its instructions."""

    base: str
    instructions: tuple[Instruction, ...]


def read_stages(text: str) -> dict[str, Stage]:
    """The stages of a Dockerfile by name, in order; the last one is built by default."""
    stages: dict[str, Stage] = {}
    name = ""
    lines = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    for line in re.sub(r"\\\n\s*", "", lines).splitlines():
        if not line.strip():
            continue
        instruction = Instruction(*line.strip().split(maxsplit=1))
        if instruction.name == "FROM":
            base, _, name = instruction.arguments.partition(" AS ")
            stages[name] = Stage(base, ())
        else:
            stages[name] = stages[name]._replace(instructions=(*stages[name].instructions, instruction))
    return stages


def stage_chain(stages: dict[str, Stage], name: str) -> list[str]:
    """The stages that a stage starts from, first to last, and the stage itself."""
    base = stages[name].base
    return [*(stage_chain(stages, base) if base in stages else []), name]


def sent_files(root: Path, ignore: str) -> Iterator[str]:
    """The files of a folder that Docker sends, by the patterns of .dockerignore: the last that matches a path or one of
    its folders decides."""
    patterns = [line.strip() for line in ignore.splitlines() if line.strip() and not line.startswith("#")]
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_file() and not _is_ignored(name, patterns):
            yield name


def _is_ignored(name: str, patterns: list[str]) -> bool:
    parts = name.split("/")
    paths = ["/".join(parts[: i + 1]) for i in range(len(parts))]
    ignored = False
    for pattern in patterns:
        if any(_matches(path, pattern.removeprefix("!").strip("/")) for path in paths):
            ignored = not pattern.startswith("!")
    return ignored


def _matches(path: str, pattern: str) -> bool:
    """Whether a pattern names a path; `*` stays in one folder, a leading `**/` means any folder."""
    parts, wanted = path.split("/"), pattern.split("/")
    if wanted[0] == "**":
        return any(_matches("/".join(parts[i:]), "/".join(wanted[1:])) for i in range(len(parts)))
    return len(parts) == len(wanted) and all(map(fnmatchcase, parts, wanted))
