"""What an ingest left out: unreadable statements and files, each with its place and the reason."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

OmissionKind = Literal["statement", "file", "not RDF"]

MAX_LISTED_OMISSIONS = 1000


class Omission(NamedTuple):
    """One omission. `line` is 0 if it is unknown or the whole file is meant; `statements` counts merged omissions."""

    kind: OmissionKind
    file: str
    line: int = 0
    text: str = ""
    reason: str = ""
    statements: int = 1

    @property
    def words(self) -> str:
        """One line of text for the user."""
        line = f", line {self.line}" if self.line else ""
        text = f": {self.text}" if self.text else ""
        more = f" ({self.statements} statements)" if self.statements > 1 else ""
        return f"{self.file}{line}{text}: {self.reason}{more}"


@dataclass(frozen=True)
class Omissions:
    """`listed` has the first omissions of each kind; `statements`, `files`, `other_files` (not RDF) count all."""

    listed: tuple[Omission, ...] = ()
    statements: int = 0
    files: int = 0
    other_files: int = 0


NO_OMISSIONS = Omissions()


def count_omissions(found: Iterable[Omission]) -> Omissions:
    """Count omissions, and list the first `MAX_LISTED_OMISSIONS` of each kind.

    >>> count_omissions([Omission("statement", "a.nt", 3, "x", "no triple", 2)]).statements
    2
    """
    counts: dict[OmissionKind, int] = {"statement": 0, "file": 0, "not RDF": 0}
    listed: dict[OmissionKind, list[Omission]] = {kind: [] for kind in counts}
    for each in found:
        counts[each.kind] += each.statements
        if len(listed[each.kind]) < MAX_LISTED_OMISSIONS:
            listed[each.kind].append(each)
    every = tuple(each for kind in listed.values() for each in kind)
    return Omissions(every, counts["statement"], counts["file"], counts["not RDF"])
