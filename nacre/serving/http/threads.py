"""/api/threads: list, search, read, rename, fork, rate, export and delete a caller's conversations."""

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, Field

from nacre.records.threads import run_in_thread
from nacre.serving import transcript
from nacre.serving.errors import NotFound
from nacre.serving.http.auth import CallerDep
from nacre.serving.http.dependencies import ERROR_RESPONSES, ThreadsDep, TurnServiceDep
from nacre.serving.threads import MAX_THREAD_NAME
from nacre.stores.state.conversations import Conversation, Turn

MAX_LISTED = 200

MAX_TITLE = 200

MAX_FEEDBACK = 4000

router = APIRouter(prefix="/api/threads", tags=["threads"], responses=ERROR_RESPONSES)

ThreadPath = Annotated[str, Path(min_length=1, max_length=MAX_THREAD_NAME)]

TurnPath = Annotated[int, Path(ge=1, le=2**31)]


class NewThread(BaseModel):
    """A new thread; the graph may be omitted if there is only one."""

    graph: str | None = None
    title: str = Field("", max_length=MAX_TITLE)


class ThreadTitle(BaseModel):
    """The new title."""

    title: str = Field(min_length=1, max_length=MAX_TITLE)


class ForkPoint(BaseModel):
    """The last turn that the new thread shares with the old one."""

    turn: int = Field(ge=1, le=2**31)


class AnswerFeedback(BaseModel):
    """A user's rating of an answer: 1 good, -1 bad, 0 none."""

    thumb: Literal[-1, 0, 1]
    comment: str = Field("", max_length=MAX_FEEDBACK)


class ThreadTranscript(BaseModel):
    """A thread with its finished turns. `unanswered` is the question of a turn that was stopped after them."""

    thread: Conversation
    turns: list[Turn]
    unanswered: str | None = None


@router.get("", summary="List or search threads")
async def list_threads(
    threads: ThreadsDep,
    caller: CallerDep,
    search: Annotated[str, Query(max_length=200)] = "",
    limit: Annotated[int, Query(ge=1, le=MAX_LISTED)] = 50,
    skip: Annotated[int, Query(ge=0, le=2**31)] = 0,
) -> list[Conversation]:
    """The latest first; `search` covers titles, questions and answers."""
    return await threads.listed(caller, search, limit, skip)


@router.post("", summary="Create a thread", status_code=201)
async def begin_thread(
    body: NewThread, service: TurnServiceDep, threads: ThreadsDep, caller: CallerDep
) -> Conversation:
    """A thread without turns. Without a title, the first question becomes its title."""
    graph = await run_in_thread(service.resolve_graph, body.graph, caller)
    return await threads.create(caller, graph, body.title)


@router.get("/{thread}", summary="Read a thread")
async def read_thread(thread: ThreadPath, threads: ThreadsDep, caller: CallerDep) -> ThreadTranscript:
    """The thread and its finished turns, each with its record."""
    conversation = await threads.get(caller, thread)
    turns = await threads.turns(caller, conversation.thread)
    unanswered = await threads.unanswered(caller, conversation.thread)
    return ThreadTranscript(thread=conversation, turns=turns, unanswered=str(unanswered.text) if unanswered else None)


@router.patch("/{thread}", summary="Rename a thread")
async def rename_thread(thread: ThreadPath, body: ThreadTitle, threads: ThreadsDep, caller: CallerDep) -> Conversation:
    """Change the title."""
    return await threads.rename(caller, thread, body.title)


@router.delete("/{thread}", summary="Delete a thread", status_code=204)
async def delete_thread(thread: ThreadPath, threads: ThreadsDep, caller: CallerDep) -> None:
    """Delete the thread and its checkpoints."""
    await threads.delete(caller, thread)


@router.delete("", summary="Delete a thread whose name no path can contain", status_code=204)
async def delete_named_thread(
    name: Annotated[str, Query(min_length=1, max_length=MAX_THREAD_NAME)], threads: ThreadsDep, caller: CallerDep
) -> None:
    """Delete a thread with a slash or a control character in its name; new threads have none."""
    await threads.delete(caller, name)


@router.post("/{thread}/fork", summary="Fork a thread at a turn", status_code=201)
async def fork_thread(thread: ThreadPath, body: ForkPoint, threads: ThreadsDep, caller: CallerDep) -> Conversation:
    """A new thread that shares the turns up to this one. To edit a question in place, ask with `instead_of`."""
    return await threads.fork(caller, thread, body.turn)


@router.put("/{thread}/turns/{turn}/feedback", summary="Rate an answer", status_code=204)
async def rate_answer(
    thread: ThreadPath, turn: TurnPath, body: AnswerFeedback, threads: ThreadsDep, caller: CallerDep
) -> None:
    """Store a thumb and a comment with the turn."""
    stored_turn = await threads.turn(caller, thread, turn)
    key = caller.owner, thread, stored_turn.record["turn"]
    await run_in_thread(threads.conversations.say, *key, body.thumb, body.comment)


@router.get(
    "/{thread}/turns/{turn}/rows.csv",
    summary="Export the rows of an answer",
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
    """The rows behind citation [n] as CSV."""
    record = (await threads.turn(caller, thread, turn)).record
    cited = next((each for each in record["citations"] if each["n"] == citation and each["rows"]), None)
    if cited is None:
        raise NotFound(f"The answer has no rows at [{citation}].")
    return _file(transcript.rows_csv(cited), "text/csv", f"turn-{turn}.csv")


@router.get(
    "/{thread}/export",
    summary="Export a conversation",
    response_class=Response,
    responses={200: {"content": {"text/markdown": {}, "application/json": {}}}},
)
async def export_thread(
    thread: ThreadPath, threads: ThreadsDep, caller: CallerDep, format: Literal["markdown", "json"] = "markdown"
) -> Response:
    """The whole conversation as Markdown or JSON."""
    content = await read_thread(thread, threads, caller)
    if format == "json":
        return _file(content.model_dump_json(indent=1), "application/json", "conversation.json")
    return _file(transcript.conversation_markdown(content.thread, content.turns), "text/markdown", "conversation.md")


def _file(text: str, kind: str, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text.encode(errors="replace"), media_type=f"{kind}; charset=utf-8", headers=headers)
