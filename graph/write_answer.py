"""Write the answer of a turn: State + open graph -> the fields that the fuser changes, with the record of the turn."""

import logging
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from langgraph.config import get_config
from langgraph.runtime import Runtime

from agents.agents import Agents
from agents.answering.answer_draft import AnswerDraft
from agents.answering.answer_record import TurnBookkeeping, answer_record
from agents.answering.grounding_gate import GroundingGate
from agents.answering.remembered_turn import older_turn, remembered_turns
from agents.result import Result, Usage
from agents.run_in_thread import run_in_thread
from agents.turn_view import TurnView
from graph.context import OWNER, Context
from graph.message import Message
from graph.resources import Resources, agents_for
from graph.state import State, Update, add_usage, decode_turn, merge_attribution
from nacre.access.citations import open_citations
from nacre.access.derivation import build_derivation
from nacre.access.text_lexicon import available_lexicon
from nacre.config.settings import Settings
from nacre.records.derivation import AnswerDerivation
from nacre.records.evidence import Evidence
from nacre.records.json_form import to_json
from nacre.records.schema import Schema
from nacre.stores.catalog import Graph
from nacre.understanding.linking.names.name_spans import name_spans

log = logging.getLogger(__name__)

REMEMBERED_TURNS = 10


async def write_answer(state: State, runtime: Runtime[Context], resources: Resources, graph: Graph) -> Update:
    """Stream the answer through the gate, trace what it cites, and put the record and the thread's fields together."""
    view = decode_turn(state, resources.settings)
    first_token: float | None = None
    message = Message(runtime.stream_writer)

    def release(sentence: str) -> None:
        nonlocal first_token
        first_token = first_token or time.monotonic()
        message.say(sentence)

    lexicon = await available_lexicon(graph, view.standalone)
    gate = GroundingGate(view.evidence, release, partial(name_spans, lexicon=lexicon), view.language)
    draft = await _fuse(agents_for(resources, runtime.context), view, graph.schema, gate)
    released = gate.released()
    table, settings = draft.value.table, resources.settings
    cited, derivation = await run_in_thread(_trace, released.cited, view, table, graph, settings)
    bookkeeping = _bookkeeping(state, view, draft, first_token)
    record = answer_record(view, bookkeeping, draft.value, released, cited, derivation)
    opened = dict(zip(released.cited, cited, strict=True))
    remembered = remembered_turns(view, released.text, draft.value, opened, settings.remembered)
    earlier = state.get("earlier", [])
    turns = [*(map(older_turn, earlier) if remembered else earlier), *map(to_json, remembered)]
    return {
        "answer": record,
        "by": {"fuser": draft.by},
        "usage": usage_fields(draft.usage),
        "earlier": turns[-REMEMBERED_TURNS:],
        "spent": bookkeeping.conversation_usage,
        "messages": [message.end(record)],
    }


def run_id() -> str:
    """The id that the caller gave this run."""
    return str(get_config().get("configurable", {}).get("ask_id") or "")


def run_owner() -> str:
    """Whose private data this run may use; "" for nobody's."""
    return str(get_config().get("configurable", {}).get(OWNER) or "")


def usage_fields(usage: Usage) -> dict[str, float]:
    """Usage as the state has it."""
    return dict(vars(usage))


async def _fuse(agents: Agents, view: TurnView, schema: Schema, gate: GroundingGate) -> Result[AnswerDraft]:
    """The fuser's draft, released through the gate; an answer that says so if there is nothing or something failed."""
    try:
        draft = await agents.fuser(view, schema, gate)
        if gate.answer:
            return draft
        text = "I found nothing in this graph that answers this."
        draft = replace(draft, value=AnswerDraft(((text, ()),), "not_in_graph", reason=text))
    except Exception as error:
        log.exception("the answer could not be written")
        gate.discard()
        text = "Something went wrong while I put the answer together."
        # the text of an unexpected error may quote anything; it is in the log
        why = f"internal error: {type(error).__name__}"
        draft = Result(AnswerDraft(((text, ()),), "failed", reason=why))
    gate.say(text, ())
    return draft


def _trace(
    cited: Sequence[int], view: TurnView, table: int | None, graph: Graph, settings: Settings
) -> tuple[list[Evidence], AnswerDerivation]:
    opened = open_citations(cited, view.evidence, view.understanding, graph)
    return opened, build_derivation(view, table, graph, settings)


def _bookkeeping(
    state: State, view: TurnView, draft: Result[AnswerDraft], first_token: float | None
) -> TurnBookkeeping:
    request = get_config().get("configurable", {})
    usage = add_usage(state["usage"], usage_fields(draft.usage))
    # a thread is stored under its owner; the client knows it without
    thread = str(request.get("thread_id") or "").partition(":")[2] or request.get("thread_id")
    failed = {name: error.message for name, error in view.failures.items() if error.kind in ("unavailable", "timeout")}
    return TurnBookkeeping(
        id=run_id(),
        thread=thread,
        graph=state["about"],
        turn=state["turn"],
        unavailable={**state["unavailable"], **failed},
        by=merge_attribution(state["by"], {"fuser": draft.by}),
        usage=usage,
        conversation_usage=add_usage(state.get("spent", {}), usage),
        caveats=state.get("caveats", []),
        started=state["started"],
        first_token=first_token,
    )
