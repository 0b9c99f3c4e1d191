"""LangGraph's API at /langgraph: the routes of assistants and threads, and what clients ask first.

Each graph that the caller may read is one assistant; the drawn graph and the schemas. Threads are the conversations
of all interfaces, with their states."""

import json
from importlib.metadata import version
from typing import Annotated, Any, NoReturn
from uuid import uuid4

from fastapi import APIRouter, FastAPI, Query

from nacre.errors import ConfigError
from nacre.extensions.langgraph_api.requests import (
    AssistantSearch,
    HistoryRequest,
    NewGraphThread,
    StateAt,
    StateUpdate,
    ThreadMetadata,
    ThreadSearch,
    answer_ids,
    assistant_record,
    graph_of_assistant,
)
from nacre.extensions.langgraph_api.runs import STOPPED, RunContext, RunContextDep
from nacre.extensions.langgraph_api.runs import router as run_router
from nacre.extensions.langgraph_api.thread_states import (
    MAX_RETURNED,
    Snapshot,
    all_snapshots,
    history_records,
    latest_snapshot,
    snapshot_at,
    state_record,
    thread_record,
)
from nacre.language.sanitize import storable_text
from nacre.records.threads import run_in_thread
from nacre.serving.errors import Conflict, NotFound
from nacre.serving.http.ask import ThreadPath
from nacre.serving.http.auth import CallerDep
from nacre.serving.http.dependencies import ERROR_RESPONSES, LookUpSlotDep, TurnServiceDep
from nacre.serving.http.middleware import LANGGRAPH
from nacre.serving.keys import Caller
from nacre.serving.threads import validate_thread_name
from nacre.serving.turn_service import TurnService
from nacre.stores.state.conversations import Conversation, ThreadFilter

assistant_router = APIRouter(prefix="/assistants", tags=["langgraph"], responses=ERROR_RESPONSES)


@assistant_router.post("/search", response_model=None)
def search_assistants(
    body: AssistantSearch, service: TurnServiceDep, caller: CallerDep, slot: LookUpSlotDep
) -> list[dict[str, Any]]:
    """The graphs that the caller may read, as assistants."""
    return _found(body, service, caller)[body.offset : body.offset + body.limit]


@assistant_router.post("/count", response_model=None)
def count_assistants(body: AssistantSearch, service: TurnServiceDep, caller: CallerDep, slot: LookUpSlotDep) -> int:
    """How many there are."""
    return len(_found(body, service, caller))


@assistant_router.get("/{assistant}", response_model=None)
def get_assistant(assistant: str, service: TurnServiceDep, caller: CallerDep, slot: LookUpSlotDep) -> dict[str, Any]:
    """One assistant, by its id or the name of its graph."""
    return assistant_record(_graph(assistant, service, caller))


@assistant_router.get("/{assistant}/graph", response_model=None)
def get_graph(assistant: str, service: TurnServiceDep, caller: CallerDep, slot: LookUpSlotDep) -> dict[str, Any]:
    """The nodes and edges of a turn."""
    _graph(assistant, service, caller)
    return dict(service.app.get_graph().to_json())


@assistant_router.get("/{assistant}/schemas", response_model=None)
def get_schemas(assistant: str, service: TurnServiceDep, caller: CallerDep, slot: LookUpSlotDep) -> dict[str, Any]:
    """The JSON schemas of input, output, state and context."""
    app = service.app
    return {
        "graph_id": _graph(assistant, service, caller),
        "input_schema": app.get_input_jsonschema(),
        "output_schema": app.get_output_jsonschema(),
        "state_schema": app.get_output_jsonschema(),
        "config_schema": {},
        "context_schema": app.get_context_jsonschema(),
    }


@assistant_router.get("/{assistant}/subgraphs", response_model=None)
def get_subgraphs(assistant: str, service: TurnServiceDep, caller: CallerDep, slot: LookUpSlotDep) -> dict[str, Any]:
    """There are none."""
    _graph(assistant, service, caller)
    return {}


