"""Ask a graph that a test writes: Turtle -> a function from a question to the answer of the rules."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from graph.app import compose
from graph.stream import stream_turn
from ingestion.pipeline import ingest
from nacre.config.settings import Settings
from nacre.records.answer import Answer

Ask = Callable[[str], Awaitable[Answer]]


def ask_graph(text: str, folder: Path, file: str = "graph.ttl") -> Ask:
    """Ingest a graph into an empty folder, and ask it without models, vectors and earlier turns."""
    (folder / file).write_text(text, encoding="utf-8")
    ingest([str(folder / file)], "graph", data=folder / "data", embedder=None)
    app = compose(Settings(data=folder / "data", model=None, qdrant_url=None, embedder="none")).build()

    async def ask(question: str) -> Answer:
        events = [event async for event in stream_turn(app, question, graph="graph", context={"mind": "rules"})]
        answer: Answer = events[-1][1]
        return answer

    return ask


KILNS = """@prefix : <http://example.org/k/> . @prefix r: <http://www.w3.org/2000/01/rdf-schema#> .
:a a :Kiln ; r:label "Old Kiln" ; :height 12 .
:b a :Kiln ; r:label "New Kiln" ; :height 30 .
"""
KILNS_QUESTION = "How high is Old Kiln?"
