"""One turn after turns that the caller brings along: nothing is kept here, what the turn adds is handed back."""

import uuid
from collections.abc import AsyncIterator, Sequence

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver

from graph.builder import App
from graph.context import Context
from graph.state import Json
from graph.stream import Event, stream_turn


async def stream_stateless_turn(
    app: App, question: str, before: Sequence[Json], *, graph: str, context: Context | None = None, id: str = ""
) -> AsyncIterator[Event]:
    """As `turn.stream` in a thread whose earlier turns were `before`; after the answer ("earlier", what the next turn
    of this conversation is to be given)."""
    thread = uuid.uuid4().hex
    config = RunnableConfig(configurable={"thread_id": f"local:{thread}"})
    running = app.copy({"checkpointer": InMemorySaver()})
    if before:
        remembered = {"earlier": list(before), "turn": len(before), "about": graph}
        await running.aupdate_state(config, remembered, as_node="fuser")
    events = stream_turn(running, question, graph=graph, thread=thread, context=context, id=id)
    try:
        async for kind, payload in events:
            # the thread is gone with this turn
            yield kind, {**payload, "thread": None} if kind == "answer" else payload
    finally:
        await events.aclose()  # type: ignore[attr-defined]
    yield "earlier", (await running.aget_state(config)).values["earlier"]
