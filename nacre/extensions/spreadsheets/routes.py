"""/api/uploads/{upload}/preview: the first rows of an uploaded table, before it is read; how the page shows them."""

from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, FastAPI, Query, Request
from fastapi import Path as PathParameter

from ingestion.read.tables import table_endings
from nacre.extension import extensions
from nacre.extensions.spreadsheets.preview import TablePreview, preview_table
from nacre.language.sanitize import safe_name
from nacre.records.threads import run_in_thread
from nacre.serving.errors import NotFound
from nacre.serving.http.auth import CallerDep
from nacre.serving.http.dependencies import ERROR_RESPONSES, TurnServiceDep
from nacre.serving.page.pages import PageFiles

router = APIRouter(prefix="/api", tags=["graphs"], responses=ERROR_RESPONSES)


@router.get("/uploads/{upload}/preview", summary="Show the first rows of a table")
async def preview_upload(
    request: Request,
    service: TurnServiceDep,
    caller: CallerDep,
    upload: Annotated[str, PathParameter(pattern="^[0-9a-f]{32}$")],
    name: Annotated[str, Query(min_length=1, max_length=500)],
) -> TablePreview:
    """The columns and first rows of a table of an upload, which may be the beginning of a file. Types are those that
    its first 500 rows have; the rest may change them."""
    path = await run_in_thread(request.app.state.uploads.received_file, caller, upload, safe_name(name))
    if path.suffix.lower() not in table_endings():
        raise NotFound("There is no such table.")
    async with service.query_slot(caller):
        return await run_in_thread(preview_table, path)


def add_preview(app: FastAPI, *, alone: bool) -> None:
    """Add the route, and the part of the page that shows what it gives, if files can be uploaded."""
    if all(each.name != "uploads" for each in extensions()):
        return
    app.state.previewed = sorted(table_endings())
    app.include_router(router)
    app.mount("/tables/files", PageFiles(directory=str(Path(__file__).with_name("static"))))
