"""Choose which spans of a question name what: candidates -> the best sets that do not overlap (beam search)."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from semantics.candidates import Candidate
from semantics.words import Token

BEAM = 16
_PER_START = 7


@dataclass(frozen=True)
class Segmentation:
    """Picks in order of the question, and how much of it they explain."""

    picks: tuple[Candidate, ...]
    score: float


def segmentations(
    tokens: Sequence[Token],
    candidates: Sequence[Candidate],
    taken: frozenset[int],
    light: frozenset[str],
    fixed: frozenset[int],
) -> list[Segmentation]:
    """The best sets of candidates; words that a marker took count as explained, unless a name explains them better.

    `light` words say nothing by themselves; `fixed` positions belong to superlatives and numbers.
    """
    starts: dict[int, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        if candidate.covered <= fixed and not (candidate.exact and candidate.score >= 0.9):
            continue
        if len(starts[candidate.start]) < _PER_START:
            starts[candidate.start].append(candidate)
    beams: dict[int, list[Segmentation]] = {0: [Segmentation((), 0.0)]}
    for position in range(len(tokens)):
        states = sorted(beams.pop(position, ()), key=lambda s: -s.score)[:BEAM]
        content = tokens[position].norm not in light
        for state in states:
            skipped = 0.35 if position in taken else -0.5 if content else 0.0
            _push(beams, position + 1, Segmentation(state.picks, state.score + skipped))
            for candidate in starts[position]:
                weight = sum(1.0 if tokens[i].norm not in light else 0.05 for i in candidate.covered if position <= i)
                gain = candidate.score * weight + (0.15 if candidate.exact else 0.0)
                _push(beams, candidate.end, Segmentation((*state.picks, candidate), state.score + gain))
    return sorted(beams.get(len(tokens), ()), key=lambda s: -s.score)[:BEAM]


def _push(beams: dict[int, list[Segmentation]], position: int, state: Segmentation) -> None:
    beams.setdefault(position, []).append(state)
