"""/api/threads: a caller's conversations -> listed, searched, read, renamed, forked, judged, taken away, deleted."""

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, Field

from agents.run_in_thread import run_in_thread
from nacre.serving import transcript
from nacre.serving.http.auth import CallerDep
from nacre.serving.http.dependencies import ERROR_RESPONSES, ThreadsDep, TurnServiceDep
from nacre.serving.http.errors import NotFound
from nacre.serving.threads import MAX_THREAD_NAME
from nacre.stores.sqlite.conversations import Conversation, Turn

MAX_LISTED = 200
MAX_TITLE = 200
MAX_FEEDBACK = 4000

router = APIRouter(prefix="/api/threads", tags=["threads"], responses=ERROR_RESPONSES)

ThreadPath = Annotated[str, Path(min_length=1, max_length=MAX_THREAD_NAME)]
TurnPath = Annotated[int, Path(ge=1, le=2**31)]


class NewThread(BaseModel):
    """A thread to begin; the graph may be left out where there is only one."""

    graph: str | None = None
    title: str = Field("", max_length=MAX_TITLE)


class ThreadTitle(BaseModel):
    """Another title."""

    title: str = Field(min_length=1, max_length=MAX_TITLE)


class ForkPoint(BaseModel):
    """The last turn that the new thread shares with the old."""

    turn: int = Field(ge=1, le=2**31)


class AnswerFeedback(BaseModel):
    """What a person thinks of an answer: 1 good, -1 bad, 0 neither."""

    thumb: Literal[-1, 0, 1]
    comment: str = Field("", max_length=MAX_FEEDBACK)


class ThreadTranscript(BaseModel):
    """A thread with all its finished turns."""

    thread: Conversation
    turns: list[Turn]


@router.get("", summary="List or search threads")
async def list_threads(
    threads: ThreadsDep,
    caller: CallerDep,
    search: Annotated[str, Query(max_length=200)] = "",
    limit: Annotated[int, Query(ge=1, le=MAX_LISTED)] = 50,
    skip: Annotated[int, Query(ge=0, le=2**31)] = 0,
) -> list[Conversation]:
    """The latest first; `search` looks into titles, questions and answers."""
    return await threads.listed(caller, _whole(search), limit, skip)


@router.post("", summary="Begin a thread", status_code=201)
async def begin_thread(
    given: NewThread, service: TurnServiceDep, threads: ThreadsDep, caller: CallerDep
) -> Conversation:
    """A thread without turns; its title becomes the first question where none is given."""
    graph = await run_in_thread(service.resolve_graph, given.graph, caller)
    return await threads.create(caller, graph, _whole(given.title))


@router.get("/{thread}", summary="Read a thread")
async def read_thread(thread: ThreadPath, threads: ThreadsDep, caller: CallerDep) -> ThreadTranscript:
    """The thread and its finished turns, each with its record."""
    found = await threads.get(caller, _whole(thread))
    return ThreadTranscript(thread=found, turns=await threads.turns(caller, found.thread))


@router.patch("/{thread}", summary="Rename a thread")
async def rename_thread(thread: ThreadPath, given: ThreadTitle, threads: ThreadsDep, caller: CallerDep) -> Conversation:
    """Another title, nothing else."""
    return await threads.rename(caller, _whole(thread), _whole(given.title))


@router.delete("/{thread}", summary="Delete a thread", status_code=204)
async def delete_thread(thread: ThreadPath, threads: ThreadsDep, caller: CallerDep) -> None:
    """It is gone, with all that the server remembers of it."""
    await threads.delete(caller, _whole(thread))


@router.post("/{thread}/fork", summary="Fork a thread at a turn", status_code=201)
async def fork_thread(thread: ThreadPath, given: ForkPoint, threads: ThreadsDep, caller: CallerDep) -> Conversation:
    """A new thread that shares the turns up to this one. To edit a question in place, ask with `instead_of`."""
    return await threads.fork(caller, _whole(thread), given.turn)


@router.put("/{thread}/turns/{turn}/feedback", summary="Judge an answer", status_code=204)
async def rate_answer(
    thread: ThreadPath, turn: TurnPath, given: AnswerFeedback, threads: ThreadsDep, caller: CallerDep
) -> None:
    """A thumb and a comment, kept with the turn."""
    found = await _turn(threads, caller, thread, turn)
    place = caller.owner, _whole(thread), found.record["turn"]
    await run_in_thread(threads.conversations.say, *place, given.thumb, _whole(given.comment))


@router.get(
    "/{thread}/turns/{turn}/rows.csv",
    summary="Take the rows of an answer away",
    response_class=Response,
    responses={200: {"content": {"text/csv": {"schema": {"type": "string"}}}}},
)
async def export_rows(
    thread: ThreadPath,
    turn: TurnPath,
    threads: ThreadsDep,
    caller: CallerDep,
    citation: Annotated[int, Query(ge=1)] = 1,
) -> Response:
    """The rows that the citation [n] shows, as CSV."""
    record = (await _turn(threads, caller, thread, turn)).record
    cited = next((each for each in record["citations"] if each["n"] == citation and each["rows"]), None)
    if cited is None:
        raise NotFound(f"The answer has no rows at [{citation}].")
    return _file(transcript.rows_csv(cited), "text/csv", f"turn-{turn}.csv")


@router.get(
    "/{thread}/export",
    summary="Take a conversation away",
    response_class=Response,
    responses={200: {"content": {"text/markdown": {}, "application/json": {}}}},
)
async def export_thread(
    thread: ThreadPath, threads: ThreadsDep, caller: CallerDep, format: Literal["markdown", "json"] = "markdown"
) -> Response:
    """The whole conversation, as Markdown to read or JSON to work with."""
    whole = await read_thread(thread, threads, caller)
    if format == "json":
        return _file(whole.model_dump_json(indent=1), "application/json", "conversation.json")
    return _file(transcript.conversation_markdown(whole.thread, whole.turns), "text/markdown", "conversation.md")


async def _turn(threads: ThreadsDep, caller: CallerDep, thread: str, turn: int) -> Turn:
    for found in await threads.turns(caller, _whole(thread)):
        if found.record["turn"] == turn:
            return found
    raise NotFound(f"This thread has no turn {turn}.")


def _file(text: str, kind: str, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text.encode(errors="replace"), media_type=f"{kind}; charset=utf-8", headers=headers)


def _whole(text: str) -> str:
    """Text without halves of characters, which fit into no store."""
    return text.encode(errors="replace").decode()
