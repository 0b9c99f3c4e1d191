"""Find distinctive IRI segments of the things in a table: texts -> words for each table."""

import re
from collections import Counter
from typing import TYPE_CHECKING
from urllib.parse import unquote

import numpy as np

from ingestion.induce.names.column_names import readable_name
from nacre.language.base import word_list

if TYPE_CHECKING:
    from numpy.typing import NDArray

MIN_SHARED = 0.8
_SAMPLE = 500
_HEAD = re.compile(r"(?:.*?://)?(.*[/#?])", re.DOTALL)


def distinctive_segments(texts: list[str], table_of: "NDArray[np.int32]", tables: int) -> dict[int, list[str]]:
    """For each table the words of the innermost IRI segment that most members share and other things lack."""
    found: dict[int, Counter[str]] = {}
    everywhere: Counter[str] = Counter()
    seen = 0
    for index in range(tables):
        members = np.flatnonzero(table_of == index)
        members = members[:: max(1, len(members) // _SAMPLE)]
        here: Counter[str] = Counter()
        deepest: Counter[str] = Counter()
        for head, count in Counter(_head(texts[number]) for number in members.tolist()).items():
            segments = _segments_of(head)
            here.update(dict.fromkeys(segments, count))
            deepest.update(dict.fromkeys(segments[-1:], count))
        seen += len(members)
        everywhere.update(here)
        found[index] = Counter({s: n for s, n in deepest.items() if n >= MIN_SHARED * len(members)})
    common = {s for s, n in everywhere.items() if n >= 0.95 * seen}
    return {
        i: [readable_name(s).lower() for s in sorted(f) if s not in common and readable_name(s)]
        for i, f in found.items()
    }


def _head(iri: str) -> str:
    """An IRI without scheme and local name; the whole IRI if it has escapes, which may hide the end."""
    found = None if "%" in iri else _HEAD.match(iri)
    return found[1] if found else iri.partition("://")[2] or iri


def _segments_of(head: str) -> list[str]:
    """The path segments of an IRI without authority and local name."""
    parts = re.split(r"[/#?]", unquote(head, errors="replace"))[1:-1]
    return [
        part for part in parts if part and not part.isdigit() and part.lower() not in word_list("wording", "segments")
    ]
