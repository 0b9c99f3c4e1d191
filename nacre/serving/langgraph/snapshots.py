"""The states of a thread: stored checkpoints -> a tree of snapshots, the latest first.

A turn stores one checkpoint, after its answer; a turn that was stopped stores one after its question. Clients also
refer to the state in which only the question is there (to have it answered again), and to the one before the first
question. Those are derived, with ids made from their content.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from langchain_core.messages import BaseMessage

from nacre.serving.conversations.unanswered import unanswered_question
from nacre.serving.langgraph.messages import MessageJson, clarification, message_json
from nacre.stores.conversations.checkpoints import StoredCheckpoint

# the state of every thread before its first question; no stored checkpoint has this id
ROOT = "1ef00000-0000-6000-8000-000000000000"
FIRST_NODE = "rewriter"
# fields of the graph's state that clients see
SHOWN_FIELDS = ("about", "turn", "asked", "standalone", "readings", "visited", "spent")

Load = Callable[[tuple[str, bytes]], Any]


@dataclass(frozen=True)
class Snapshot:
    """The state of a thread at a checkpoint. `base` is the stored checkpoint that a turn from here starts after, ROOT
    if it starts anew. `question` is the message that is not answered yet, `run` the run that
    was stopped before it answered it."""

    id: str
    parent: str | None
    base: str
    messages: Sequence[MessageJson] = ()
    fields: dict[str, Any] = field(default_factory=dict)
    created: str | None = None
    question: MessageJson | None = None
    step: int = -1
    run: str | None = None

    @property
    def values(self) -> dict[str, Any]:
        """The state as clients see it."""
        return {"messages": list(self.messages), **self.fields} if self.messages else {}

    @property
    def next(self) -> list[str]:
        """The nodes that would run next."""
        if self.id == ROOT:
            return ["__start__"]
        return [FIRST_NODE] if self.question is not None or self.interrupts else []

    @property
    def interrupts(self) -> list[dict[str, Any]]:
        """What the last turn asks back."""
        if self.question is not None or not self.messages:
            return []
        return clarification(self.messages[-1])


@dataclass(frozen=True)
class _TurnEnd:
    """A stored checkpoint after an answer, or after a question whose turn was stopped: the latter has its `run`."""

    id: str
    parent: str | None
    created: str
    messages: Sequence[BaseMessage]
    fields: dict[str, Any]
    run: str | None = None

    @property
    def question(self) -> int:
        """The place of the question among the messages; negative if there is none."""
        return len(self.messages) - (2 if self.run is None else 1)


def read_snapshots(stored: Sequence[StoredCheckpoint], load: Load, limit: int | None = None) -> list[Snapshot]:
    """The snapshots of the stored checkpoints, which are in order of writing, the latest first."""
    ends = {end.id: end for end in _turn_ends(stored, load)}
    # shared by all answers to one question: it stands where the first of them stands
    questions: dict[str, Snapshot] = {}
    ordered: list[Snapshot | str] = []
    for end in ends.values():
        question = _question_snapshot(end, ends)
        if question is not None and question.id in questions:
            ordered.remove(question.id)
        if end.run is None:
            ordered.append(_answer_snapshot(end, question))
        if question is not None:
            questions.setdefault(question.id, question)
            ordered.append(question.id)
        if limit is not None and len(ordered) >= 2 * limit:
            break
    found = [questions[each] if isinstance(each, str) else each for each in ordered]
    if any(each.parent == ROOT for each in found):
        found.append(Snapshot(ROOT, None, ROOT))
    return found


def _turn_ends(stored: Iterable[StoredCheckpoint], load: Load) -> list[_TurnEnd]:
    """The turns that were finished or stopped, the latest first. A copy of a checkpoint, which a failed turn leaves,
    counts as the original, and a checkpoint in the middle of a turn is left out."""
    ids: dict[tuple[str, str], str] = {}
    canonical: dict[str, str] = {}
    ends: dict[str, _TurnEnd] = {}
    for row in reversed(list(stored)):
        checkpoint = load((row.type, row.content))
        state = checkpoint["channel_values"]
        messages = state.get("messages", [])
        unanswered = state["unanswered"] if unanswered_question(state) is not None else None
        if not messages or (messages[-1].type != "ai" and unanswered is None):
            continue
        id = ids.setdefault((checkpoint["ts"], str(messages[-1].id)), row.id)
        canonical[row.id] = id
        parent = canonical.get(row.parent or "", row.parent)
        fields = {name: state[name] for name in SHOWN_FIELDS if name in state}
        if unanswered is not None:
            fields["about"] = unanswered["graph"]
        run = unanswered["run"] if unanswered is not None else None
        # at the end again, if it was copied
        earlier = ends.pop(id, None)
        ends[id] = earlier or _TurnEnd(id, parent, checkpoint["ts"], messages, fields, run)
    return list(reversed(ends.values()))


def _question_snapshot(end: _TurnEnd, ends: Mapping[str, _TurnEnd]) -> Snapshot | None:
    """The state before the answer; None if it is unknown where the turn began."""
    parent = ends.get(end.parent or "")
    before, asked = end.messages[: max(end.question, 0)], end.messages[max(end.question, 0)]
    if end.question < 0 or asked.type != "human" or (before and parent is None):
        return None
    # a question whose turn was stopped stays the same one when it is asked again
    stopped = _question_snapshot(parent, ends) if parent is not None and parent.run is not None else None
    if stopped is not None and stopped.question is not None and stopped.question["id"] == asked.id:
        return replace(stopped, run=end.run or stopped.run)
    base = parent.id if parent is not None else ROOT
    question = message_json(asked)
    id = str(uuid5(NAMESPACE_URL, f"nacre:questions:{base}:{question['id']}"))
    shown = [*map(message_json, before), question]
    fields = {"about": end.fields["about"]} if "about" in end.fields else {}
    turn = end.fields.get("turn", 0) + (0 if end.run is None else 1) or 1
    above = stopped.id if stopped is not None else base
    return Snapshot(id, above, base, shown, fields, end.created, question, 2 * turn - 1, end.run)


def _answer_snapshot(end: _TurnEnd, question: Snapshot | None) -> Snapshot:
    parent = question.id if question is not None else None
    shown = list(map(message_json, end.messages))
    return Snapshot(end.id, parent, end.id, shown, end.fields, end.created, None, 2 * end.fields.get("turn", 1))
