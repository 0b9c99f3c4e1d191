"""What an OpenAI client gets: an answer record -> a chat completion, whole or in chunks, its citations as footnotes."""

import time
from collections.abc import Iterator
from typing import Any

from nacre.records.answer import Answer
from nacre.serving.transcript import escape_markdown

# of the record; queries, triples and rows are at /api/ask
EXTRACT_FIELDS = (
    "id", "graph", "version", "thread", "answer", "values", "table", "unit", "status", "confidence", "reason",
    "options", "caveats",
)  # fmt: skip
MAX_FOOTNOTE = 300


class ChatCompletion:
    """The reply to one request; its id and time are in every chunk."""

    def __init__(self, id: str, model: str) -> None:
        self._head = {"id": f"chatcmpl-{id}", "created": int(time.time()), "model": model}

    def body(self, record: Answer) -> dict[str, Any]:
        """The reply that is not streamed. Its content is the record's `answer`, then the footnotes."""
        message = {"role": "assistant", "content": record["answer"] + footnotes(record), "refusal": None}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        return {
            **self._head,
            "object": "chat.completion",
            "choices": [choice],
            "usage": token_usage(record),
            "nacre": record_extract(record),
        }

    def first_chunk(self) -> dict[str, Any]:
        """The chunk before the first token."""
        return self._chunk({"role": "assistant", "content": ""})

    def token_chunk(self, text: str) -> dict[str, Any]:
        """The chunk of a token."""
        return self._chunk({"content": text})

    def last_chunks(self, record: Answer, *, with_usage: bool) -> Iterator[dict[str, Any]]:
        """The chunks after the last token: footnotes, the end with the record, and the usage where it is asked for."""
        if notes := footnotes(record):
            yield self._chunk({"content": notes})
        yield {**self._chunk({}, "stop"), "nacre": record_extract(record)}
        if with_usage:
            yield {**self._chunk({}), "choices": [], "usage": token_usage(record)}

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return {**self._head, "object": "chat.completion.chunk", "choices": [choice]}


def footnotes(record: Answer) -> str:
    """What stands below the answer: a line for each citation, and for each note; "" where there is none.

    What comes from data is shown as it is: no link, image or heading can be made of it.
    """
    lines = [
        f"- [{each['n']}] {escape_markdown(_shorten(each['source']))}: {escape_markdown(_shorten(each['text']))}"
        for each in record["citations"]
    ]
    lines += [f"- Note: {escape_markdown(caveat)}" for caveat in record["caveats"]]
    return "\n\n" + "\n".join(lines) if lines else ""


def token_usage(record: Answer) -> dict[str, Any]:
    """The tokens that chat models read and wrote; none where the rules answered."""
    return {
        "prompt_tokens": record["input_tokens"],
        "completion_tokens": record["output_tokens"],
        "total_tokens": record["input_tokens"] + record["output_tokens"],
        "prompt_tokens_details": {"cached_tokens": record["cached_tokens"]},
    }


def record_extract(record: Answer) -> dict[str, Any]:
    """The part of the record that a client of another protocol is given, with its citations in brief."""
    citations = [
        {"n": each["n"], "source": each["source"], "text": each["text"], "basis": each["basis"], "keys": each["keys"]}
        for each in record["citations"]
    ]
    return {**{name: record[name] for name in EXTRACT_FIELDS}, "citations": citations}  # type: ignore[literal-required]


def _shorten(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= MAX_FOOTNOTE else f"{text[:MAX_FOOTNOTE].rstrip()} ..."
