"""/api/text2sparql, the interface of the public challenge: question + dataset -> one SPARQL query."""

from contextlib import AsyncExitStack
from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel

from agents.run_in_thread import run_in_thread
from nacre.access.text2sparql import text2sparql
from nacre.errors import ConfigError, ToolError
from nacre.serving.http.auth import CallerDep
from nacre.serving.http.dependencies import ERROR_RESPONSES, TurnServiceDep
from nacre.serving.http.disconnect import run_while_connected
from nacre.serving.keys import Caller
from nacre.serving.turn_service import TurnService

router = APIRouter(prefix="/api", tags=["ask"], responses=ERROR_RESPONSES)


class SparqlTranslation(BaseModel):
    """The question, the dataset as the client named it, and the query."""

    dataset: str
    question: str
    query: str


@router.get("/text2sparql", summary="Write a question as SPARQL")
async def text_to_sparql(
    request: Request,
    service: TurnServiceDep,
    caller: CallerDep,
    question: Annotated[str, Query(description="The question.", min_length=1)],
    dataset: Annotated[str, Query(description="The dataset's IRI, as NACRE_DATASETS maps it, or a graph's name.")],
) -> SparqlTranslation:
    """One SPARQL 1.1 query in the data's own vocabulary. The rules write it, even if a model is configured."""
    graph_name = parse_datasets(service.composition.settings.datasets).get(dataset, dataset)
    name = await service.check_question(question, service.resolve_graph(graph_name, caller), None, caller)
    try:
        query = await run_while_connected(request, _translate(service, caller, name, question))
    except ToolError as error:
        raise ConfigError(str(error)) from error
    return SparqlTranslation(dataset=dataset, question=question, query=query)


async def _translate(service: TurnService, caller: Caller, name: str, question: str) -> str:
    resources = service.composition.resources
    async with service.turn_slot(caller), AsyncExitStack() as stack:
        graph = stack.enter_context(await run_in_thread(service.library.open, name))
        return await text2sparql(question, graph, resources.settings, resources.sandbox)


def parse_datasets(setting: str) -> dict[str, str]:
    """The graph of each dataset.

    >>> parse_datasets("https://example.org/geo/=geo, https://example.org/q?a=b=cars")
    {'https://example.org/geo/': 'geo', 'https://example.org/q?a=b': 'cars'}
    """
    pairs = (each.strip().rpartition("=") for each in setting.split(",") if each.strip())
    return {iri.strip(): name.strip() for iri, _, name in pairs}
