"""/api/graphs/{graph}/verified: questions that people confirmed: list, confirm, approve, run, check and remove."""

import asyncio
import pathlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, Path, Query, Request
from pydantic import BaseModel, Field, model_validator

from nacre.errors import ConfigError
from nacre.extensions.verified.checks import CheckReport
from nacre.extensions.verified.entries import (
    VerifiedPage,
    VerifiedQuestionService,
    calibrate_again_and_again,
    graph_proposals,
    may_approve,
    storage_errors,
)
from nacre.extensions.verified.look_up import NameProposal
from nacre.records.answer import Value
from nacre.records.threads import run_in_thread
from nacre.records.turn import LONGEST_QUESTION, MAX_PAGE, VerifiedQuery, VerifiedQuestion, VerifiedState
from nacre.serving.http.auth import CallerDep
from nacre.serving.http.dependencies import (
    ERROR_RESPONSES,
    GraphLookUpDep,
    GraphNameDep,
    TurnServiceDep,
    run_while_connected,
)
from nacre.serving.http.layer import WRITE
from nacre.serving.page.pages import PageFiles
from nacre.serving.threads import MAX_THREAD_NAME
from tools.sandbox import LONGEST

MAX_LINES = 500

MAX_OWNER = 100

router = APIRouter(prefix="/api/graphs", tags=["verified questions"], responses=ERROR_RESPONSES)

IdPath = Annotated[str, Path(min_length=1, max_length=40)]

ByQuery = Annotated[str | None, Query(max_length=MAX_OWNER, description="Whose entry, if several people confirmed it.")]


class ConfirmedQuery(BaseModel):
    """A query that the caller wrote."""

    tool: Annotated[str, Field(pattern="^(sql|sparql)$")]
    text: str = Field(min_length=1, max_length=LONGEST)

    def record(self) -> VerifiedQuery:
        """The query as entries have it."""
        return VerifiedQuery(tool="sql" if self.tool == "sql" else "sparql", text=self.text)


class Confirmation(BaseModel):
    """What is right: the answer of a turn of the caller's thread, or a query for a question. `standalone` is the
    question as answers understood it, if that is not how it was asked."""

    thread: str | None = Field(None, min_length=1, max_length=MAX_THREAD_NAME)
    turn: int | None = Field(None, ge=1, le=2**31)
    question: str | None = Field(None, min_length=1, max_length=LONGEST_QUESTION)
    standalone: str | None = Field(None, min_length=1, max_length=LONGEST_QUESTION)
    query: ConfirmedQuery | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> "Confirmation":
        if (self.thread is None, self.turn is None) not in ((True, True), (False, False)):
            raise ValueError("give 'thread' and 'turn' together")
        if (self.thread is None) is (self.query is None) or (self.query is None) is not (self.question is None):
            raise ValueError("give 'thread' and 'turn', or 'question' and 'query'")
        return self


class Approval(BaseModel):
    """Whose entry is approved, and whether; null if there is only one. With the `at` of the entry that was seen, one
    that was confirmed anew since is refused."""

    by: str | None = Field(None, max_length=MAX_OWNER)
    approved: bool = True
    at: str | None = Field(None, max_length=MAX_OWNER)


class VerifiedLines(BaseModel):
    """Lines of a file, as `nacre examples import` reads them: `question` with `query` or `answers`."""

    lines: list[dict[str, Any]] = Field(max_length=MAX_LINES)


class ImportedQuestion(BaseModel):
    """What became of a line: the id of its entry, or `problem` says why there is none."""

    line: int
    question: str
    id: str | None
    problem: str


class VerifiedRun(BaseModel):
    """An entry and what it gives now: values, rows with their columns, and the query that ran."""

    entry: VerifiedQuestion
    values: list[Value]
    columns: list[str]
    rows: list[list[Any]]
    words: str
    query: str


@router.get("/{graph}/verified", summary="List verified questions")
async def list_verified(
    request: Request,
    service: TurnServiceDep,
    caller: CallerDep,
    graph: GraphNameDep,
    search: Annotated[str, Query(max_length=200)] = "",
    state: Annotated[list[VerifiedState] | None, Query()] = None,
    waiting: bool = False,
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 50,
    skip: Annotated[int, Query(ge=0, le=2**31)] = 0,
) -> VerifiedPage:
    """Approved ones and the caller's own, the latest first. A caller who may approve sees all."""
    verified = VerifiedQuestionService(service)
    page = await verified.listed(
        caller, graph, search=search, states=tuple(state or ()), waiting=waiting, limit=limit, skip=skip
    )
    names = await run_in_thread(request.app.state.keys.person_names, {each.by for each in page.questions})
    return replace(page, names=names)


