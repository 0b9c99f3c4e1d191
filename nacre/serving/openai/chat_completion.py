"""Chat completions: an answer record -> the reply to an OpenAI client, whole or in chunks, citations as footnotes."""

import time
from collections.abc import Iterator
from typing import Any, cast

from nacre.records.answer import Answer
from nacre.serving.conversations.transcript import escape_markdown

# fields of the record; /api/ask also gives queries, triples and rows
EXTRACT_FIELDS = (
    "id", "graph", "version", "thread", "answer", "values", "table", "unit", "status", "confidence", "reason",
    "options", "caveats",
)  # fmt: skip
MAX_FOOTNOTE = 300


class ChatCompletion:
    """The reply to one request; every chunk repeats its id and time."""

    def __init__(self, id: str, model: str) -> None:
        self._head = {"id": f"chatcmpl-{id}", "created": int(time.time()), "model": model}

    def body(self, record: Answer) -> dict[str, Any]:
        """The complete reply. Its content is the record's `answer`, then the footnotes."""
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
        """The chunks after the last token: footnotes, the end with the record, and the usage if requested."""
        if notes := footnotes(record):
            yield self._chunk({"content": notes})
        yield {**self._chunk({}, "stop"), "nacre": record_extract(record)}
        if with_usage:
            yield {**self._chunk({}), "choices": [], "usage": token_usage(record)}

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return {**self._head, "object": "chat.completion.chunk", "choices": [choice]}


def footnotes(record: Answer) -> str:
    """The text below the answer: one line per citation and per caveat; "" if there are none.

    Text from data is escaped, so that it can't become a link, image or heading.
    """
    lines = [
        f"- [{each['n']}] {escape_markdown(_shorten(each['source']))}: {escape_markdown(_shorten(each['text']))}"
        for each in record["citations"]
    ]
    lines += [f"- Note: {escape_markdown(caveat)}" for caveat in record["caveats"]]
    return "\n\n" + "\n".join(lines) if lines else ""


def token_usage(record: Answer) -> dict[str, Any]:
    """The tokens that chat models read and wrote; 0 if the rules answered."""
    return {
        "prompt_tokens": record["input_tokens"],
        "completion_tokens": record["output_tokens"],
        "total_tokens": record["input_tokens"] + record["output_tokens"],
        "prompt_tokens_details": {"cached_tokens": record["cached_tokens"]},
    }


def record_extract(record: Answer) -> dict[str, Any]:
    """The part of the record for clients of other protocols, with shortened citations."""
    citations = [
        {"n": each["n"], "source": each["source"], "text": each["text"], "basis": each["basis"], "keys": each["keys"]}
        for each in record["citations"]
    ]
    return {**{name: record[name] for name in EXTRACT_FIELDS}, "citations": citations}  # type: ignore[literal-required]


def plain_record(graph: str, text: str) -> Answer:
    """What a reply that rests on no turn has of a record."""
    lists: dict[str, Any] = {name: [] for name in ("values", "options", "caveats", "citations")}
    tokens = dict.fromkeys(("input_tokens", "cached_tokens", "output_tokens"), 0)
    return cast("Answer", dict.fromkeys(EXTRACT_FIELDS) | lists | tokens | {"graph": graph, "answer": text})


def _shorten(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= MAX_FOOTNOTE else f"{text[:MAX_FOOTNOTE].rstrip()} ..."
