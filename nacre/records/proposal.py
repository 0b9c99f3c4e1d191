"""What completion proposes to add to the shown schema."""

from dataclasses import dataclass
from typing import Literal

from nacre.records.extracted import ExtractedTriple


@dataclass(frozen=True)
class Proposal:
    """A class, or an attribute of the class `domain`, that texts tell of and the schema lacks.

    `relations` are the relations that say it, `label` among them; `priority` is that of equation 7 at its medoid, as
    sign(Pr) log(1 + |Pr|); `key` is set where the property is there and only lacks these facts.
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
        """How many things it is said of."""
        return len({each.subject_key or each.subject for each in self.instances})