def _found(body: AssistantSearch, service: TurnService, caller: Caller) -> list[dict[str, Any]]:
    listed = [assistant_record(name) for name in service.graph_names(caller)]
    wanted = body.metadata or {}
    return [
        each
        for each in listed
        if body.graph_id in (None, each["graph_id"])
        and body.name in (None, each["name"])
        and all(each["metadata"].get(key) == value for key, value in wanted.items())
    ]


def _graph(assistant: str, service: TurnService, caller: Caller) -> str:
    """The graph of an assistant; for the assistant of any graph the only one."""
    return graph_of_assistant(assistant, service, caller) or service.resolve_graph(None, caller)


router = APIRouter(prefix=LANGGRAPH, tags=["langgraph"])


@router.get("/ok", response_model=None)
async def get_ok(caller: CallerDep) -> dict[str, bool]:
    """The server answers, and the key is valid."""
    return {"ok": True}


@router.get("/info", response_model=None)
async def get_info(caller: CallerDep) -> dict[str, Any]:
    """The server, its version and what it offers of LangGraph's API."""
    offered = {"assistants": True, "crons": False, "langsmith": False, "store": False}
    return {
        "name": "nacre",
        "version": version("nacre"),
        "langgraph_py_version": version("langgraph"),
        "flags": offered,
    }


thread_router = APIRouter(prefix="/threads", tags=["langgraph"], responses=ERROR_RESPONSES)


for routes in (assistant_router, run_router, thread_router):
    router.include_router(routes)


@router.api_route(
    "/{path:path}", methods=["GET", "POST", "PUT", "PATCH", "DELETE"], response_model=None, include_in_schema=False
)
async def unsupported_route(path: str, caller: CallerDep) -> NoReturn:
    """What this server leaves out: schedules, the store, assistants of one's own."""
    raise NotFound(
        f"This server has no /langgraph/{path[:60]}. It has assistants, threads and runs; see docs/clients.md."
    )


def add_langgraph_api(app: FastAPI, *, alone: bool) -> None:
    """Add the routes, unless a platform's server has its own."""
    if alone:
        app.include_router(router)


MAX_METADATA = 16_384

# what a thread is about is known from its turns, not from its metadata
ABOUT = ("graph_id", "assistant_id")

ORDERS = {"thread_id": "thread", "created_at": "created"}


@thread_router.post("", response_model=None)
async def create_thread(body: NewGraphThread, context: RunContextDep) -> dict[str, Any]:
    """A thread without turns; its graph is that of its metadata or of its first run."""
    if body.supersteps:
        raise ConfigError("This server has no supersteps. Ask the questions instead.")
    metadata = _checked_metadata(body.metadata or {})
    graph = await _named_graph(body.metadata or {}, context)
    name = validate_thread_name(body.thread_id)
    existing = await context.threads.find(context.caller, name) if name else None
    if existing is not None and body.if_exists == "raise":
        raise Conflict("A thread of this name exists. Choose another name, or send if_exists='do_nothing'.")
    if existing is None:
        existing = await context.threads.create(context.caller, graph or "", thread=name or str(uuid4()))
        if metadata:
            await _set_metadata(context, existing.thread, metadata)
    return await _record(context, existing)


@thread_router.post("/search", response_model=None)
async def search_threads(body: ThreadSearch, context: RunContextDep, slot: LookUpSlotDep) -> list[dict[str, Any]]:
    """The caller's threads, those used last first. Values are left out once they have too many bytes together."""
    found, size = [], 0
    with_values = body.select is None or any(each.partition(".")[0] == "values" for each in body.select)
    for conversation in await _listed(body, context):
        snapshot = None
        if with_values and conversation.turns and size < MAX_RETURNED:
            snapshot = await latest_snapshot(context.threads, context.caller, conversation.thread)
        record = await _record(context, conversation, snapshot)
        size += len(json.dumps(record["values"])) if snapshot else 0
        found.append({name: record[name] for name in record if body.select is None or name in body.select})
    return found


