"""Ask a graph that a test writes: Turtle -> a function from the questions of a conversation to its last answer by the
rules."""

from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path

from langgraph.checkpoint.memory import InMemorySaver

from graph.builder import compose
from graph.stream import stream_turn
from ingestion.pipeline import ingest
from nacre.config.settings import Settings
from nacre.records.answer import Answer

Ask = Callable[..., Awaitable[Answer]]


def ask_graph(text: str, folder: Path, file: str = "graph.ttl") -> Ask:
    """Ingest a graph into an empty folder, and ask it without models and vectors; each call is a conversation of its
    own."""
    (folder / file).write_text(text, encoding="utf-8")
    ingest([str(folder / file)], "graph", data=folder / "data", embedder=None)
    app = compose(Settings(data=folder / "data", model=None, qdrant_url=None, embedder="none")).build(InMemorySaver())
    numbers = count()

    async def ask(*questions: str) -> Answer:
        thread = f"thread {next(numbers)}"
        for question in questions:
            turn = stream_turn(app, question, graph="graph", thread=thread, context={"mind": "rules"})
            answer: Answer = [event async for event in turn][-1][1]
        return answer

    return ask


KILNS = """@prefix : <http://example.org/k/> . @prefix r: <http://www.w3.org/2000/01/rdf-schema#> .
:a a :Kiln ; r:label "Old Kiln" ; :height 12 .
:b a :Kiln ; r:label "New Kiln" ; :height 30 .
"""
KILNS_QUESTION = "How high is Old Kiln?"