@router.post("/{graph}/verified", summary="Confirm an answer or a query", status_code=201)
async def confirm_verified(
    request: Request, service: TurnServiceDep, caller: CallerDep, graph: GraphNameDep, body: Confirmation
) -> VerifiedQuestion:
    """The answer of a turn ("this is right"), or a query whose rows answer a question.

    A query is read-only, checked like those of a model, and limited in rows and time.
    """
    verified = VerifiedQuestionService(service)
    if body.thread is not None and body.turn is not None:
        confirming = verified.confirm_turn(caller, body.thread, body.turn, graph)
        return await run_while_connected(request, confirming)
    if body.question is None or body.query is None:
        raise ConfigError("Give 'thread' and 'turn', or 'question' and 'query'.")
    confirming_query = verified.confirm_query(
        caller, graph, body.question, body.query.record(), standalone=body.standalone
    )
    return (await run_while_connected(request, confirming_query))[0]


@router.post("/{graph}/verified/import", summary="Confirm several questions")
async def import_verified(
    request: Request, service: TurnServiceDep, caller: CallerDep, graph: GraphNameDep, body: VerifiedLines
) -> list[ImportedQuestion]:
    """Each line is run as if it was confirmed alone; lines that can't be confirmed say why."""

    async def run() -> list[ImportedQuestion]:
        numbered = ((str(number), line) for number, line in enumerate(body.lines, start=1))
        return [
            ImportedQuestion(
                line=int(each.place),
                question=each.question,
                id=None if each.entry is None else each.entry.id,
                problem=each.problem,
            )
            async for each in VerifiedQuestionService(service).import_lines(caller, graph, numbered)
        ]

    return await run_while_connected(request, run())


@router.post("/{graph}/verified/check", summary="Check verified questions")
async def check_verified(
    request: Request, service: TurnServiceDep, caller: CallerDep, graph: GraphNameDep
) -> CheckReport:
    """Run the caller's own again, within 10 seconds; all, for a caller who may approve."""
    return await run_while_connected(request, VerifiedQuestionService(service).check(caller, graph))


@router.post("/{graph}/verified/{id}/run", summary="Run a verified question")
async def run_verified_question(
    request: Request, service: TurnServiceDep, caller: CallerDep, graph: GraphNameDep, id: IdPath, by: ByQuery = None
) -> VerifiedRun:
    """What it gives now. If it was set aside and holds again, it is used again."""
    running = VerifiedQuestionService(service).run(caller, graph, id, by)
    entry, given = await run_while_connected(request, running)
    return VerifiedRun(entry=entry, **vars(given))


@router.post("/{graph}/verified/{id}/approve", summary="Approve a verified question")
async def approve_verified(
    service: TurnServiceDep, caller: CallerDep, graph: GraphNameDep, id: IdPath, body: Approval
) -> VerifiedQuestion:
    """Let everyone who may read the graph use it. Needs a key with the right `approve`."""
    verified = VerifiedQuestionService(service)
    return await verified.approve(caller, graph, id, body.by, approved=body.approved, at=body.at)


@router.delete("/{graph}/verified/{id}", summary="Remove a verified question", status_code=204)
async def remove_verified(
    service: TurnServiceDep, caller: CallerDep, graph: GraphNameDep, id: IdPath, by: ByQuery = None
) -> None:
    """Delete one of the caller's own; any, with the right `approve`."""
    await VerifiedQuestionService(service).remove(caller, graph, id, by)


@router.delete("/{graph}/verified", summary="Remove all own verified questions")
async def remove_own_verified(service: TurnServiceDep, caller: CallerDep, graph: GraphNameDep) -> dict[str, int]:
    """Delete all that the caller confirmed about this graph; the number of deleted entries."""
    return {"removed": await VerifiedQuestionService(service).remove_own(caller, graph)}


MAX_SHOWN = 50

name_proposals_router = APIRouter(prefix="/api/graphs", tags=["verified questions"], responses=ERROR_RESPONSES)


@dataclass(frozen=True)
class ProposedNames:
    """Names that nothing in the graph has, those of most questions first: at most 50. `may_write`: whether this caller
    may add them."""

    graph: str
    proposals: tuple[NameProposal, ...]
    may_write: bool


@name_proposals_router.get("/{graph}/verified/proposals", summary="List names that verified questions teach")
def list_proposals(look_up: GraphLookUpDep) -> ProposedNames:
    """From approved questions and the caller's own; from all, for a caller who may approve. Nothing is added by
    itself: teach the words."""
    caller = look_up.caller
    with look_up.open() as opened, storage_errors():
        found = graph_proposals(opened, None if may_approve(caller) else caller.owner)
    return ProposedNames(look_up.graph, found[:MAX_SHOWN], WRITE in caller.may)


def add_verified(app: FastAPI, *, alone: bool) -> None:
    """Add the routes, and the page of a graph's verified questions."""
    app.include_router(router)
    app.include_router(name_proposals_router)
    app.mount("/verified/files", PageFiles(directory=str(pathlib.Path(__file__).with_name("static"))))


@asynccontextmanager
async def keep_calibrated(app: FastAPI) -> AsyncIterator[None]:
    """Calibrate graphs beside the turns of a server."""
    task = asyncio.create_task(calibrate_again_and_again(app.state.turn_service))
    try:
        yield
    finally:
        task.cancel()
