"""/api/uploads and /api/attachments: files or an address become a graph; follow and stop that; and delete a graph."""

import logging
from collections.abc import Callable
from typing import Annotated, ParamSpec, TypeVar

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, Field

from agents.run_in_thread import run_in_thread
from nacre.errors import ConfigError, GraphNotFound
from nacre.serving.errors import NotFound, StorageUnavailable
from nacre.serving.http.auth import CallerDep
from nacre.serving.http.dependencies import ERROR_RESPONSES, TurnServiceDep
from nacre.serving.turn_service import TurnService
from nacre.serving.uploads.uploads import CHUNK, Uploads, UploadState, check_may_write
from nacre.stores.addresses import MAX_ADDRESS
from nacre.stores.conversations.conversations import ConversationStoreError
from nacre.stores.conversations.shared_answers import SharedAnswerStore

log = logging.getLogger(__name__)

router = APIRouter(prefix="/api", tags=["graphs"], responses=ERROR_RESPONSES)

P = ParamSpec("P")
T = TypeVar("T")
UploadId = Annotated[str, Path(pattern="^[0-9a-f]{32}$")]


class IngestRequest(BaseModel):
    """The graph that the files become; `replace` confirms that an earlier graph of this name goes."""

    graph: str = Field(min_length=1, max_length=64)
    replace: bool = False


class AttachRequest(BaseModel):
    """The address of a SPARQL endpoint or database, without a password, and the graph that it becomes. `replace`
    confirms that an earlier graph of this name goes."""

    address: str = Field(min_length=1, max_length=MAX_ADDRESS)
    graph: str = Field(min_length=1, max_length=64)
    replace: bool = False


@router.post("/attachments", summary="Attach an endpoint or a database", status_code=202)
async def attach_address(request: Request, caller: CallerDep, body: AttachRequest) -> UploadState:
    """Attach a graph to an address on a host that `NACRE_ATTACH_HOSTS` names, in a process of its own. The reply is
    followed and stopped like an upload. Needs a key with the right `write`."""
    attach = _uploads(request).attach
    return await _on_disk(attach, caller, body.address, body.graph, replace_graph=body.replace)


@router.post("/uploads", summary="Begin an upload", status_code=201)
async def begin_upload(request: Request, caller: CallerDep) -> UploadState:
    """An upload without files. Needs a key with the right `write`, as everything here."""
    return await _on_disk(_uploads(request).begin, caller)


@router.put("/uploads/{upload}/files", summary="Send a part of a file")
async def send_file(
    request: Request,
    caller: CallerDep,
    upload: UploadId,
    name: Annotated[str, Query(min_length=1, max_length=500)],
    offset: Annotated[int, Query(ge=0, le=10**15)] = 0,
) -> dict[str, int]:
    """Append the body, at most 8 MiB, to a file at `offset`, its size so far. The reply has its new size.

    A file is RDF (also with .gz), a document, a layer or a database of SQLite or DuckDB, as its name says.
    """
    uploads = _uploads(request)
    # refused before anything is read
    await _on_disk(uploads.state, caller, upload)
    chunk = bytearray()
    async for part in request.stream():
        chunk += part
        if len(chunk) > CHUNK:
            raise ConfigError(f"A part of a file has at most {CHUNK} bytes. Send more parts.")
    return {"bytes": await _on_disk(uploads.append, caller, upload, name, offset, bytes(chunk))}


@router.post("/uploads/{upload}", summary="Ingest an upload", status_code=202)
async def start_upload(request: Request, caller: CallerDep, upload: UploadId, body: IngestRequest) -> UploadState:
    """Ingest the files in a process of its own. The graph answers as before until that is complete."""
    return await _on_disk(_uploads(request).start, caller, upload, body.graph, replace_graph=body.replace)


@router.get("/uploads/{upload}", summary="Follow an upload")
async def upload_state(request: Request, caller: CallerDep, upload: UploadId) -> UploadState:
    """Its phase, its files, and what the ingest printed: stages, what was found, what was left out and why."""
    return await _on_disk(_uploads(request).state, caller, upload)


@router.delete("/uploads/{upload}", summary="Stop an upload", status_code=204)
async def cancel_upload(request: Request, caller: CallerDep, upload: UploadId) -> None:
    """Stop its ingest, or remove its files."""
    await _on_disk(_uploads(request).cancel, caller, upload)


@router.delete("/graphs/{graph}", summary="Delete a graph", status_code=204)
async def delete_graph(
    service: TurnServiceDep, caller: CallerDep, graph: str, confirm: Annotated[str, Query(max_length=64)]
) -> None:
    """Delete a graph, all its versions, and shared answers about it; `confirm` repeats its name. Turns that read it now
    end as usual."""
    check_may_write(caller)
    if confirm != graph:
        raise ConfigError("To delete a graph, repeat its name as `confirm`.")
    missing = NotFound(f"No graph named {graph!r}. List them at /api/graphs.")
    if not caller.may_read(graph):
        raise missing
    try:
        # a later graph of this name must not bring them back, even if the server is killed in between
        await _revoke_answers(service, graph)
    except ConversationStoreError as error:
        log.warning("shared answers of %s are revoked after it: %s", graph, error)
    try:
        await _on_disk(service.library.remove, graph)
    except GraphNotFound:
        raise missing from None
    await _revoke_answers(service, graph)


async def _revoke_answers(service: TurnService, graph: str) -> None:
    if service.threads is not None:
        await run_in_thread(SharedAnswerStore(service.threads.conversations).revoke_graph, graph)


async def _on_disk(work: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
    """Run it in a thread; raises StorageUnavailable if the disk is full or fails."""
    try:
        return await run_in_thread(work, *arguments, **named)
    except OSError as error:
        log.error("an upload could not be read or written: %s", error)
        why = error.strerror or type(error).__name__
        raise StorageUnavailable(f"The files of the server can't be read or written now ({why}). Try again.") from error


def _uploads(request: Request) -> Uploads:
    uploads: Uploads = request.app.state.uploads
    return uploads
