"""What an ingest left out: statements and files that can't be read, each with its place and the reason."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

Kind = Literal["statement", "file", "not RDF"]

MOST_LISTED = 1000


class Omission(NamedTuple):
    """`line` is 0 where it is not known or the whole file is meant; `statements` counts what one line stands for."""

    kind: Kind
    file: str
    line: int = 0
    text: str = ""
    reason: str = ""
    statements: int = 1

    @property
    def words(self) -> str:
        """One line for a person."""
        line = f", line {self.line}" if self.line else ""
        text = f": {self.text}" if self.text else ""
        more = f" ({self.statements} statements)" if self.statements > 1 else ""
        return f"{self.file}{line}{text}: {self.reason}{more}"


@dataclass(frozen=True)
class Omissions:
    """`listed` are the first of each kind; `statements`, `files`, `other_files` (no RDF) count all."""

    listed: tuple[Omission, ...] = ()
    statements: int = 0
    files: int = 0
    other_files: int = 0


NOTHING = Omissions()


def omissions(found: Iterable[Omission]) -> Omissions:
    """Count what was left out and list the first `MOST_LISTED` of each kind.

    >>> omissions([Omission("statement", "a.nt", 3, "x", "no triple", 2)]).statements
    2
    """
    counts: dict[Kind, int] = {"statement": 0, "file": 0, "not RDF": 0}
    listed: dict[Kind, list[Omission]] = {kind: [] for kind in counts}
    for each in found:
        counts[each.kind] += each.statements
        if len(listed[each.kind]) < MOST_LISTED:
            listed[each.kind].append(each)
    every = tuple(each for kind in listed.values() for each in kind)
    return Omissions(every, counts["statement"], counts["file"], counts["not RDF"])
