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
SHORT = 128  # bytes of a term that is taken as it is, as hashing it would take longer


def name_blank_nodes(facts: Facts) -> None:
    """Replace the labels of blank nodes by a hash of their facts and of the neighbours' hashes, in bounded time."""
    import numpy as np

    blank = facts.kinds("blank")
    if not blank.any():
        return
    rows = np.flatnonzero(blank[facts.subject] | blank[facts.object])
    columns = [column[rows] for column in (facts.subject, facts.predicate, facts.object)]
    said = [(p, _hash(facts.texts[p].encode())) for p in np.unique(columns[1]).tolist()]
    out, back = ({p: way + name for p, name in said} for way in (b">", b"<"))
    edges = list(zip(*(column.tolist() for column in columns), strict=True))
    nodes = np.flatnonzero(blank).tolist()
    # all are kept as they go into the next hash: with their lengths before them
    names = dict.fromkeys(nodes, _part(b""))
    ends = np.unique(np.concatenate((columns[0], columns[2])))
    known = _fixed(facts, ends[~blank[ends]])
    distinct = 1
    for _ in range(ROUNDS):
        known.update(names)
        seen: dict[int, list[bytes]] = {node: [] for node in nodes}
        for s, p, o in edges:
            if s in seen:
                seen[s].append(out[p] + known[o])
            if o in seen:
                seen[o].append(back[p] + known[s])
        names = {node: _hash(known[node] + b"".join(sorted(around))) for node, around in seen.items()}
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
    """What goes into the hashes of terms that are no blank nodes, by their numbers: kind, datatype, language and text,
    or a hash of them where they are long."""
    sorts = [_part("\0".join(sort).encode()) for sort in facts.sorts]
    found = {}
    for number, sort in zip(numbers.tolist(), facts.sort_of[numbers].tolist(), strict=True):
        said = sorts[sort] + facts.texts[number].encode(errors="surrogatepass")
        found[number] = _part(said) if len(said) <= SHORT else _hash(said)
    return found


def _hash(data: bytes) -> bytes:
    return _EIGHT + blake2b(data, digest_size=8).digest()


def _part(text: bytes) -> bytes:
    return len(text).to_bytes(LENGTH, "big") + text


_EIGHT = (8).to_bytes(LENGTH, "big")
