"""Conversations that clients send along with each question: earlier questions -> the meaning of their turns."""

import json
from collections import OrderedDict
from collections.abc import Sequence
from hashlib import sha256

from graph.context import Context
from graph.state import Json
from graph.write_answer import REMEMBERED_TURNS
from nacre.records.turn import LONGEST_QUESTION
from nacre.serving.keys import Caller
from nacre.serving.turn_service import TurnService

# cached conversations, about ten kilobytes each
MAX_CONVERSATIONS = 500
# questions that the rules answer again if a conversation is not cached, as after a restart or in another process
MAX_REPLAYED = 4
RULES_CONTEXT = Context(mind="rules")


class StatelessTurnCache:
    """An LRU cache of the meaning of earlier turns, by owner, version of the graph and questions.

    A missing entry costs time only: the last questions are then answered again.
    """

    def __init__(self, max_conversations: int = MAX_CONVERSATIONS) -> None:
        self._max_conversations = max_conversations
        self._turns: OrderedDict[str, list[Json]] = OrderedDict()

    async def earlier_turns(
        self, service: TurnService, graph: str, caller: Caller, questions: Sequence[str]
    ) -> list[Json]:
        """The turns of a conversation in which these questions were asked."""
        scope, valid = _scope(service, graph, caller), _valid_questions(questions)
        cached = next((n for n in range(len(valid), 0, -1) if _key(scope, valid[:n]) in self._turns), 0)
        if len(valid) - cached > MAX_REPLAYED:
            cached = len(valid) - MAX_REPLAYED
            turns: list[Json] = []
        else:
            turns = self._get(_key(scope, valid[:cached])) if cached else []
        for n in range(cached, len(valid)):
            async for kind, payload in service.events(
                valid[n], graph, None, RULES_CONTEXT, caller=caller, before=turns
            ):
                if kind == "earlier":
                    turns = payload
            self._put(_key(scope, valid[: n + 1]), turns)
        return turns

    def store(
        self, service: TurnService, graph: str, caller: Caller, questions: Sequence[str], turns: list[Json]
    ) -> None:
        """Cache the turns of a conversation after its last question."""
        self._put(_key(_scope(service, graph, caller), _valid_questions(questions)), turns)

    def _get(self, key: str) -> list[Json]:
        self._turns.move_to_end(key)
        return self._turns[key]

    def _put(self, key: str, turns: list[Json]) -> None:
        self._turns[key] = turns
        self._turns.move_to_end(key)
        while len(self._turns) > self._max_conversations:
            self._turns.popitem(last=False)


def _scope(service: TurnService, graph: str, caller: Caller) -> str:
    return f"{caller.owner}:{graph}:{service.library.current(graph)}"


def _valid_questions(questions: Sequence[str]) -> list[str]:
    """The last questions, without empty and too long ones."""
    return [each for each in questions if each.strip() and len(each) <= LONGEST_QUESTION][-REMEMBERED_TURNS:]


def _key(scope: str, questions: Sequence[str]) -> str:
    return sha256(json.dumps([scope, *questions]).encode()).hexdigest()
