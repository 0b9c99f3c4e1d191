"""What later turns need of a finished turn: TurnView + answer -> EarlierTurn, and its shorter form two turns later."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agents.answering.answer_draft import AnswerDraft
from agents.answering.inherited_confidence import inheritable_confidence, understood_by_model
from agents.answering.selection.rows import plan_of
from agents.turn_view import TurnView
from nacre.records.evidence import Evidence, EvidenceSentence, Rows
from nacre.records.turn import EarlierTurn, Reading

# keys and labels of the result where no setting says, cited evidence, and rows of each
REMEMBERED = 100
REMEMBERED_EVIDENCE = 3
REMEMBERED_ROWS = 20
# statuses of answers that answer nothing
FAILED = frozenset(("not_understood", "not_in_graph", "failed"))


def remembered_turns(
    view: TurnView, answer: str, draft: AnswerDraft, cited: Mapping[int, Evidence], most: int = REMEMBERED
) -> tuple[EarlierTurn, ...]:
    """The turn as later turns need it; nothing if it asked nothing of the graph.

    It has the plan, at most `most` keys and labels of the result, and what was cited. `cited` is the opened evidence by
    its index.
    """
    if view.rewrite.aside or view.understanding.orientation:
        return ()
    understanding = view.understanding
    used = view.evidence[draft.table] if draft.table is not None else None
    plan = plan_of(understanding, used) if used is not None else None
    result = cited.get(draft.table, used) if draft.table is not None else None
    if used is None and understanding.readings:
        plan = understanding.readings[0].plan
    if draft.topic is not None:
        plan = draft.topic.plan
    gives_none = draft.status in FAILED and not draft.things
    labels = () if gives_none else tuple(value for value in draft.values if isinstance(value, str))
    keys = result.keys if result is not None and not gives_none else tuple(key for key, _ in draft.things)
    turn = EarlierTurn(
        view.question,
        view.standalone,
        answer,
        plan=plan,
        keys=keys[:most],
        labels=(labels or tuple(label for _, label in draft.things))[:most],
        options=draft.options,
        confirm=_reading_to_confirm(view, draft),
        evidence=tuple(_remembered_evidence(view.evidence[index]) for index in list(cited)[:REMEMBERED_EVIDENCE]),
        confidence=inheritable_confidence(draft, understood_by_model(view)),
    )
    return (turn,)


def older_turn(turn: Mapping[str, Any]) -> dict[str, Any]:
    """A turn before the last one, as JSON: only the last turn's evidence supports a follow-up, and only its reading can
    be confirmed."""
    return {**turn, "evidence": [], "confirm": None}


def _reading_to_confirm(view: TurnView, draft: AnswerDraft) -> Reading | None:
    """The reading that the answer asks to be confirmed; a yes chooses it."""
    if not draft.confirm and draft.status != "not_understood":
        return None
    used = view.evidence[draft.table] if draft.table is not None else None
    place = used.reading if isinstance(used, Rows) else 0
    return view.understanding.readings[place] if place is not None and view.understanding.readings else None


def _remembered_evidence(evidence: Evidence) -> Evidence:
    """Evidence as a later turn may cite it. It is no candidate for that turn's answer."""
    evidence = replace(
        evidence, round=0, keys=evidence.keys[:REMEMBERED_ROWS], triples=evidence.triples[:REMEMBERED_ROWS]
    )
    if isinstance(evidence, EvidenceSentence):
        return evidence
    table = evidence.table
    table = replace(table, rows=table.rows[:REMEMBERED_ROWS], keys=table.keys[:REMEMBERED_ROWS])
    return replace(evidence, reading=None, table=table)
