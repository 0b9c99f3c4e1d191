"""GET /api/threads/{thread}/turns/{turn}/answer.{format}: an answer as a file; the page's part that saves a chart."""

from pathlib import Path

from fastapi import APIRouter, FastAPI, Request, Response

from nacre.extensions.downloads.formats import Format, write_answer
from nacre.records.threads import run_in_thread
from nacre.serving.http.ask import ThreadPath, TurnPath
from nacre.serving.http.auth import CallerDep
from nacre.serving.http.dependencies import ERROR_RESPONSES, ThreadsDep, TurnServiceDep
from nacre.serving.keys import report_deed
from nacre.serving.page.pages import PageFiles

MEDIA_TYPES: dict[Format, str] = {
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "md": "text/markdown; charset=utf-8",
    "ttl": "text/turtle; charset=utf-8",
    "geojson": "application/geo+json",
}

router = APIRouter(prefix="/api", tags=["threads"], responses=ERROR_RESPONSES)


@router.get(
    "/threads/{thread}/turns/{turn}/answer.{format}",
    summary="Export an answer",
    response_class=Response,
    responses={200: {"content": {kind: {} for kind in MEDIA_TYPES.values()}, "description": "The file."}},
)
async def export_answer(
    request: Request,
    thread: ThreadPath,
    turn: TurnPath,
    format: Format,
    threads: ThreadsDep,
    service: TurnServiceDep,
    caller: CallerDep,
    links: bool = False,
) -> Response:
    """A workbook (`xlsx`), the table as `csv`, the record as `json`, Markdown (`md`), the cited triples (`ttl`),
    or cited coordinates (`geojson`). Cited things are links that open them in the page; in `csv` they are a last
    column, with `links=true`."""
    # visitors of another site have no key for the page itself
    page = str(request.base_url) if (links or format != "csv") and not caller.visitor else ""
    record = (await threads.turn(caller, thread, turn)).record
    async with service.look_up_slot(caller):
        content = await run_in_thread(write_answer, record, format, page)
    report_deed(caller, "exported an answer", graph=record["graph"], thread=thread, turn=turn)
    headers = {"Content-Disposition": f'attachment; filename="turn-{turn}.{format}"'}
    return Response(content, media_type=MEDIA_TYPES[format], headers=headers)


def add_downloads(app: FastAPI, *, alone: bool) -> None:
    """Add the route and the page's files, to a server of its own or a part of one."""
    app.include_router(router)
    app.mount("/downloads/files", PageFiles(directory=str(Path(__file__).with_name("static"))))
