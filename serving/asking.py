"""Asking, for every way in: settings -> the events and the record of a turn, over one open data folder."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

from langgraph.checkpoint.memory import InMemorySaver

from config.settings import Settings
from graph.app import Composition, compose, remembering
from graph.builder import App
from graph.context import Context
from graph.nodes import checked_question
from graph.turn import stream
from records.answer import Answer
from records.errors import ConfigError

OWNER = "local"


class Asking:
    """Asks the graphs of one data folder."""

    def __init__(self, composition: Composition, app: App) -> None:
        self.library = composition.library
        self._app = app

    def check(self, question: object, graph: str | None) -> str:
        """The name of the graph that a question would be asked of; raises ConfigError where it can't be asked."""
        if not isinstance(question, str):
            raise ConfigError(f"The question is {type(question).__name__}, not text. Send it as a string.")
        checked_question(question)
        return self.library.resolve(graph)

    async def events(
        self,
        question: str,
        graph: str | None = None,
        thread: str | None = None,
        context: Context | None = None,
        id: str = "",
    ) -> AsyncIterator[tuple[str, Any]]:
        """The events of one turn as they happen, the record last; see `graph.turn.stream`."""
        name = self.check(question, graph)
        # half of a character, as a broken paste leaves it, fits into no store
        question = question.encode(errors="replace").decode()
        # a form that is left empty names no thread
        thread = thread.encode(errors="replace").decode() if thread else None
        async for event in stream(self._app, question, graph=name, thread=thread, owner=OWNER, context=context, id=id):
            yield event

    async def answer(
        self,
        question: str,
        graph: str | None = None,
        thread: str | None = None,
        context: Context | None = None,
        id: str = "",
    ) -> Answer:
        """The record of one turn."""
        record: Answer | None = None
        async for kind, payload in self.events(question, graph, thread, context, id):
            if kind == "answer":
                record = cast(Answer, payload)
        if record is None:
            raise RuntimeError("the turn ended without an answer")
        return record


@asynccontextmanager
async def opened(settings: Settings, *, lasting: bool) -> AsyncIterator[Asking]:
    """Open all that answering needs. With `lasting`, threads are kept in the data folder, else only in memory."""
    try:
        composition = compose(settings)
    except ValueError as error:
        # the packages below `records` can't raise our errors; theirs are written for people too
        raise ConfigError(str(error)) from error
    try:
        if lasting:
            async with remembering(composition) as app:
                yield Asking(composition, app)
        else:
            yield Asking(composition, composition.build(InMemorySaver()))
    finally:
        composition.library.close()
