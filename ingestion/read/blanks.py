"""Name blank nodes by what they say, so that the same graph gets the same names: Facts -> names in `texts`."""

from collections import Counter
from hashlib import blake2b
from typing import TYPE_CHECKING

from ingestion.read.capsules import Facts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Each round lets a node see one link further; what is still equal then is told apart by its order in the file.
ROUNDS = 5
LENGTH = 8  # bytes for the length of a text


def name_blanks(facts: Facts) -> None:
    """Replace the labels of blank nodes by a hash of their facts and of the neighbours' hashes, in bounded time."""
    import numpy as np

    blank = facts.kinds("blank")
    if not blank.any():
        return
    rows = np.flatnonzero(blank[facts.subject] | blank[facts.object])
    columns = [column[rows] for column in (facts.subject, facts.predicate, facts.object)]
    said = [(p, _part(facts.texts[p].encode())) for p in np.unique(columns[1]).tolist()]
    out, back = ({p: _part(way) + text for p, text in said} for way in (b">", b"<"))
    edges = list(zip(*(column.tolist() for column in columns), strict=True))
    nodes = np.flatnonzero(blank).tolist()
    # all are kept as they go into the next hash: with their lengths before them
    names = dict.fromkeys(nodes, _part(b""))
    ends = np.unique(np.concatenate((columns[0], columns[2])))
    fixed = _fixed(facts, ends[~blank[ends]])
    distinct = 1
    for _ in range(ROUNDS):
        seen: dict[int, list[bytes]] = {node: [] for node in nodes}
        known = fixed | names
        for s, p, o in edges:
            if s in names:
                seen[s].append(_hash(out[p] + known[o]))
            if o in names:
                seen[o].append(_hash(back[p] + known[s]))
        names = {node: _hash(b"".join((names[node], *sorted(seen[node])))) for node in nodes}
        now = len(set(names.values()))
        if now == distinct or now == len(nodes):
            break
        distinct = now
    count: Counter[bytes] = Counter()
    for node in nodes:
        name = names[node][LENGTH:]
        count[name] += 1
        facts.texts[node] = f"_:b{name.hex()}" if count[name] == 1 else f"_:b{name.hex()}x{count[name]}"


def _fixed(facts: Facts, numbers: "NDArray[np.int32]") -> dict[int, bytes]:
    """The hashes of terms that are no blank nodes, by their numbers: of kind, text, datatype and language."""
    around = [(_part(kind.encode()), _said(datatype) + _said(language)) for kind, datatype, language in facts.sorts]
    found = {}
    for number, sort in zip(numbers.tolist(), facts.sort_of[numbers].tolist(), strict=True):
        before, after = around[sort]
        found[number] = _hash(before + _said(facts.texts[number]) + after)
    return found


def _said(text: str) -> bytes:
    return _part(text.encode(errors="surrogatepass"))


def _hash(data: bytes) -> bytes:
    return _EIGHT + blake2b(data, digest_size=8).digest()


def _part(text: bytes) -> bytes:
    return len(text).to_bytes(LENGTH, "big") + text


_EIGHT = (8).to_bytes(LENGTH, "big")