@thread_router.post("/count", response_model=None)
async def count_threads(body: ThreadSearch, context: RunContextDep, slot: LookUpSlotDep) -> int:
    """How many threads there are, up to the largest number that a list may have."""
    return len(await _listed(body.model_copy(update={"limit": 10_000, "offset": 0}), context))


@thread_router.get("/{thread}", response_model=None)
async def get_thread(thread: ThreadPath, context: RunContextDep) -> dict[str, Any]:
    """One thread with its state."""
    conversation = await context.threads.get(context.caller, thread)
    return await _record(context, conversation, await latest_snapshot(context.threads, context.caller, thread))


@thread_router.patch("/{thread}", response_model=None)
async def update_thread(thread: ThreadPath, body: ThreadMetadata, context: RunContextDep) -> dict[str, Any]:
    """Add to the metadata of a thread."""
    conversation = await context.threads.get(context.caller, thread)
    before = await run_in_thread(context.threads.conversations.metadata, context.caller.owner, thread)
    await _set_metadata(context, thread, _checked_metadata({**before, **body.metadata}))
    return await _record(context, conversation)


@thread_router.delete("/{thread}", status_code=204)
async def delete_thread(thread: ThreadPath, context: RunContextDep) -> None:
    """Cancel what is running in a thread and delete it."""
    await context.threads.get(context.caller, thread)
    for run in await context.runs.running(context.caller, thread):
        run.stop(STOPPED)
    await context.threads.delete(context.caller, thread)


@thread_router.post("/{thread}/copy", response_model=None)
async def copy_thread(thread: ThreadPath, context: RunContextDep) -> dict[str, Any]:
    """A new thread with the same turns and history."""
    copied = await context.threads.copy(context.caller, thread)
    return await _record(context, copied, await latest_snapshot(context.threads, context.caller, copied.thread))


@thread_router.get("/{thread}/state", response_model=None)
async def get_state(thread: ThreadPath, context: RunContextDep, slot: LookUpSlotDep) -> dict[str, Any]:
    """The state after the last turn."""
    return await _state(thread, context, None)


@thread_router.get("/{thread}/state/{checkpoint}", response_model=None)
async def get_state_at(
    thread: ThreadPath, checkpoint: str, context: RunContextDep, slot: LookUpSlotDep
) -> dict[str, Any]:
    """The state at a checkpoint."""
    return await _state(thread, context, checkpoint)


@thread_router.post("/{thread}/state/checkpoint", response_model=None)
async def read_state_at(
    thread: ThreadPath, body: StateAt, context: RunContextDep, slot: LookUpSlotDep
) -> dict[str, Any]:
    """The state at the checkpoint in the body, else the latest."""
    return await _state(thread, context, body.checkpoint.checkpoint_id)


async def _state(thread: str, context: RunContext, checkpoint: str | None) -> dict[str, Any]:
    threads, caller = context.threads, context.caller
    await threads.get(caller, thread)
    if checkpoint is None:
        return state_record(thread, await latest_snapshot(threads, caller, thread))
    return state_record(thread, await snapshot_at(threads, caller, thread, checkpoint))


@thread_router.post("/{thread}/state", response_model=None)
async def update_state(thread: ThreadPath, body: StateUpdate, context: RunContextDep) -> dict[str, Any]:
    """Make an earlier answer the last one of the thread. Values can't be written: they are what was answered."""
    await context.threads.get(context.caller, thread)
    id = body.named_checkpoint
    if body.values or id is None:
        raise ConfigError("Only turns change the values of a thread. Send a checkpoint alone to go back to its answer.")
    snapshot = await snapshot_at(context.threads, context.caller, thread, id)
    if snapshot.base != snapshot.id:
        raise ConfigError("At this checkpoint no question is answered. Run it, or name a checkpoint after an answer.")
    await context.threads.go_back(context.caller, thread, snapshot.id, answer_ids(snapshot.messages))
    return {"checkpoint": state_record(thread, snapshot)["checkpoint"]}


