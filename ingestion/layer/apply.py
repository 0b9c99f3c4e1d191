"""The layers of an ingest: files, packs and Facts -> one resolved layer and the facts with derived triples."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ingestion.layer.entries import Layer
from ingestion.layer.evaluate.derive import derive_layer
from ingestion.layer.packs import packs_of
from ingestion.layer.precedence import without_taken_names
from ingestion.layer.resolve import Problem, last_of_each, resolve_layer, terms_of_facts
from ingestion.layer.stored import LayerFiles
from ingestion.read.capsules import Facts
from nacre.errors import IngestionError

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class AppliedLayer:
    """The resolved layer of a graph, its derived triples, the packs that apply, and what is wrong with it.

    `counts` has how many values an entry gave, by its index in the layer.
    """

    facts: Facts
    layer: Layer
    counts: dict[int, int]
    packs: tuple[str, ...]
    problems: tuple[Problem, ...]


def apply_layers(facts: Facts, layers: Sequence[Layer], *, packs: bool = True) -> AppliedLayer:
    """Resolve and apply packs, then the given layers; of entries with one name the last one stays.

    A name that a given layer uses means only that: packs lose it.
    """
    shipped = packs_of(facts) if packs else []
    terms = terms_of_facts(facts)
    resolved: list[Layer] = []
    problems: list[Problem] = []
    for layer in layers:
        own, found = resolve_layer(layer, terms)
        resolved.append(own)
        problems += found
    own_entries = [entry for layer in resolved for entry in layer.entries]
    of_packs = [entry for layer in shipped for entry in resolve_layer(layer, terms)[0].entries]
    merged = Layer(
        "layers",
        last_of_each([*without_taken_names(of_packs, own_entries), *own_entries]),
        languages=next((layer.languages for layer in reversed((*shipped, *resolved)) if layer.languages), ()),
    )
    derived = derive_layer(facts, merged)
    derived.facts.languages = merged.languages
    own_files = {entry.place.file for layer in layers for entry in layer.entries}
    for problem in derived.problems:
        if problem.place.file not in own_files:
            log.warning("%s", problem)
    problems += [problem for problem in derived.problems if problem.place.file in own_files]
    names = tuple(Path(layer.source).stem for layer in shipped)
    return AppliedLayer(derived.facts, merged, derived.counts, names, tuple(problems))


def layer_facts(facts: Facts, files: LayerFiles) -> AppliedLayer:
    """Apply the files of an ingest. Raises IngestionError for an entry that can't be applied; warnings are logged."""
    applied = apply_layers(facts, files.layers(), packs=files.packs)
    strict = {each.name for each in files.files if each.strict}
    for problem in applied.problems:
        if problem.is_error or problem.place.file in strict:
            raise IngestionError(f"{problem} Run: nacre report --graph NAME" if not problem.is_error else str(problem))
        log.warning("%s", problem)
    return applied
