"""Events of a turn -> the parts of a stream in the modes that a client asked for, each with an id.

An id is the number of the event and of the part in it, so that a client that reads on after an id misses no part.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nacre.records.answer import Answer
from nacre.serving.langgraph.messages import (
    ANSWER_NODE,
    MessageJson,
    answer_message,
    clarification,
    last_chunk,
    question_message,
    token_chunk,
)
from nacre.serving.langgraph.snapshots import FIRST_NODE
from nacre.serving.runs import Run, RunEvent

# tokens between two of the growing messages of the mode `messages`
TOKENS_BETWEEN = 8
# events of a turn -> the node that they are the result of; evidence names its branch
NODES = {"rewriter": FIRST_NODE, "understand": "understand", "route": "tool_selector"}


@dataclass(frozen=True)
class StreamPart:
    """One part: its id, the name of its event and its data."""

    id: str
    event: str
    data: Any


@dataclass
class TurnMessages:
    """The messages of a run: the question, and those before it, which are known once the turn has begun."""

    question: MessageJson
    before: list[MessageJson] | None = None

    def values(self, record: Answer | None, run: str) -> dict[str, Any]:
        """The state: with the question, and with the answer and its record if there is one."""
        messages = [*(self.before or []), self.question]
        if record is None:
            return {"messages": messages}
        answer = answer_message(record, run)
        fields = {
            "about": record["graph"],
            "turn": record["turn"],
            "asked": record["question"],
            "standalone": record["standalone"],
            "visited": record["visited"],
        }
        values = {"messages": [*messages, answer], **fields, "answer": record}
        asked_back = clarification(answer)
        return {**values, "__interrupt__": asked_back} if asked_back else values


class StreamParts:
    """Makes parts of the events of one run, which come in order."""

    def __init__(self, run: Run, assistant: str, modes: Sequence[str]) -> None:
        self._run, self._modes = run, modes
        self._metadata = {
            "langgraph_node": ANSWER_NODE,
            "run_id": run.id,
            "thread_id": run.thread,
            "assistant_id": assistant,
            "graph_id": run.graph,
        }
        self._text, self._tokens = "", 0
        self._has_begun = False

    def first(self) -> StreamPart:
        """The part that names the run."""
        return StreamPart("0.0", "metadata", {"run_id": self._run.id, "attempt": 1})

    def parts(self, number: int, event: RunEvent) -> list[StreamPart]:
        """The parts of the event with this number."""
        payload = json.loads(event.data)
        made = list(self._begin()) if not self._has_begun and event.kind not in ("error", "done") else []
        made += self._made(event.kind, payload)
        return [StreamPart(f"{number}.{n}", name, data) for n, (name, data) in enumerate(made, 1)]

    def _begin(self) -> Iterator[tuple[str, Any]]:
        self._has_begun = True
        if "values" in self._modes and isinstance(self._run.notes, TurnMessages):
            yield "values", self._run.notes.values(None, self._run.id)

    def _made(self, kind: str, payload: Any) -> Iterator[tuple[str, Any]]:
        if kind == "token":
            yield from self._token(payload)
        elif kind == "answer":
            yield from self._answer(payload)
        elif kind == "error":
            yield "error", error_data(payload, self._run)
        elif kind == "done":
            yield "end", {"run_id": self._run.id, "status": self._run.status}
        elif "updates" in self._modes:
            yield "updates", _update(kind, payload)

    def _token(self, token: str) -> Iterator[tuple[str, Any]]:
        if "custom" in self._modes:
            yield "custom", {"type": "token", "text": token}
        if "messages-tuple" in self._modes:
            yield "messages", [token_chunk(token, self._run.id), self._metadata]
        if "messages" in self._modes:
            if not self._text:
                yield "messages/metadata", {self._run.id: {"metadata": self._metadata}}
            self._text += token
            if self._tokens % TOKENS_BETWEEN == 0:
                yield "messages/partial", [token_chunk(self._text, self._run.id) | {"type": "ai"}]
            self._tokens += 1

    def _answer(self, record: Answer) -> Iterator[tuple[str, Any]]:
        answer = answer_message(record, self._run.id)
        if "messages-tuple" in self._modes:
            yield "messages", [last_chunk(record, self._run.id), self._metadata]
        if "messages" in self._modes:
            yield "messages/complete", [answer]
        if "updates" in self._modes:
            yield "updates", {ANSWER_NODE: {"messages": [answer], "answer": record}}
            if asked_back := clarification(answer):
                yield "updates", {"__interrupt__": asked_back}
        if "values" in self._modes:
            yield "values", turn_messages(self._run, record).values(record, self._run.id)


def error_data(problem: Mapping[str, Any], run: Run) -> dict[str, str]:
    """An error as clients show it."""
    kind = "Cancelled" if run.is_cancelled else "TurnFailed"
    return {"error": kind, "message": str(problem["message"])}


def turn_messages(run: Run, record: Answer) -> TurnMessages:
    """The messages of a run; made of its record if another interface started it."""
    if isinstance(run.notes, TurnMessages):
        return run.notes
    return TurnMessages(question_message(record["question"], f"{run.id}-question"))


def is_after(id: str, last: str) -> bool:
    """Whether a part comes after the one of the id `last`. Everything comes after an id that none has.

    >>> is_after("10.1", "9.2"), is_after("9.2", "9.2"), is_after("0.0", "-1")
    (True, False, True)
    """
    return _place(id) > _place(last)


def _place(id: str) -> tuple[int, int]:
    number, _, part = id.partition(".")
    parts = (number, part)
    if not all(each.isdecimal() and len(each) <= 15 for each in parts):
        return -1, -1
    return int(number), int(part)


def _update(kind: str, payload: Mapping[str, Any]) -> dict[str, Any]:
    """The result of a node that is not the last."""
    if kind == "query":
        return {payload["tool"]: {"queries": [payload]}}
    if kind == "evidence":
        return {payload["branch"]: {"evidence": [payload]}}
    return {NODES.get(kind, kind): payload}
