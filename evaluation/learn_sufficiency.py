"""Learn whether single triples answer a question: fictional faculties -> nacre/extensions/pyramid/sufficiency.json.

    python -m evaluation.learn_sufficiency SEED SEED ...

Each seed makes a faculty with texts, from which triples are extracted by rules. A relation of a named thing is right if
it gives all right options of a question and no wrong one. The last seed is left out and measured.
"""

import asyncio
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from evaluation.faculty import faculty_questions, write_faculty
from evaluation.learn import fit_logistic
from evaluation.samples import chosen_options
from ingestion.pipeline import ingest
from nacre.config.embedder import local_embedder
from nacre.extensions.pyramid.complete_schema import complete_schema, publish_condensed
from nacre.extensions.pyramid.extract_triples import by_rules, extract_triples, publish_triples
from nacre.extensions.pyramid.search_triples import (
    SUFFICIENCY_FILE,
    TripleGroup,
    TripleStores,
    sufficiency_probability,
    triple_features,
)
from nacre.records.turn import Rewrite
from nacre.stores.catalog import Library
from nacre.stores.vectors import Embedder
from nacre.understanding.understand import understand

RIDGE = 0.01


class SufficiencySample(NamedTuple):
    """The features of one relation of one thing, and whether it answers its question."""

    question: str
    features: dict[str, float]
    right: bool


def sufficiency_samples(seed: int) -> Iterator[SufficiencySample]:
    """The relations that the triples of a faculty offer for its questions."""
    model = local_embedder("bundled")
    if model is None:
        raise ValueError("There is no embedder.")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        faculty = write_faculty(folder, seed)
        data = folder / "data"
        ingest([str(folder / "faculty.ttl")], "faculty", data=data, texts=[str(folder / "texts")], no_vectors=True)
        library = Library(data, model)
        try:
            _extract_triples(library, data, model)
            with library.open("faculty") as graph:
                stores = TripleStores(graph.lexicon, model, graph.passages, graph.extracted)
                for each in faculty_questions(faculty, seed):
                    understanding = understand(Rewrite(each["question"]), graph.schema, graph.lexicon)
                    for group, features in triple_features(understanding, stores):
                        right = _is_right(group, each["options"], each["answers"])
                        yield SufficiencySample(each["question"], features, right)
        finally:
            library.close()


def sufficiency_report(samples: Sequence[SufficiencySample]) -> str:
    """How many of the likeliest relations of the questions reach a threshold, and how many of those are right."""
    best: dict[str, tuple[float, bool]] = {}
    for each in samples:
        best[each.question] = max(
            best.get(each.question, (0.0, False)), (sufficiency_probability(each.features), each.right)
        )
    lines = []
    for threshold in (0.5, 0.7, 0.8, 0.9):
        above = [right for chance, right in best.values() if chance >= threshold]
        lines.append(f"{threshold:.1f}: {len(above):>3} of {len(best)}, {sum(above) / max(1, len(above)):.0%} right")
    return "\n".join(lines)


def main(seeds: Sequence[int]) -> None:
    """Fit on all seeds but the last, write the weights, and print the result on the last."""
    training = [each for seed in seeds[:-1] for each in sufficiency_samples(seed)]
    weights = fit_logistic([each.features for each in training], [each.right for each in training], RIDGE)
    SUFFICIENCY_FILE.write_text(
        json.dumps({name: round(w, 4) for name, w in sorted(weights.items())}, indent=1) + "\n", "utf-8"
    )
    sys.stdout.write(f"{len(training)} relations, {sum(each.right for each in training)} right\n")
    sys.stdout.write(sufficiency_report(list(sufficiency_samples(seeds[-1]))) + "\n")


def _extract_triples(library: Library, data: Path, model: Embedder) -> None:
    with library.open("faculty") as graph:
        extraction = asyncio.run(extract_triples(graph, by_rules))
        publish_triples(data / "faculty", graph.version, extraction.triples)
    with library.open("faculty") as graph:
        publish_condensed(data / "faculty", graph, complete_schema(graph, model).condensed)


def _is_right(group: TripleGroup, options: Sequence[str], answers: Sequence[str]) -> bool:
    return set(chosen_options(options, [each.other for each in group.triples], "")) == set(answers)


if __name__ == "__main__":
    main([int(seed) for seed in sys.argv[1:]])
