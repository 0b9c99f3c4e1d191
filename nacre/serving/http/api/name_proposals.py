"""/api/graphs/{graph}/verified/proposals: names that confirmed questions teach; callers that may write add them."""

import sqlite3
from dataclasses import dataclass

from fastapi import APIRouter
from pydantic import BaseModel, Field

from nacre.errors import ConfigError
from nacre.serving.errors import NotFound, StorageUnavailable
from nacre.serving.http.api.layer import (
    MAX_NAMES,
    WRITE,
    GraphNames,
    NamesChange,
    change_names,
    graph_names,
    require_names_right,
)
from nacre.serving.http.auth import CallerDep
from nacre.serving.http.dependencies import ERROR_RESPONSES, GraphNameDep, TurnServiceDep
from nacre.serving.http.look_up import LookUpSlotDep
from nacre.serving.keys import Caller
from nacre.serving.turn_service import TurnService
from nacre.serving.verified.name_proposals import graph_proposals
from nacre.serving.verified.service import may_approve
from nacre.understanding.verified.proposals import MAX_NAME, NameProposal

MAX_SHOWN = 50

router = APIRouter(prefix="/api/graphs", tags=["verified questions"], responses=ERROR_RESPONSES)


@dataclass(frozen=True)
class ProposedNames:
    """Names that nothing in the graph has, those of most questions first: at most 50. `may_write`: whether this caller
    may add them."""

    graph: str
    proposals: tuple[NameProposal, ...]
    may_write: bool


class ProposedName(BaseModel):
    """One of the proposals."""

    phrase: str = Field(min_length=1, max_length=MAX_NAME)
    iri: str = Field(max_length=2000)


@router.get("/{graph}/verified/proposals", summary="List names that verified questions teach")
def list_proposals(
    service: TurnServiceDep, caller: CallerDep, slot: LookUpSlotDep, graph: GraphNameDep
) -> ProposedNames:
    """From approved questions and the caller's own; from all, for a caller who may approve. Nothing is added by
    itself."""
    return ProposedNames(graph, _proposals(service, caller, graph)[:MAX_SHOWN], WRITE in caller.may)


@router.post("/{graph}/verified/proposals", summary="Add a proposed name", status_code=202)
def add_proposal(
    service: TurnServiceDep, caller: CallerDep, slot: LookUpSlotDep, graph: GraphNameDep, body: ProposedName
) -> GraphNames:
    """Add it to the other names of its class or property, as a change of names. Needs a key with the right `write`."""
    require_names_right(caller)
    if not any((each.phrase, each.iri) == (body.phrase, body.iri) for each in _proposals(service, caller, graph)):
        raise NotFound("This name is not proposed any more. List the proposals again.")
    terms = graph_names(service, caller, slot, graph).terms
    given = next((term.given for term in terms if term.iri == body.iri), ())
    if len(given) >= MAX_NAMES:
        raise ConfigError(f"It has {len(given)} other names already. Remove one first.")
    return change_names(service, caller, slot, graph, NamesChange(iri=body.iri, also=[*given, body.phrase]))


def _proposals(service: TurnService, caller: Caller, graph: str) -> tuple[NameProposal, ...]:
    with service.library.open(graph) as opened:
        try:
            return graph_proposals(opened, None if may_approve(caller) else caller.owner)
        except sqlite3.Error as error:
            raise StorageUnavailable(f"The verified questions can't be read now ({error}). Try again.") from error
