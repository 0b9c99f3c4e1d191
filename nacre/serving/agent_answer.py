"""What agents and front ends of other vendors get of an answer: its record -> text, values, citations, options."""

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, Field

from nacre.errors import ConfigError
from nacre.records.answer import Answer, Option, TableRecord, Value
from nacre.records.threads import run_in_thread
from nacre.serving.keys import Caller
from nacre.serving.turn_service import TurnService

MAX_KEYS = 20


class AgentCitation(BaseModel):
    """The evidence behind one [n] of an answer."""

    n: int
    source: str
    text: str
    basis: str
    query: str = Field(description="The query behind it, or an empty string.")
    keys: list[str] = Field(description="IRIs of the things behind it, 20 at most.")


class AgentAnswer(BaseModel):
    """An answer with its citations."""

    answer: str = Field(description="The answer as text; each [n] is a citation.")
    values: list[Value] = Field(description="The answer as data.")
    table: TableRecord | None
    unit: str | None
    status: str = Field(
        description="answered, partial, clarify, not_in_graph, not_understood or failed. Only answered is reliable."
    )
    confidence: float | None = Field(description="Probability that the values are right, 0 to 1.")
    reason: str | None
    options: list[Option] = Field(description="Other readings of the question; send the words of one to choose it.")
    caveats: list[str]
    unclear: list[str] = Field([], description="Words that nothing accounts for: teach_word can make them names.")
    citations: list[AgentCitation]
    graph: str
    version: str
    thread: str | None


def agent_answer(record: Answer) -> AgentAnswer:
    """The part of an answer record that an agent needs."""
    queries = {query["i"]: query["text"] for query in record["queries"]}
    citations = [
        AgentCitation(
            n=each["n"],
            source=each["source"],
            text=each["text"],
            basis=each["basis"],
            query=queries.get(each["query"], "") if each["query"] is not None else "",
            keys=each["keys"][:MAX_KEYS],
        )
        for each in record["citations"]
    ]
    # records of earlier releases lack later fields
    fields = {name: value for name, value in record.items() if name in AgentAnswer.model_fields}
    return AgentAnswer(**{**fields, "citations": citations})


def offered_options(record: Answer) -> Sequence[Option]:
    """The other readings that a client is asked to choose from; none unless the answer asks which was meant."""
    return record["options"] if record["status"] == "clarify" else ()


async def awaits_choice(record: Answer, service: TurnService, caller: Caller) -> bool:
    """Whether a stored answer is the last one of its thread and asks which reading was meant."""
    if service.threads is None or not offered_options(record):
        return False
    last = await run_in_thread(service.threads.conversations.last, caller.owner, str(record["thread"]))
    return last == record["turn"]


def option_schema(options: Sequence[Option]) -> dict[str, Any]:
    """A JSON Schema of the reply: the number of an option, with its words as title.

    >>> option_schema([{"n": 1, "words": "boats built in Lund"}])["properties"]["option"]["oneOf"]
    [{'const': 1, 'title': 'boats built in Lund'}]
    """
    choices = [{"const": option["n"], "title": option["words"]} for option in options]
    option = {"type": "integer", "title": "Which did you mean?", "oneOf": choices}
    return {"type": "object", "properties": {"option": option}, "required": ["option"]}


def chosen_words(options: Sequence[Option], reply: Any) -> str:
    """The words of the option that a reply names by its number or its words; raises ConfigError.

    >>> chosen_words([{"n": 1, "words": "boats built in Lund"}], {"option": 1})
    'boats built in Lund'
    """
    choice = reply.get("option") if isinstance(reply, dict) else reply
    for option in options:
        # 1 equals True in Python
        if not isinstance(choice, bool) and choice in (option["n"], str(option["n"]), option["words"]):
            return option["words"]
    numbers = ", ".join(str(option["n"]) for option in options)
    raise ConfigError(f'The reply names none of the options. Send {{"option": N}} with N one of {numbers}.')
