"""/api/threads/{thread}/turns/{turn}/share and /api/shares: share an answer, list and withdraw one's links."""

from typing import Annotated

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, Field

from agents.run_in_thread import run_in_thread
from nacre.serving.conversations.threads import MAX_THREAD_NAME
from nacre.serving.errors import NotFound
from nacre.serving.http.auth import CallerDep
from nacre.serving.http.dependencies import ERROR_RESPONSES, ThreadsDep
from nacre.serving.sharing.service import AnswerSharing
from nacre.stores.conversations.shared_answers import SharedAnswerStore, ShareLink

DEFAULT_DAYS, MAX_DAYS = 30, 365

router = APIRouter(prefix="/api", tags=["sharing"], responses=ERROR_RESPONSES)


class ShareTerms(BaseModel):
    """After how many days the link ends."""

    days: int = Field(DEFAULT_DAYS, ge=1, le=MAX_DAYS)


class NewShare(BaseModel):
    """A new link. `path` follows the address of the server; it is shown once, since only its hash is stored."""

    path: str
    link: ShareLink


@router.post("/threads/{thread}/turns/{turn}/share", summary="Share an answer", status_code=201)
async def share_answer(
    request: Request,
    thread: Annotated[str, Path(min_length=1, max_length=MAX_THREAD_NAME)],
    turn: Annotated[int, Path(ge=1, le=2**31)],
    body: ShareTerms,
    threads: ThreadsDep,
    caller: CallerDep,
) -> NewShare:
    """Make an address where people without a key read a frozen copy of this answer, its sources and queries.

    Needs a key with the right `share` and a server with `NACRE_SHARING`. The copy ends with its days, its thread, its
    graph, and with the key or its right.
    """
    sharing: AnswerSharing = request.app.state.sharing
    name = thread.encode(errors="replace").decode()
    token, link = await sharing.share(threads, caller, name, turn, body.days)
    return NewShare(path=f"/share/{token}", link=link)


@router.get("/shares", summary="List shared answers")
async def list_shares(threads: ThreadsDep, caller: CallerDep) -> list[ShareLink]:
    """The caller's links that have not expired, the latest first."""
    return await run_in_thread(SharedAnswerStore(threads.conversations).listed, caller.owner)


@router.delete("/shares/{id}", summary="Withdraw a shared answer", status_code=204)
async def revoke_share(
    id: Annotated[str, Path(pattern="^[0-9a-f]{16}$")], threads: ThreadsDep, caller: CallerDep
) -> None:
    """Delete the copy: from now on its address shows nothing."""
    if not await run_in_thread(SharedAnswerStore(threads.conversations).revoke, id, caller.owner):
        raise NotFound("You share no such answer. List yours at /api/shares.")
