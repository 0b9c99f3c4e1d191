"""Which words a reading ignores, and whether its rows are refused: Candidate of a judged turn -> Screening."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from agents.answering.selection.refused_rows import is_refused
from nacre.evaluation.learning.follow_ups import JudgedTurn
from nacre.records.evidence import Cell, Rows, Table
from nacre.records.turn import Understanding
from nacre.stores.catalog import Graph
from nacre.understanding.linking.linker import Linker
from nacre.understanding.mentions import named_things
from nacre.understanding.ranking.best_readings import make_reading, unlinked_tokens
from nacre.understanding.ranking.calibrate import known_log_odds
from nacre.understanding.ranking.rank import RankedReading
from nacre.understanding.ranking.unheeded_words import unheeded_words

Refusal = Literal["never", "unlikely", "always"]


@dataclass(frozen=True)
class Screening:
    """The words that a reading ignores, and whether its rows are refused: never, always, or if they are unlikely.

    `unused` counts the spans that the reading leaves out, `lost` those of them that it covers and ignores. `penalty` is
    what its log-odds lose because of what it ignores.
    """

    unused: int
    lost: int
    penalty: float
    refusal: Refusal


def screen_readings(
    turn: JudgedTurn, ranked: Sequence[RankedReading], positions: Sequence[int], graph: Graph, linker: Linker
) -> dict[int, Screening]:
    """The screening of some candidates of a turn, given with their positions among all."""
    unlinked = unlinked_tokens(turn.links, turn.question)
    named = named_things(turn.links, turn.question, turn.question.text, linker)
    index = linker.index.graph
    found: dict[int, Screening] = {}
    for each, position in zip(ranked, positions, strict=True):
        unheeded = unheeded_words(each.candidate, turn.question, index)
        reading = make_reading(each, 0, turn.question, unheeded, unlinked, index, graph.schema)
        understanding = Understanding(turn.question.text, readings=(reading,), named=named)
        penalty = reading.odds - known_log_odds(each, 0)
        found[position] = Screening(
            len(reading.unused), len(reading.lost), round(penalty, 2), _refusal(understanding, turn.values[position])
        )
    return found


def _refusal(understanding: Understanding, values: Sequence[Cell] | None) -> Refusal:
    """When the rows of the only reading of an understanding are refused."""
    table = Table(("value",), tuple((value,) for value in values or ()))
    sure, unsure = (Rows("sql", 1, table, reading=0, probability=chance) for chance in (1.0, 0.0))
    if is_refused(understanding, sure):
        return "always"
    return "unlikely" if is_refused(understanding, unsure) else "never"
