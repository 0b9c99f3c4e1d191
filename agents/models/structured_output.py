"""How a model is asked for a record: by a JSON schema, by a tool call, or in plain words; what its server takes."""

import json
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import Runnable, RunnableLambda
from pydantic import BaseModel, ValidationError

Method = Literal["json_schema", "tools", "text"]
METHODS: tuple[Method, ...] = ("json_schema", "tools", "text")
_BOUND = {"json_schema": "json_schema", "tools": "function_calling"}
# a server that can't do what it is asked for says so with one of these
_REFUSALS = (400, 404, 405, 415, 422, 501)


class StructuredOutput:
    """One model's way to give records. In `auto` it moves on to the next way for good when the server refuses one;
    where it refuses them all, something else is wrong, and the next question begins with the first again."""

    def __init__(self, method: Method | Literal["auto"] = "auto") -> None:
        self.setting = method
        self.method: Method = METHODS[0] if method == "auto" else method

    def bound(self, model: BaseChatModel, shape: type[BaseModel]) -> Runnable[Any, Any]:
        """The model as a runnable that gives {"raw", "parsed", "parsing_error"}."""
        if self.method == "text":
            return model | RunnableLambda(lambda raw: parse_record(raw, shape))
        return model.with_structured_output(shape, method=_BOUND[self.method], include_raw=True)

    def worded(self, messages: list[BaseMessage], shape: type[BaseModel]) -> list[BaseMessage]:
        """The messages as this way needs them: in plain words the form of the answer is asked for in the last one."""
        if self.method != "text":
            return messages
        form = json.dumps(shape.model_json_schema()["properties"], sort_keys=True)
        last = f"{messages[-1].content}\n\nAnswer with one JSON object and nothing else. Its fields: {form}"
        return [*messages[:-1], HumanMessage(last)]

    def moves_on(self, error: Exception, tried: Method) -> bool:
        """Whether another way is to be tried now, after the server refused the one that was `tried`."""
        if self.setting != "auto" or getattr(error, "status_code", None) not in _REFUSALS:
            return False
        if self.method != tried:
            # a question that was asked at the same time moved on already
            return METHODS.index(self.method) > METHODS.index(tried)
        following = METHODS.index(tried) + 1
        self.method = METHODS[following % len(METHODS)]
        return following < len(METHODS)


def parse_record(raw: AIMessage, shape: type[BaseModel]) -> dict[str, Any]:
    """The record in a text: the outermost braces, or, of a shape with one text field, what a fence holds.

    >>> class Word(BaseModel):
    ...     word: str
    >>> parse_record(AIMessage('Sure: {"word": "a"}'), Word)["parsed"], parse_record(AIMessage("```\\nb\\n```"), Word)["parsed"]
    (Word(word='a'), Word(word='b'))
    """
    text = str(raw.text)
    fields = list(shape.model_fields)
    first, last = text.find("{"), text.rfind("}")
    try:
        if 0 <= first < last:
            return {"raw": raw, "parsed": shape.model_validate_json(text[first : last + 1]), "parsing_error": None}
        # an answer that was cut off is no text of its own
        if len(fields) == 1 and text.strip() and not fenced_text(text).startswith("{"):
            return {"raw": raw, "parsed": shape.model_validate({fields[0]: fenced_text(text)}), "parsing_error": None}
    except ValidationError as error:
        return {"raw": raw, "parsed": None, "parsing_error": error}
    return {"raw": raw, "parsed": None, "parsing_error": ValueError("there is no JSON object in it")}


def fenced_text(text: str) -> str:
    """What stands in the first fence of a text, or the text.

    >>> fenced_text("Here: ```sql\\nSELECT 1\\n``` done")
    'SELECT 1'
    """
    _, fence, rest = text.partition("```")
    if not fence:
        return text.strip()
    inside = rest.partition("```")[0]
    head, line, body = inside.partition("\n")
    return (body if line and head.strip().isalpha() else inside).strip()
