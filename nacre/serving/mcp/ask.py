"""The tool `ask`: question -> answer, with progress; a client that can show a form is asked which reading it meant.
Since 2026-07-28 as the result of the call, before as a request of the server (needs an open connection)."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError as McpToolError
from mcp.shared.exceptions import NoBackChannelError
from mcp.types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult

from nacre.records.answer import Answer
from nacre.serving.keys import LOCAL_CALLER, Caller
from nacre.serving.telemetry import Metrics, trace_turn
from nacre.serving.transcript import AgentAnswer, agent_answer, collect_record, offered_options
from nacre.serving.turn_service import RULES_CONTEXT, TurnInput, TurnService

# versions are dates, so that their order is that of text
REPLY_IN_NEXT_CALL = "2026-07-28"

REPLY_KEY, FIELD = "which", "option"

# answers that are kept for clients that decline to choose (given)
MAX_DECLINABLE = 200

MAX_MESSAGE = 2000


@dataclass(frozen=True)
class ToolContext:
    """The turn service of a request, and who sent it."""

    service: TurnService
    caller: Caller = LOCAL_CALLER
    metrics: Metrics | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class AskCall:
    """One call of the tool."""

    question: str
    graph: str | None
    thread: str | None


class AskTool:
    """Answers calls. It keeps the latest answers for clients that decline to choose."""

    def __init__(self) -> None:
        self._declinable: OrderedDict[tuple[str, AskCall], tuple[str, AgentAnswer]] = OrderedDict()

    async def answer(self, context: ToolContext, ctx: Context, call: AskCall) -> AgentAnswer | InputRequiredResult:
        """The answer, or a question back. Raises NacreError or McpToolError if nothing can be asked."""
        context.service.check_capacity(context.caller)
        reply = (ctx.input_responses or {}).get(REPLY_KEY)
        if isinstance(reply, ElicitResult):
            return await self._replied(context, ctx, call, reply)
        elicitation = ctx.client_capabilities.elicitation if ctx.client_capabilities else None
        # a client that declares no mode shows forms
        if elicitation is None or (elicitation.form is None and elicitation.url is not None):
            return agent_answer(await _turn(context, ctx, call))
        # the reply is asked after this question
        record = await _turn(context, ctx, call, earlier=())
        options, answer = offered_options(record), agent_answer(record)
        if not options:
            return answer
        words = {"type": "string", "title": "Which did you mean?", "enum": [option["words"] for option in options]}
        question_back = ElicitRequestFormParams(
            message=record["answer"][:MAX_MESSAGE],
            requested_schema={"type": "object", "properties": {FIELD: words}, "required": [FIELD]},
        )
        if (ctx.protocol_version or "") >= REPLY_IN_NEXT_CALL:
            self._keep(context, call, record["graph"], answer)
            return InputRequiredResult(input_requests={REPLY_KEY: ElicitRequest(params=question_back)})
        try:
            session = ctx.request_context.session
            reply = await session.elicit_form(question_back.message, question_back.requested_schema)
        except NoBackChannelError:
            return answer
        return await self._replied(context, ctx, call, reply) if reply.action == "accept" else answer

    async def _replied(self, context: ToolContext, ctx: Context, call: AskCall, reply: ElicitResult) -> AgentAnswer:
        """The answer to the chosen reading; the first answer if the client chose none."""
        if reply.action != "accept":
            # a key may have lost the graph, or the graph its name, since the question was answered
            turn = TurnInput(call.question, call.graph, call.thread, RULES_CONTEXT, context.caller)
            name = await context.service.check_question(turn)
            graph, kept = self._declinable.get((context.caller.owner, call), ("", None))
            return kept if kept and graph == name else agent_answer(await _turn(context, ctx, call))
        words = (reply.content or {}).get(FIELD)
        if not isinstance(words, str):
            raise McpToolError(f"The reply has no {FIELD!r}. Send the words of one option, or decline.")
        chosen = AskCall(words, call.graph, call.thread)
        return agent_answer(await _turn(context, ctx, chosen, earlier=(call.question,)))

    def _keep(self, context: ToolContext, call: AskCall, graph: str, answer: AgentAnswer) -> None:
        self._declinable[context.caller.owner, call] = graph, answer
        while len(self._declinable) > MAX_DECLINABLE:
            self._declinable.popitem(last=False)


async def _turn(context: ToolContext, ctx: Context, call: AskCall, earlier: Sequence[str] | None = None) -> Answer:
    """In a task that is cancelled once: the SDK cancels again and again, which would interrupt its cleanup."""
    turn_input = TurnInput(call.question, call.graph, call.thread, caller=context.caller, earlier=earlier)
    events = context.service.events(turn_input)
    if context.metrics is not None:
        events = trace_turn(context.metrics.count_events(events), context.headers)
    turn = asyncio.create_task(collect_record(_with_progress(events, ctx.request_context)))
    try:
        return await asyncio.shield(turn)
    finally:
        turn.cancel()


async def _with_progress(
    events: AsyncGenerator[tuple[str, Any]], ctx: ServerRequestContext[Any, Any]
) -> AsyncGenerator[tuple[str, Any]]:
    """The same events; the client is notified of each step, if it sent a token for this."""
    step = 0
    async with aclosing(events):
        async for kind, payload in events:
            if message := _progress_message(kind, payload):
                step += 1
                await ctx.session.report_progress(step, None, message)
            yield kind, payload


def _progress_message(kind: str, payload: Any) -> str:
    """What a step of a turn has done or does next, or "".

    >>> _progress_message("route", {"round": 1, "branches": ["sql", "lexical"]})
    'Asking sql, lexical'
    """
    if kind == "understand":
        readings = payload["readings"]
        return f"Understood as: {readings[0]['words']}" if readings else "Nothing understood yet"
    if kind == "route":
        return f"Asking {', '.join(payload['branches'])}" if payload["branches"] else "Writing the answer"
    return f"{payload['tool']}: {payload['rows']} rows" if kind == "query" else ""
