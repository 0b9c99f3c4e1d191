"""Proposals of schema completion: a class or an attribute that texts state and the schema lacks."""

from dataclasses import dataclass
from typing import Literal

from nacre.records.extracted import ExtractedTriple


@dataclass(frozen=True)
class Proposal:
    """A class, or an attribute of the class `domain`, that texts state and the schema lacks.

    `relations` are the extracted relations that express it, `label` among them. `priority` is that of equation 7 at
    its medoid, as sign(Pr) log(1 + |Pr|). `key` is set if the property exists and only lacks these facts.
    """

    kind: Literal["class", "attribute"]
    domain: str
    label: str
    relations: tuple[str, ...]
    instances: tuple[ExtractedTriple, ...]
    priority: float
    key: str = ""

    @property
    def support(self) -> int:
        """How many subjects have it."""
        return len({each.subject_key or each.subject for each in self.instances})
