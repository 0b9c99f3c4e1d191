"""When a question can be meant in more ways than one: its readings and their rows -> the other readings, to offer."""

from collections.abc import Sequence

from agents.answering.agreement import say_the_same
from agents.answering.trust import is_empty, is_nil
from agents.plain import quoted
from records.evidence import Evidence
from records.turn import Reading, Understanding

# A reading that is worse by no more than this is as likely as the best one: it is what taking another link costs, where
# the question does not say which and both are as short.
NEAR = 0.151
MOST = 3


def near(understanding: Understanding) -> int:
    """How many readings, from the first on, are about as likely as the first and account for as much of the question.

    They are run together, so that what they give can be compared.
    """
    readings = understanding.readings[: MOST + 1]
    if understanding.expected == "prose" or not readings:
        return min(1, len(readings))
    best = readings[0]
    close = [best.score - each.score <= NEAR and each.covered >= best.covered for each in readings]
    return close.index(False) if False in close else len(close)


def others(table: int, understanding: Understanding, evidence: Sequence[Evidence]) -> tuple[Reading, ...]:
    """The readings that are as likely as the one whose rows answer, and that give something else."""
    chosen, likely = evidence[table], range(near(understanding))
    if chosen.reading not in likely or chosen.table is None:
        return ()
    given, words = [chosen.table], {chosen.words}
    found: list[Reading] = []
    for each in evidence:
        if each.table is None or each.reading is None or each.reading not in likely or each.words in words:
            continue
        if is_empty(each.table) or is_nil(each.table):
            continue
        if any(say_the_same(each.table, rows) for rows in given):
            continue
        given.append(each.table)
        words.add(each.words)
        found.append(understanding.readings[each.reading])
    return tuple(found)


def offer(readings: Sequence[Reading]) -> str:
    """The readings in words, to be chosen by number."""
    return f"Or did you mean: {'; '.join(f'{n}. “{quoted(each.words)}”' for n, each in enumerate(readings, 1))}?"