@thread_router.post("/{thread}/history", response_model=None)
async def list_history(
    thread: ThreadPath, body: HistoryRequest, context: RunContextDep, slot: LookUpSlotDep
) -> list[dict[str, Any]]:
    """The states of a thread, the latest first, of all branches."""
    before = body.before.get("checkpoint_id") if isinstance(body.before, dict) else body.before
    return await _history(thread, context, body.limit, before if isinstance(before, str) else None)


@thread_router.get("/{thread}/history", response_model=None)
async def list_history_page(
    thread: ThreadPath,
    context: RunContextDep,
    slot: LookUpSlotDep,
    limit: Annotated[int, Query(ge=1, le=1000)] = 10,
    before: Annotated[str | None, Query(max_length=100)] = None,
) -> list[dict[str, Any]]:
    """The same."""
    return await _history(thread, context, limit, before)


async def _history(thread: str, context: RunContext, limit: int, before: str | None) -> list[dict[str, Any]]:
    await context.threads.get(context.caller, thread)
    found = await all_snapshots(context.threads, context.caller, thread, None if before else limit)
    if before is not None:
        place = next((n for n, each in enumerate(found) if each.id == before), len(found))
        found = found[place + 1 :]
    return await run_in_thread(history_records, thread, found[:limit])


async def _listed(body: ThreadSearch, context: RunContext) -> list[Conversation]:
    if body.values or body.extract:
        raise ConfigError("Threads can't be searched by values here. Search by metadata, ids or status.")
    wanted = dict(body.metadata or {})
    about = {name: wanted.pop(name) for name in ABOUT if name in wanted}
    try:
        graph = await _named_graph(about, context)
    except NotFound:
        return []
    busy = {run.thread for run in await context.runs.running(context.caller) if run.thread}
    ids = body.ids
    if body.status == "busy":
        ids = [each for each in busy if ids is None or each in ids]
    if body.status == "error":
        return []
    filter = ThreadFilter(
        context.caller.owner,
        context.caller.graphs,
        graph,
        ids,
        tuple(busy) if body.status in ("idle", "interrupted") else (),
        wanted,
        {"idle": False, "interrupted": True}.get(body.status or ""),
        ORDERS.get(body.sort_by or "", "updated"),  # type: ignore[arg-type]
        body.sort_order != "asc",
        body.limit,
        body.offset,
    )
    return await run_in_thread(context.threads.conversations.search, filter)


async def _named_graph(metadata: dict[str, Any], context: RunContext) -> str | None:
    """The graph that the metadata of a thread names by an assistant; raises NotFound."""
    names = [str(metadata[name]) for name in ABOUT if metadata.get(name)]
    graphs = {await run_in_thread(graph_of_assistant, name, context.service, context.caller) for name in names}
    if len(graphs - {None}) > 1:
        raise ConfigError("graph_id and assistant_id are of different graphs. Send one of them.")
    return next(iter(graphs - {None}), None)


def _checked_metadata(metadata: dict[str, Any]) -> dict[str, Any]:
    """Metadata as it can be stored; raises ConfigError."""
    kept = {key: value for key, value in metadata.items() if key not in ABOUT}
    text = storable_text(json.dumps(kept, ensure_ascii=False))
    if len(text) > MAX_METADATA:
        raise ConfigError(f"The metadata of a thread has at most {MAX_METADATA} characters; this has {len(text)}.")
    checked: dict[str, Any] = json.loads(text)
    return checked


async def _set_metadata(context: RunContext, thread: str, metadata: dict[str, Any]) -> None:
    await context.threads.quota.check(context.caller)
    await run_in_thread(context.threads.conversations.set_metadata, context.caller.owner, thread, metadata)


async def _record(context: RunContext, conversation: Conversation, snapshot: Snapshot | None = None) -> dict[str, Any]:
    owner, thread = context.caller.owner, conversation.thread
    metadata = await run_in_thread(context.threads.conversations.metadata, owner, thread)
    running = await context.runs.running(context.caller, thread)
    return thread_record(conversation, metadata, snapshot, busy=bool(running))
