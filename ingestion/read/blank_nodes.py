"""Label blank nodes by the content of their facts, so that equal graphs get equal labels: Facts -> labels."""

from collections import Counter
from hashlib import blake2b
from typing import TYPE_CHECKING

from ingestion.read.capsules import Facts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# each round includes facts one link further away; nodes that are still equal are numbered in the order of the file
ROUNDS = 5
LENGTH = 8  # bytes that encode the length of a text
MAX_UNHASHED = 128  # bytes of a term that is used as it is, since hashing it would take longer


def blank_node_labels(facts: Facts) -> dict[int, str]:
    """A label for each blank node: a hash of its facts and its neighbours' hashes, computed in bounded time."""
    import numpy as np

    blank = facts.kinds("blank")
    if not blank.any():
        return {}
    rows = np.flatnonzero(blank[facts.subject] | blank[facts.object])
    columns = [column[rows] for column in (facts.subject, facts.predicate, facts.object)]
    hashes = [(p, _hash(facts.texts[p].encode())) for p in np.unique(columns[1]).tolist()]
    out, back = ({p: way + name for p, name in hashes} for way in (b">", b"<"))
    edges = list(zip(*(column.tolist() for column in columns), strict=True))
    nodes = np.flatnonzero(blank).tolist()
    # stored as they are hashed in the next round, with their lengths in front
    names = dict.fromkeys(nodes, _with_length(b""))
    ends = np.unique(np.concatenate((columns[0], columns[2])))
    known = _term_bytes(facts, ends[~blank[ends]])
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
    labels = {}
    for node in nodes:
        name = names[node][LENGTH:]
        count[name] += 1
        labels[node] = f"_:b{name.hex()}" if count[name] == 1 else f"_:b{name.hex()}x{count[name]}"
    return labels


def _term_bytes(facts: Facts, numbers: "NDArray[np.int32]") -> dict[int, bytes]:
    """The input of hashes for IRIs and literals, by their numbers: kind, datatype, language and text, or a hash of
    these if they are long."""
    sorts = [_with_length("\0".join(sort).encode()) for sort in facts.sorts]
    found = {}
    for number, sort in zip(numbers.tolist(), facts.sort_of[numbers].tolist(), strict=True):
        content = sorts[sort] + facts.texts[number].encode(errors="surrogatepass")
        found[number] = _with_length(content) if len(content) <= MAX_UNHASHED else _hash(content)
    return found


def _hash(data: bytes) -> bytes:
    return _HASH_LENGTH + blake2b(data, digest_size=8).digest()


def _with_length(text: bytes) -> bytes:
    return len(text).to_bytes(LENGTH, "big") + text


_HASH_LENGTH = (8).to_bytes(LENGTH, "big")
