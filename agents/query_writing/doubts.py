"""Doubts about rows of a model's queries: TurnView + answer form + results -> feedback for the model, or None."""

from collections.abc import Sequence

from agents.answering.select_answer import is_empty
from agents.turn_view import TurnView
from nacre.language.forms.nouns import number_with_noun
from nacre.language.tokens import fold, tokenize
from nacre.records.evidence import AnswerForm, BranchResult, Table
from nacre.records.turn import Mention

# a mention with a lower score may not name the thing
NAME_SCORE = 0.9
EMPTY = (
    "It ran and gave no rows. Check names, spellings and joins, or ask in another way; "
    "if that is the answer, give the same query again."
)
FORMS: dict[str, str] = {"number": "a number", "date": "a date", "names": "names", "yes_no": "one cell, 1 or 0"}


def find_doubt(view: TurnView, wants: AnswerForm | None, ran: Sequence[BranchResult]) -> str | None:
    """The first doubt: an error, no rows, another form of answer, or a name of the question that no condition uses."""
    for found in ran:
        if found.error is not None:
            return found.error.message
    tables = [each.table for found in ran for each in found.rows]
    if not tables or all(is_empty(table) for table in tables):
        return EMPTY
    if wants in FORMS and not is_of_kind(wants, tables[0]):
        return f"It ran, but you said that the question asks for {FORMS[wants]}, and no column shows that."
    left = [mention for mention in view.understanding.mentions if _is_name(mention) and not _is_used(mention, ran)]
    if left and wants != "prose":
        names = ", ".join(f"'{mention.text}' (may be '{mention.label}')" for mention in left[:3])
        return (
            f"It ran, but no condition uses {names}, which the question seems to name. Give it again if that is right."
        )
    return None


def is_of_kind(wants: AnswerForm, table: Table) -> bool:
    """Whether rows can have the form that was asked for.

    >>> is_of_kind("number", Table(("n",), ((3,),))), is_of_kind("number", Table(("name",), (("Oslo",),)))
    (True, False)
    """
    cells = [cell for row in table.rows for cell in row if cell is not None]
    if wants == "number":
        return any(_is_number(cell) for cell in cells)
    if wants == "yes_no":
        return len(cells) == 1
    return any(isinstance(cell, str) or (wants == "date" and isinstance(cell, int)) for cell in cells)


def _is_number(cell: object) -> bool:
    if isinstance(cell, str):
        return cell.replace(".", "", 1).lstrip("-").isdigit()
    return isinstance(cell, int | float) and not isinstance(cell, bool)


def _is_name(mention: Mention) -> bool:
    return mention.kind in ("entity", "value") and mention.score >= NAME_SCORE and bool(mention.label)


def _is_used(mention: Mention, ran: Sequence[BranchResult]) -> bool:
    """Whether a query contains one of the longest words of the name."""
    written = fold(" ".join(query.text for found in ran for query in found.queries))
    words = [*_longest(mention.label)[:2], *_longest(mention.text)[:1]]
    return not words or any(word in written for word in words)


def _longest(text: str) -> list[str]:
    return sorted({token.norm for token in tokenize(text)}, key=lambda word: (-len(word), word))


def preview_rows(table: Table, rows: int = 5, longest: int = 120) -> str:
    """The first rows as lines after a header."""
    if not table.rows:
        return "no rows"
    body = (" | ".join(_cell(cell)[:longest] for cell in row) for row in table.rows[:rows])
    lines = [" | ".join(table.columns), *body]
    more = len(table.rows) - rows
    return "\n".join(lines) + (f"\n... {number_with_noun(more, 'more row')}" if more > 0 else "")


def _cell(value: object) -> str:
    """A cell as text; a long fraction with two decimals."""
    if value is None:
        return ""
    return f"{value:.2f}" if isinstance(value, float) and abs(value) >= 1 and value != round(value, 2) else str(value)
