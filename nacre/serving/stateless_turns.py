"""Conversations that clients carry themselves: the questions before -> what their turns meant, for the next one."""

import json
from collections import OrderedDict
from collections.abc import Sequence
from hashlib import sha256

from graph.context import Context
from graph.nodes import REMEMBERED_TURNS
from graph.state import Json
from nacre.records.turn import LONGEST_QUESTION
from nacre.serving.keys import Caller
from nacre.serving.turn_service import TurnService

# conversations that are remembered, of some ten kilobytes each
MAX_CONVERSATIONS = 500
# questions that are asked once more, by rules, where a conversation is not remembered: a restart, another process
MAX_REPLAYED = 4
RULES_CONTEXT = Context(mind="rules")


class StatelessTurnCache:
    """What the turns of conversations meant, by owner, version of the graph and questions; the latest used.

    Losing it costs time, not sense: the last questions are then asked again.
    """

    def __init__(self, most: int = MAX_CONVERSATIONS) -> None:
        self._most = most
        self._known: OrderedDict[str, list[Json]] = OrderedDict()

    async def before(self, asking: TurnService, graph: str, caller: Caller, questions: Sequence[str]) -> list[Json]:
        """The earlier turns of a conversation in which these questions were asked."""
        place, asked = _place(asking, graph, caller), _sound(questions)
        known = next((n for n in range(len(asked), 0, -1) if _key(place, asked[:n]) in self._known), 0)
        if len(asked) - known > MAX_REPLAYED:
            known = len(asked) - MAX_REPLAYED
            turns: list[Json] = []
        else:
            turns = self._get(_key(place, asked[:known])) if known else []
        for n in range(known, len(asked)):
            async for kind, payload in asking.events(asked[n], graph, None, RULES_CONTEXT, caller=caller, before=turns):
                if kind == "earlier":
                    turns = payload
            self._put(_key(place, asked[: n + 1]), turns)
        return turns

    def keep(
        self, asking: TurnService, graph: str, caller: Caller, questions: Sequence[str], turns: list[Json]
    ) -> None:
        """Remember what a conversation meant after its last question."""
        self._put(_key(_place(asking, graph, caller), _sound(questions)), turns)

    def _get(self, key: str) -> list[Json]:
        self._known.move_to_end(key)
        return self._known[key]

    def _put(self, key: str, turns: list[Json]) -> None:
        self._known[key] = turns
        self._known.move_to_end(key)
        while len(self._known) > self._most:
            self._known.popitem(last=False)


def _place(asking: TurnService, graph: str, caller: Caller) -> str:
    return f"{caller.owner}:{graph}:{asking.library.current(graph)}"


def _sound(questions: Sequence[str]) -> list[str]:
    """The last questions, those that could be asked."""
    return [each for each in questions if each.strip() and len(each) <= LONGEST_QUESTION][-REMEMBERED_TURNS:]


def _key(place: str, questions: Sequence[str]) -> str:
    return sha256(json.dumps([place, *questions]).encode()).hexdigest()
