"""Ask whether there is one, where a question asks how many or which: a question -> the same as yes or no.

Yes/no questions are rare among questions with answers; these have the same conditions, and their readings can be judged
by the things behind them, which says more than a yes that any wrong reading may give as well.
"""

import re
from collections.abc import Sequence

from evaluation.gold_values import same_values
from records.errors import NacreError
from records.evidence import Cell
from records.plan import Ask, Body
from semantics.run_plan import table_of
from semantics.to_sql import to_sql
from stores.tables import Tables

ROWS = 1000
_ASKED = r"(?:how many|which|what) (?!is\b|are\b|was\b|were\b)"
_NAMED = r"(?:(?:what|who) (?:is|are) |(?:list|show|find|give|return) (?:me )?)(?:all )?(?:the )?(?:names?|titles?) of "
_PATTERNS = (
    (re.compile(r"how many (.+?) are there (.+)", re.I), "Are there any {0} {1}?"),
    (re.compile(r"how many (.+?) do we have (.+)", re.I), "Do we have any {0} {1}?"),
    (re.compile(r"how many (.+?) (do|does|did) (?!we have$)(.+)", re.I), "{1} {2} any {0}?"),
    (re.compile(_ASKED + r"(.+?) (are|were) (?!there$)(.+)", re.I), "{1} any {0} {2}?"),
    (re.compile(_ASKED + r"(.+?) have (been .+)", re.I), "Have any {0} {1}?"),
    (re.compile(_ASKED + r"(.+?) (have .+)", re.I), "Do any {0} {1}?"),
    (re.compile(_NAMED + r"(?:all )?(?:the )?(.+? (?:that|who|which|whose|with) .+)", re.I), "Are there any {0}?"),
)
_COUNTED = re.compile(r"^(?:(?:different|distinct|total) )+", re.I)
# a second clause, an order or a number for each can't be asked for by yes or no
_MORE = re.compile(
    r"^(?:not|never)\b|[,;:?]|\. |\w+est\b"
    r"|\b(?:each|every|per|what|which|how|most|least|and|total|maximum|minimum)\b",
    re.I,
)


def existence(question: str) -> str | None:
    """The question whether there is one of what is asked for; None where the question has another form.

    >>> existence("How many singers are there from Peru?"), existence("Which rivers have no dam?")
    ('Are there any singers from Peru?', 'Do any rivers have no dam?')
    """
    text = question.strip().rstrip(" ?.")
    for pattern, form in _PATTERNS:
        match = pattern.fullmatch(text)
        if match is None:
            continue
        parts = [_COUNTED.sub("", part) for part in match.groups()]
        if any(_MORE.search(part) for part in parts):
            return None
        made = form.format(*parts)
        return made[:1].upper() + made[1:]
    return None


def exists(body: Body, gold: Sequence[Cell], tables: Tables) -> bool:
    """Whether a yes/no reading is about the things that the first question counted or named."""
    if not isinstance(body, Ask):
        return False
    statement = to_sql(body.select, tables.schema)
    try:
        found = tables.run(statement.text, statement.params, limit=ROWS, seconds=1.0)
    except NacreError:
        return False
    table = table_of(statement, found.rows, found.truncated)
    if len(gold) == 1 and isinstance(gold[0], int | float):
        return len(set(table.keys)) == gold[0]
    return same_values(gold, tuple(dict.fromkeys(row[0] for row in table.rows if row and row[0] is not None)))
