"""The layers of common vocabularies: Facts -> the packs whose namespaces the graph uses."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from ingestion.layer.entries import Entry, Layer
from ingestion.layer.format.prefixes import expand_name, iri_variants, known_prefixes
from ingestion.layer.format.read_layer import read_layers
from ingestion.read.capsules import Facts, unique_counts
from ingestion.vocabulary import TYPE

PACKS = Path(__file__).parents[1] / "vocabularies"
# the namespaces of a pack are on one line, so that packs which do not apply are not parsed
_NAMESPACES = re.compile(r"^namespaces: *\[([^\]\n]*)\]", re.MULTILINE)


def packs_of(facts: Facts) -> list[Layer]:
    """The packs that apply to a graph, in the order of their names."""
    texts = facts.texts
    typing = next((n for n in facts.predicates if texts[n] == TYPE), -1)
    used = [texts[n] for n in facts.predicates]
    used += [texts[n] for n in unique_counts(facts.object[facts.predicate == typing])[0].tolist()]
    return packs_for(used)


def packs_for(iris: Iterable[str]) -> list[Layer]:
    """The packs for the classes and predicates of a graph, each after those that it extends."""
    used = tuple(iris)
    found = (
        _pack(name) for name, namespaces in pack_namespaces().items() if any(iri.startswith(namespaces) for iri in used)
    )
    return list({layer.source: layer for layers in found for layer in layers}.values())


def is_of_pack(entry: Entry) -> bool:
    """Whether an entry is one of a pack."""
    return Path(entry.place.file).is_relative_to(PACKS)


@cache
def pack_namespaces() -> Mapping[str, tuple[str, ...]]:
    """All packs with their namespaces."""
    found = {}
    for path in sorted(PACKS.glob("*.yaml")):
        match = _NAMESPACES.search(path.read_text(encoding="utf-8"))
        names = [each.strip().strip("\"'") for each in match[1].split(",")] if match else []
        iris = [expand_name(f"{n.rstrip(':')}:", known_prefixes()) if "//" not in n else n for n in names if n]
        found[path.stem] = tuple(variant for iri in iris for variant in iri_variants(iri))
    return found


@cache
def _pack(name: str) -> tuple[Layer, ...]:
    return tuple(read_layers(PACKS / f"{name}.yaml"))
