"""The answer as a chat message: released sentences -> tokens in the stream; the record -> metadata of the message."""

import re
import textwrap
import uuid
from collections.abc import Callable

from langchain_core.messages import AIMessage, AIMessageChunk
from langgraph.config import get_config
from langgraph.graph.message import push_message

from graph.state import Json
from nacre.records.answer import Answer, Citation

# key in the configuration of a run whose caller wants whole sentences and no message chunks: each event takes a round
# of the event loop
WHOLE_SENTENCES = "sentences"
LONGEST_CITED = 300
MOST_KEYS = 5
_TOKENS = re.compile(r"\S+\s*|\s+")


class Message:
    """One answer that streams: `say` each sentence as it is released, then `end` with the record.

    Clients get its tokens as custom events, and as chunks with one id in the stream mode `messages`, which join to the
    message in the thread. A caller that wants whole sentences gets one custom event for each, and no chunks.
    """

    def __init__(self, write: Callable[[Json], None]) -> None:
        request = get_config().get("configurable", {})
        # the id of the run, so that whoever knows the run knows its message
        self._id = request.get("ask_id") or str(uuid.uuid4())
        self._write = write
        self._whole = bool(request.get(WHOLE_SENTENCES))

    def say(self, sentence: str) -> None:
        """Stream one sentence; inside a node only."""
        if self._whole:
            self._write({"type": "token", "text": sentence})
            return
        for token in stream_tokens(sentence):
            self._write({"type": "token", "text": token})
            push_message(AIMessageChunk(content=token, id=self._id), state_key=None)

    def end(self, record: Answer) -> AIMessage:
        """Stream the metadata, and return the message as the thread keeps it."""
        metadata = message_metadata(record)
        if not self._whole:
            push_message(
                AIMessageChunk(content="", id=self._id, additional_kwargs=metadata, chunk_position="last"),
                state_key=None,
            )
        return AIMessage(record["answer"], id=self._id, additional_kwargs=metadata)


def stream_tokens(text: str) -> list[str]:
    """The words of a text, each with the space after it.

    >>> stream_tokens(" Two [1].")
    [' ', 'Two ', '[1].']
    """
    return _TOKENS.findall(text)


def message_metadata(record: Answer) -> Json:
    """The status, offered readings and shortened citations of an answer, small enough to stay in a thread."""
    offered = {"options": record["options"]} if record["options"] else {}
    return {
        "status": record["status"],
        "confidence": record["confidence"],
        "citations": [_shortened_citation(citation) for citation in record["citations"]],
        **offered,
    }


def _shortened_citation(citation: Citation) -> Json:
    return {
        "n": citation["n"],
        "tool": citation["tool"],
        "source": citation["source"],
        "text": textwrap.shorten(citation["text"], LONGEST_CITED, placeholder=" ..."),
        "keys": citation["keys"][:MOST_KEYS],
        "place": citation["place"],
    }
