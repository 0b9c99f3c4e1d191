"""Name blank nodes by what they say, so that the same graph gets the same names: Facts -> names in `texts`."""

from collections import Counter
from hashlib import blake2b

from ingestion.read.capsules import Facts

# Each round lets a node see one link further; what is still equal then is told apart by its order in the file.
ROUNDS = 5


def name_blanks(facts: Facts) -> None:
    """Replace the labels of blank nodes by a hash of their facts and of the neighbours' hashes, in bounded time."""
    import numpy as np

    blank = facts.kinds("blank")
    if not blank.any():
        return
    rows = np.flatnonzero(blank[facts.subject] | blank[facts.object])
    said = {int(p): facts.texts[p].encode() for p in np.unique(facts.predicate[rows])}
    columns = (column[rows].tolist() for column in (facts.subject, facts.predicate, facts.object))
    edges = [(s, said[p], o) for s, p, o in zip(*columns, strict=True)]
    nodes = np.flatnonzero(blank).tolist()
    names = dict.fromkeys(nodes, b"")
    fixed: dict[int, bytes] = {}
    distinct = 1
    for _ in range(ROUNDS):
        seen: dict[int, list[bytes]] = {node: [] for node in nodes}
        for s, p, o in edges:
            if s in names:
                seen[s].append(_digest(b">", p, names[o] if o in names else _fixed(facts, o, fixed)))
            if o in names:
                seen[o].append(_digest(b"<", p, names[s] if s in names else _fixed(facts, s, fixed)))
        names = {node: _digest(names[node], *sorted(seen[node])) for node in nodes}
        now = len(set(names.values()))
        if now == distinct or now == len(nodes):
            break
        distinct = now
    count: Counter[bytes] = Counter()
    for node in nodes:
        name = names[node]
        count[name] += 1
        facts.texts[node] = f"_:b{name.hex()}" if count[name] == 1 else f"_:b{name.hex()}x{count[name]}"


def _fixed(facts: Facts, number: int, known: dict[int, bytes]) -> bytes:
    if number not in known:
        known[number] = _digest(*(part.encode(errors="surrogatepass") for part in facts.term(number)))
    return known[number]


def _digest(*parts: bytes) -> bytes:
    return blake2b(b"".join([len(part).to_bytes(8, "big") + part for part in parts]), digest_size=8).digest()
