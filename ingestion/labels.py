"""Choose the name under which a thing is shown: Facts -> one label an entity."""

from typing import TYPE_CHECKING

import numpy as np

from ingestion.capsules import Facts
from ingestion.classes import Classes
from ingestion.column_names import label_from_iri
from ingestion.vocabulary import language_rank, name_rank

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LONGEST = 200


def preferred_labels(
    facts: Facts, entities: "NDArray[np.int32]", visible: "NDArray[np.bool_]", classes: Classes
) -> list[str]:
    """For each entity: prefLabel, label, name or title (English first), else the last segment of its IRI.

    A blank node without a name is called by its own short literals, or "unnamed".
    """
    texts = facts.texts
    ranks = np.full(len(texts), -1, dtype=np.int16)
    for number in np.unique(facts.predicate).tolist():
        rank = name_rank(texts[number])
        if rank is not None:
            ranks[number] = rank
    rows = np.flatnonzero(visible & (ranks[facts.predicate] >= 0) & facts.is_literal[facts.object])
    languages = [language_rank(sort[2]) for sort in facts.sorts]
    best: dict[int, tuple[int, tuple[int, str], str]] = {}
    for subject, predicate, object_, sort in zip(
        facts.subject[rows].tolist(),
        ranks[facts.predicate[rows]].tolist(),
        facts.object[rows].tolist(),
        facts.sort_of[facts.object[rows]].tolist(),
        strict=True,
    ):
        candidate = (predicate, languages[sort], texts[object_])
        known = best.get(subject)
        if known is None or candidate < known:
            best[subject] = candidate
    blanks = facts.kinds("blank")
    unnamed = {n for n in entities[blanks[entities]].tolist() if n not in best}
    described = _by_literals(facts, visible, unnamed)
    labels = []
    for number in entities.tolist():
        found = best.get(number)
        text = " ".join(found[2].split())[:_LONGEST] if found else ""
        if not text:
            text = described.get(number, "unnamed") if number in unnamed else label_from_iri(texts[number])
        labels.append(text)
    return labels


def _by_literals(facts: Facts, visible: "NDArray[np.bool_]", unnamed: set[int]) -> dict[int, str]:
    if not unnamed:
        return {}
    wanted = np.zeros(len(facts.texts), dtype=bool)
    wanted[list(unnamed)] = True
    rows = np.flatnonzero(visible & wanted[facts.subject] & facts.is_literal[facts.object])
    parts: dict[int, list[tuple[str, str]]] = {}
    for row in rows.tolist():
        text = facts.texts[facts.object[row]]
        if 0 < len(text) <= 40:
            parts.setdefault(int(facts.subject[row]), []).append((facts.texts[facts.predicate[row]], text))
    return {number: ", ".join(text for _, text in sorted(found)[:4]) for number, found in parts.items()}
