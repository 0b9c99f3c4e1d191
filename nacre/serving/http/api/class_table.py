"""/api/graphs/{graph}/class/...: a class as a table, the values of a property with counts, and files of its rows."""

import csv
import io
from collections.abc import Iterator
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query
from fastapi.responses import JSONResponse, PlainTextResponse, Response

from nacre.access.browse.class_facet import class_facet
from nacre.access.browse.class_table import class_table
from nacre.errors import ConfigError
from nacre.records.browse import Comparison, Facet, MemberTable, RowFilter, TableRequest
from nacre.serving.http.api.browse import MAX_IRI, IriQuery, read_graph
from nacre.serving.http.auth import CallerDep
from nacre.serving.http.dependencies import ERROR_RESPONSES, GraphNameDep, TurnServiceDep
from nacre.serving.http.look_up import LookUpSlotDep

MAX_FILTERS, MAX_FILTER, MAX_COLUMNS = 10, 4000, 20
# rows of a file
MAX_EXPORTED = 10_000
COMPARISONS: dict[str, Comparison] = {"=": "=", ">=": ">=", "<=": "<=", "none": "none"}
# spreadsheets run a cell with this first character as a formula
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")

router = APIRouter(prefix="/api/graphs", tags=["graphs"], responses=ERROR_RESPONSES)


async def _request(
    iri: IriQuery,
    search: Annotated[str, Query(max_length=200)] = "",
    filter: Annotated[list[Annotated[str, Query(max_length=MAX_FILTER)]], Query(max_length=MAX_FILTERS)] = [],  # noqa: B006
    sort: Annotated[str, Query(max_length=MAX_IRI)] = "",
    descending: bool = False,
    skip: Annotated[int, Query(ge=0, le=10**6)] = 0,
    column: Annotated[list[Annotated[str, Query(max_length=MAX_IRI)]], Query(max_length=MAX_COLUMNS)] = [],  # noqa: B006
) -> TableRequest:
    """`filter` is `PROPERTY = VALUE`, `PROPERTY >= VALUE`, `PROPERTY <= VALUE` or `PROPERTY none`."""
    return TableRequest(iri, search, tuple(map(_parse_filter, filter)), sort, descending, skip, tuple(column))


def _parse_filter(text: str) -> RowFilter:
    predicate, _, rest = text.partition(" ")
    comparison, _, value = rest.partition(" ")
    if not predicate or comparison not in COMPARISONS or "\0" in text:
        raise ConfigError(
            f"The filter {text[:200]!r} can't be read. Write: PROPERTY = VALUE; with >=, <= or none for the sign."
        )
    return RowFilter(predicate, COMPARISONS[comparison], value)


TableRequestDep = Annotated[TableRequest, Depends(_request)]


@router.get("/{graph}/class/table", summary="Get a class as a table")
def class_rows(
    service: TurnServiceDep, caller: CallerDep, slot: LookUpSlotDep, graph: GraphNameDep, request: TableRequestDep
) -> MemberTable:
    """100 members from `skip` on, with the values of their properties: those that pass all filters, sorted.

    `filter` is `PROPERTY = VALUE`, `PROPERTY >= VALUE`, `PROPERTY <= VALUE` or `PROPERTY none`, with the IRI of the
    property; several are combined with "and". Up to a million members are counted.
    """
    return read_graph(service.library, graph, "class", lambda opened: class_table(opened, request))


@router.get("/{graph}/class/facet", summary="Count the values of a property")
def class_values(
    service: TurnServiceDep,
    caller: CallerDep,
    slot: LookUpSlotDep,
    graph: GraphNameDep,
    request: TableRequestDep,
    property: Annotated[str, Query(min_length=1, max_length=MAX_IRI)],
) -> Facet:
    """The 30 most frequent values among the members that pass the other filters, and the lowest and highest number."""
    return read_graph(service.library, graph, "class", lambda opened: class_facet(opened, request, property))


@router.get(
    "/{graph}/class/file",
    summary="Get a class as a CSV or JSON file",
    response_class=PlainTextResponse,
    responses={200: {"content": {"text/csv": {}, "application/json": {}}, "description": "The rows."}},
)
def class_file(
    service: TurnServiceDep,
    caller: CallerDep,
    slot: LookUpSlotDep,
    graph: GraphNameDep,
    request: TableRequestDep,
    format: Literal["csv", "json"] = "csv",
) -> Response:
    """Up to 10,000 rows from `skip` on, with the IRI of each member. Several values of a cell are separated by "; "."""
    table = read_graph(service.library, graph, "class", lambda opened: class_table(opened, request, MAX_EXPORTED))
    heads = ["iri", "name", *(f"{c.label} [{c.unit}]" if c.unit else c.label for c in table.columns)]
    headers = {"Content-Disposition": f'attachment; filename="table.{format}"'}
    if format == "json":
        return JSONResponse({"columns": heads, "rows": list(_rows(table))}, headers=headers)
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(map(_without_formula, heads))
    writer.writerows(map(_without_formula, row) for row in _rows(table))
    return PlainTextResponse(out.getvalue(), media_type="text/csv", headers=headers)


def _rows(table: MemberTable) -> Iterator[list[str]]:
    for row in table.rows:
        yield [row.iri, row.label, *("; ".join(end.text for end in cell) for cell in row.cells)]


def _without_formula(cell: str) -> str:
    """The cell; a text that a spreadsheet would run begins with an apostrophe.

    >>> _without_formula("=1+1"), _without_formula("-12.5")
    ("'=1+1", '-12.5')
    """
    if not cell.startswith(FORMULA_STARTS):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell
