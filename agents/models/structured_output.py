"""Ask a model for a record: by a JSON schema, a tool call or in plain words, whichever its server supports."""

import json
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import Runnable, RunnableLambda
from pydantic import BaseModel, ValidationError

Method = Literal["json_schema", "tools", "text"]
METHODS: tuple[Method, ...] = ("json_schema", "tools", "text")
_BOUND = {"json_schema": "json_schema", "tools": "function_calling"}
# status codes by which a server refuses a format
_REFUSALS = (400, 404, 405, 415, 422, 501)


class StructuredOutput:
    """The format of one model's records. With `auto` it changes to the next format when the server refuses one.

    If the server refuses all of them something else is wrong, and the next question starts with the first again.
    """

    def __init__(self, method: Method | Literal["auto"] = "auto") -> None:
        self.setting = method
        self.method: Method = METHODS[0] if method == "auto" else method

    def bind(self, model: BaseChatModel, shape: type[BaseModel]) -> Runnable[Any, Any]:
        """The model as a runnable that returns {"raw", "parsed", "parsing_error"}."""
        if self.method == "text":
            return model | RunnableLambda(lambda raw: parse_record(raw, shape))
        return model.with_structured_output(shape, method=_BOUND[self.method], include_raw=True)

    def with_instructions(self, messages: list[BaseMessage], shape: type[BaseModel]) -> list[BaseMessage]:
        """The messages for this format; for plain words the last one describes the fields."""
        if self.method != "text":
            return messages
        form = json.dumps(shape.model_json_schema()["properties"], sort_keys=True)
        last = f"{messages[-1].content}\n\nAnswer with one JSON object and nothing else. Its fields: {form}"
        return [*messages[:-1], HumanMessage(last)]

    def change_after(self, error: Exception, tried: Method) -> bool:
        """Whether to try another format now, after an error with the format `tried`."""
        if self.setting != "auto" or getattr(error, "status_code", None) not in _REFUSALS:
            return False
        if self.method != tried:
            # a concurrent question has changed it already
            return METHODS.index(self.method) > METHODS.index(tried)
        following = METHODS.index(tried) + 1
        self.method = METHODS[following % len(METHODS)]
        return following < len(METHODS)


def parse_record(raw: AIMessage, shape: type[BaseModel]) -> dict[str, Any]:
    """The record in a text: the outermost braces, or for a shape with one text field the content of a fence.

    >>> class Word(BaseModel):
    ...     word: str
    >>> parse_record(AIMessage('Sure: {"word": "a"}'), Word)["parsed"]
    Word(word='a')
    >>> parse_record(AIMessage("```\\nb\\n```"), Word)["parsed"]
    Word(word='b')
    """
    text = str(raw.text)
    fields = list(shape.model_fields)
    first, last = text.find("{"), text.rfind("}")
    # braces in a fence, as in YAML, are no JSON
    in_fence = len(fields) == 1 and "```" in text and not fenced_text(text).startswith("{")
    try:
        if 0 <= first < last and not in_fence:
            return {"raw": raw, "parsed": shape.model_validate_json(text[first : last + 1]), "parsing_error": None}
        # a reply that starts with a brace was cut off
        if len(fields) == 1 and text.strip() and not fenced_text(text).startswith("{"):
            return {"raw": raw, "parsed": shape.model_validate({fields[0]: fenced_text(text)}), "parsing_error": None}
    except ValidationError as error:
        return {"raw": raw, "parsed": None, "parsing_error": error}
    return {"raw": raw, "parsed": None, "parsing_error": ValueError("there is no JSON object in it")}


def fenced_text(text: str) -> str:
    """The content of the first fence of a text, or the text.

    >>> fenced_text("Here: ```sql\\nSELECT 1\\n``` done")
    'SELECT 1'
    """
    _, fence, rest = text.partition("```")
    if not fence:
        return text.strip()
    inside = rest.partition("```")[0]
    head, line, body = inside.partition("\n")
    return (body if line and head.strip().isalpha() else inside).strip()
