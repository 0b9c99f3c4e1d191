"""The answer as a chat message: released tokens -> the `messages` stream; the record -> what travels beside it."""

import textwrap
import uuid
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk
from langgraph.config import get_config
from langgraph.graph.message import push_message

from nacre.records.answer import Answer, Citation

# in the configuration of a run: nobody reads its stream `messages`, and a message for each token takes its time
UNHEARD = "unheard"
LONGEST_CITED = 300
MOST_KEYS = 5


class Message:
    """One answer that streams: `say` each token as it is released, then `end` with the record.

    Clients of the graph see chunks with one id in the stream mode `messages`; they join to the message that stays in
    the thread.
    """

    def __init__(self) -> None:
        self._id = str(uuid.uuid4())
        self._heard = not get_config().get("configurable", {}).get(UNHEARD)

    def say(self, token: str) -> None:
        """Stream one token; inside a node only."""
        if self._heard:
            push_message(AIMessageChunk(content=token, id=self._id), state_key=None)

    def end(self, record: Answer) -> AIMessage:
        """Stream what travels beside the text, and give the message as the thread keeps it."""
        beside = beside_text(record)
        if self._heard:
            push_message(
                AIMessageChunk(content="", id=self._id, additional_kwargs=beside, chunk_position="last"),
                state_key=None,
            )
        return AIMessage(record["answer"], id=self._id, additional_kwargs=beside)


def beside_text(record: Answer) -> dict[str, Any]:
    """The status and the citations of an answer, short enough to stay in a thread; the record has all of them."""
    return {
        "status": record["status"],
        "confidence": record["confidence"],
        "citations": [_short(citation) for citation in record["citations"]],
    }


def _short(citation: Citation) -> dict[str, Any]:
    return {
        "n": citation["n"],
        "tool": citation["tool"],
        "source": citation["source"],
        "text": textwrap.shorten(citation["text"], LONGEST_CITED, placeholder=" ..."),
        "keys": citation["keys"][:MOST_KEYS],
        "place": citation["place"],
    }
