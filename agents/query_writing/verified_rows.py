"""The rows of a verified question: TurnView + Database -> certain rows of its plan or query, or None."""

from dataclasses import replace

from agents.answering.selection.rows import is_empty
from agents.database import Database
from agents.turn_view import TurnView
from nacre.records.evidence import BranchResult


async def verified_rows(view: TurnView, database: Database) -> BranchResult | None:
    """The rows of the verified question that the question is. None if it is none, or if its plan or query fails or
    gives nothing: then the question is answered as any other.

    A query that a person wrote runs behind the guard, as those of models do.
    """
    match = view.understanding.verified
    if match is None or (match.tool and match.tool != database.language):
        return None
    if match.tool:
        found = await database.query(match.text, None)
    else:
        [found, *_] = await database.read(view.understanding.readings[:1], view.rewrite.gloss)
    if found.error is not None or not found.rows or all(is_empty(each.table) for each in found.rows):
        return None
    certain = tuple(
        replace(each, probability=1.0, verified=match.id) if each in found.rows else each for each in found.evidence
    )
    return replace(found, evidence=certain)
