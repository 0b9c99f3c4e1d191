"""Requests of AG-UI clients: the input of a run -> the question, its thread and the options of its turn."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from ag_ui.core import ResumeEntry, RunAgentInput, TextPart, UserMessage

from agents.run_in_thread import run_in_thread
from graph.context import Context, parse_context
from nacre.errors import ConfigError
from nacre.records.answer import Answer
from nacre.serving.agent_answer import chosen_words, offered_options
from nacre.serving.errors import NotFound
from nacre.serving.keys import Caller
from nacre.serving.openai.chat_request import MAX_MESSAGES
from nacre.serving.turn_service import TurnService

INSTEAD_OF = "instead_of"


class RunRequest(NamedTuple):
    """What a run asks. The question is None if the run only gives up an interrupt."""

    question: str | None
    graph: str | None
    thread: str
    context: Context
    instead_of: int | None


async def parse_run_request(
    input: RunAgentInput, graph: str | None, service: TurnService, caller: Caller
) -> RunRequest:
    """The question of a run: the chosen option of the interrupt that it resumes, or its last message.

    `graph` is that of the address; `forwardedProps` may have the options of a turn, `graph` and `instead_of` among
    them. Raises NacreError if nothing can be asked.
    """
    options = _turn_options(input.forwarded_props)
    instead_of = options.pop(INSTEAD_OF, None)
    if instead_of is not None and not (type(instead_of) is int and 0 < instead_of < 2**31):
        raise ConfigError(f"{INSTEAD_OF} is the number of a turn.")
    context = parse_context({"graph": graph, **options})
    if len(input.messages) > MAX_MESSAGES:
        raise ConfigError(f"There are {len(input.messages)} messages; at most {MAX_MESSAGES} are allowed.")
    if input.resume:
        if len(input.resume) != 1:
            raise ConfigError("A run ends with one interrupt. Resume that one alone.")
        (entry,) = input.resume
        record = await _interrupted_answer(entry, input.thread_id, service, caller)
        given_up = entry.status == "cancelled"
        question = _last_question(input) if given_up else chosen_words(offered_options(record), entry.payload)
        return RunRequest(question, record["graph"], input.thread_id, context, instead_of)
    question = _last_question(input)
    if question is None:
        raise ConfigError("The last message must be a user message: it is the question.")
    return RunRequest(question, context.graph, input.thread_id, context, instead_of)


def _turn_options(forwarded: Any) -> dict[str, Any]:
    if forwarded is None:
        return {}
    if not isinstance(forwarded, Mapping):
        raise ConfigError("forwardedProps is an object with the options of a turn. Leave it out to use the defaults.")
    # front ends forward properties of their own too
    return {name: forwarded[name] for name in (*Context.model_fields, INSTEAD_OF) if name in forwarded}


def _last_question(input: RunAgentInput) -> str | None:
    """The text of the last message if a user wrote it. Earlier messages are not read: the thread remembers them."""
    last = input.messages[-1] if input.messages else None
    if not isinstance(last, UserMessage):
        return None
    if isinstance(last.content, str):
        return last.content
    for part in last.content:
        if not isinstance(part, TextPart):
            raise ConfigError(f"A message has content of type {part.type[:40]!r}; only text is supported.")
    return "\n".join(part.text for part in last.content if isinstance(part, TextPart))


async def _interrupted_answer(entry: ResumeEntry, thread: str, service: TurnService, caller: Caller) -> Answer:
    """The answer that ended with an interrupt, if it is the last one of its thread; raises NotFound."""
    unknown = NotFound("This interrupt is no longer open: the conversation has gone on or is not stored. Ask again.")
    if service.threads is None:
        raise unknown
    conversations = service.threads.conversations
    record = await run_in_thread(conversations.run, caller.owner, entry.interrupt_id)
    if record is None or record["thread"] != thread or not caller.may_read(record["graph"]):
        raise unknown
    if await run_in_thread(conversations.last, caller.owner, thread) != record["turn"] or not offered_options(record):
        raise unknown
    return record
