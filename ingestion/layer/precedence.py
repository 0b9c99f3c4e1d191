"""Which names of a pack remain next to a graph's own layer: entries of packs + own entries -> entries of packs."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ingestion.layer.entries import ClassEntry, Entry, PropertyEntry

_Named = ClassEntry | PropertyEntry


def without_taken_names(packs: Sequence[Entry], own: Sequence[Entry]) -> Iterator[Entry]:
    """The entries of packs without the names that a graph's own layer gives to other classes or properties.

    What a pack derives under such a name is left out, unless something else is derived from it.
    """
    taken = _by_name(own)
    patterns = "\n".join(map(_pattern, packs))
    for entry in packs:
        if not isinstance(entry, ClassEntry | PropertyEntry):
            yield entry
            continue
        if not _pattern(entry) or f"<{entry.iri}>" in patterns or not _is_taken(entry, entry.name, taken):
            yield _with_free_names(entry, taken)


def _by_name(entries: Iterable[Entry]) -> Mapping[tuple[type, str], list[_Named]]:
    found: dict[tuple[type, str], list[_Named]] = defaultdict(list)
    for entry in entries:
        if isinstance(entry, ClassEntry | PropertyEntry):
            inverse = entry.inverse if isinstance(entry, PropertyEntry) else ()
            for name in filter(None, (entry.name, *entry.also, *inverse)):
                found[type(entry), name.casefold()].append(entry)
    return found


def _with_free_names(entry: _Named, taken: Mapping[tuple[type, str], list[_Named]]) -> Entry:
    also = tuple(name for name in entry.also if not _is_taken(entry, name, taken, by_another=True))
    if isinstance(entry, ClassEntry):
        return replace(entry, also=also)
    inverse = tuple(name for name in entry.inverse if not _is_taken(entry, name, taken, by_another=True))
    return replace(entry, also=also, inverse=inverse)


def _is_taken(
    entry: _Named, name: str, taken: Mapping[tuple[type, str], list[_Named]], by_another: bool = False
) -> bool:
    """Whether an own entry about the same things has a name."""
    return any(
        _may_share_things(entry, other) and not (by_another and other.iri == entry.iri)
        for other in taken.get((type(entry), name.casefold()), ())
    )


def _may_share_things(entry: _Named, other: _Named) -> bool:
    if not (isinstance(entry, PropertyEntry) and isinstance(other, PropertyEntry)):
        return True
    return not entry.of or not other.of or not set(entry.of).isdisjoint(other.of)


def _pattern(entry: Entry) -> str:
    """What an entry is derived from; "" for names only."""
    if isinstance(entry, PropertyEntry):
        return entry.path or entry.where
    return entry.where if isinstance(entry, ClassEntry) else ""
