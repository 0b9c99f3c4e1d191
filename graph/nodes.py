"""The nodes of the loop, one function each: State -> the fields it changes. Nothing here ends a turn but bad input."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from langgraph.runtime import Runtime

from agents.agents import Agents
from agents.answering.answer_record import answer_record, older_turn, remembered_turns
from agents.answering.draft import AnswerDraft
from agents.answering.grounding_gate import GroundingGate
from agents.result import Result, Usage
from agents.run_in_thread import run_in_thread
from agents.tool_selector import Choice
from agents.turn_view import TurnView
from agents.turn_view import first_turn as asked_first
from graph.branches import BRANCHES, BranchResources
from graph.context import Context
from graph.graph_choice import ask_for_graph, chosen_graph, is_graph_needed
from graph.message import Message
from graph.routing import branches_to_retry
from graph.state import State, add_usage, merge_attribution
from graph.turn_input import checked_question, turn_branches, turn_graph, turn_question
from graph.turn_view import conversation_of, decode_turn, failed_branches
from graph.waterfall import lower_layers, texts_may_answer
from nacre.access.citations import open_citations
from nacre.access.derivation import build_derivation
from nacre.access.sql_database import sql_database
from nacre.access.text_lexicon import load_lexicon
from nacre.access.understanding_cache import cached_understanding
from nacre.access.version_leases import VersionLeases
from nacre.config.settings import Settings
from nacre.errors import ConfigError, NacreError, ToolError
from nacre.language.detect_language import ENGLISH, language_name
from nacre.records.derivation import AnswerDerivation
from nacre.records.evidence import BranchResult, CitedSentences, Evidence, QueryError
from nacre.records.json_form import RecordDict, from_json, to_json
from nacre.records.schema import Schema
from nacre.records.turn import Rewrite, Understanding
from nacre.stores.catalog import Graph, Library
from nacre.understanding.linking.names.name_spans import name_spans
from nacre.understanding.parsing.derive import MAX_CANDIDATES
from tools.guards.sandbox import Sandbox

log = logging.getLogger(__name__)

REMEMBERED_TURNS = 10

Update = dict[str, Any]


@dataclass(frozen=True)
class Resources:
    """What the nodes work with, made by a composition root. `teams` has "rules", and "model" where one is set."""

    library: Library
    teams: dict[str, Agents]
    settings: Settings
    holds: VersionLeases = field(default_factory=VersionLeases)
    apart: Sandbox = field(default_factory=Sandbox)


def agents_for(resources: Resources, context: Context | None) -> Agents:
    """The mind that the context asks for, or the model where one is set; raises ConfigError if there is none."""
    mind = _mind(resources, context)
    if mind not in resources.teams:
        raise ConfigError("The mind 'model' needs a chat model. Set NACRE_MODEL: local, or such as openai:gpt-4o-mini.")
    return resources.teams[mind]


async def rewriter(state: State, runtime: Runtime[Context], resources: Resources) -> Update:
    """Begin the turn: pin the graph's version, and make the question stand alone. Ask a chat which graph it means."""
    started = time.time()
    context = runtime.context
    question, message = turn_question(state)
    team = agents_for(resources, context)
    wanted_graph = turn_graph(state, context)
    if wanted_graph is None:
        graphs = await run_in_thread(resources.library.names)
        if reply := chosen_graph(state, graphs):
            wanted_graph, question = reply[0], checked_question(reply[1])
        elif is_graph_needed(state, graphs):
            return {"messages": [ask_for_graph(graphs)]}
    graph = await run_in_thread(_open, resources.library, wanted_graph)
    hold = resources.holds.take(graph)
    earlier = conversation_of(state, resources.settings)
    rewrite, caveats = Result(Rewrite(question)), list[str]()
    deadline = started + resources.settings.turn_seconds
    view = replace(asked_first(question), conversation=earlier, deadline=deadline, version=graph.version)
    try:
        texts = [question, *(turn.question for turn in earlier)]
        names = await load_lexicon(graph, *texts)
        rewrite = await team.rewriter(view, sql_database(graph, resources.settings, resources.apart, names=names))
    except Exception:
        log.exception("rewriting failed")
        caveats = ["The question was taken as it stands: relating it to the conversation failed."]
    if rewrite.value.language != ENGLISH and not rewrite.value.own:
        language = language_name(rewrite.value.language)
        caveats.append(f"This seems to be {language}; without a model I read English only.")
    strategy = (context and context.strategy) or resources.settings.strategy
    branches, unavailable = turn_branches(graph, context, strategy)
    return {
        "messages": [message] if message else [],
        "about": graph.name,
        "version": graph.version,
        "vectors": graph.vector_set,
        "layers": graph.layers,
        "hold": hold,
        "turn": state.get("turn", 0) + 1,
        "asked": question,
        "standalone": rewrite.value.standalone,
        "readings": [],
        "strategy": strategy,
        "started": started,
        "rewrite": RecordDict(rewrite.value),
        "conversation": [RecordDict(turn, data) for turn, data in zip(earlier, state.get("earlier", []), strict=False)],
        "understanding": {},
        "enabled": branches,
        "unavailable": unavailable,
        "round": 0,
        "route": [],
        "wanted": [],
        "search": "",
        "visited": [],
        "found": [],
        "by": {"rewriter": rewrite.by},
        "usage": _usage(rewrite.usage),
        "caveats": caveats,
    }


async def understand(state: State, runtime: Runtime[Context], resources: Resources) -> Update:
    """Link the question's names and read it as plans, once a turn. Its vector is made meanwhile, on another processor;
    what goes wrong there is the branch's to say, which will ask for it again."""
    rewrite, caveats = from_json(Rewrite, state["rewrite"]), state["caveats"]
    # the vector first, which soon needs no interpreter: where reading has it, others wait for it
    _, read = await asyncio.gather(
        _prepared(resources, state, rewrite.standalone),
        _understood(resources, state, rewrite),
        return_exceptions=True,
    )
    if isinstance(read, BaseException):
        # passages can still answer what can't be read
        log.error("understanding failed: %s", rewrite.standalone, exc_info=read)
        why = f": {read}" if isinstance(read, NacreError) else ""
        caveats = [*caveats, f"The question could not be read against the names of this graph{why}."]
        read = Understanding(rewrite.standalone)
    return {
        "understanding": RecordDict(read),
        "readings": [reading.words for reading in read.readings],
        "by": {"understand": "rules"},
        "caveats": caveats,
    }


async def tool_selector(state: State, runtime: Runtime[Context], resources: Resources) -> Update:
    """Choose the branches of the next round: all that are enabled at first, then what may still bring something."""
    number = state["round"] + 1
    view = replace(decode_turn(state, resources.settings), round=number)
    chosen = Result(Choice(view.wanted))
    try:
        chosen = await agents_for(resources, runtime.context).tool_selector(view)
    except Exception:
        log.exception("choosing branches failed")
    route = [branch for branch in state["enabled"] if branch in chosen.value.branches]
    if number == 1 and (view.strategy == "parallel" or not route):
        # whatever a selector says, the first round leaves no enabled branch out
        route = state["enabled"]
    return {
        "route": route,
        "round": number if route else state["round"],
        "search": chosen.value.search,
        "visited": [*state["visited"], *route],
        "by": {"tool_selector": chosen.by},
        "usage": _usage(chosen.usage),
    }


def branch_node(name: str) -> Callable[[State, Runtime[Context], Resources], Awaitable[Update]]:
    """The node of one branch: a failure is what it found, for the next round to see."""

    async def branch(state: State, runtime: Runtime[Context], resources: Resources) -> Update:
        context, settings = runtime.context, resources.settings
        result: Result[BranchResult]
        try:
            with await _pinned(resources, state) as graph:
                top_k = (context and context.top_k) or settings.top_k
                tools = BranchResources(graph, agents_for(resources, context), settings, resources.apart, top_k)
                result = await BRANCHES[name].look(decode_turn(state, settings), tools)
        except ToolError as error:
            result = Result(BranchResult(name, error=QueryError(error.kind, str(error))))
        except TimeoutError:
            why = f"{name} gave nothing within {settings.branch_seconds:g} s"
            result = Result(BranchResult(name, error=QueryError("timeout", why)))
        except Exception as error:
            log.exception("branch %s failed", name)
            result = Result(
                BranchResult(name, error=QueryError("unavailable", f"{type(error).__name__}: {error}"[:300]))
            )
        return {"found": [RecordDict(result.value)], "by": {name: result.by}, "usage": _usage(result.usage)}

    branch.__name__ = name
    return branch


async def check(state: State, runtime: Runtime[Context], resources: Resources) -> Update:
    """Is the evidence enough? If not, which branches should look once more."""
    by_model = _mind(resources, runtime.context) == "model"
    view = decode_turn(state, resources.settings)
    if view.strategy == "waterfall":
        return {"wanted": await _further(resources, state, view)}
    return {"wanted": list(branches_to_retry(view, by_model=by_model))}


def may_continue(state: State, runtime: Runtime[Context], resources: Resources) -> bool:
    """Whether a further round is wanted and allowed."""
    context = runtime.context
    most = (context and context.max_rounds) or resources.settings.max_rounds
    return bool(state["wanted"]) and state["round"] < most


async def fuser(state: State, runtime: Runtime[Context], resources: Resources) -> Update:
    """Say what was found, through the gate, and write the record of the turn."""
    view = decode_turn(state, resources.settings)
    first: list[float] = []
    message = Message(runtime.stream_writer)

    def release(sentence: str) -> None:
        if not first:
            first.append(time.time())
        message.say(sentence)

    with await _pinned(resources, state) as graph:
        names = await load_lexicon(graph, view.standalone)
        gate = GroundingGate(view.evidence, release, partial(name_spans, lexicon=names), view.language)
        told = await _fused(agents_for(resources, runtime.context), view, graph.schema, gate)
        cited, derived = await run_in_thread(_traced, gate.cited, view, told.value.table, graph, resources.settings)
    resources.holds.release(state["hold"])
    done = State(
        {
            **state,
            "unavailable": state["unavailable"] | failed_branches(view),
            "by": merge_attribution(state["by"], {"fuser": told.by}),
            "usage": add_usage(state["usage"], _usage(told.usage)),
        }
    )
    record = answer_record(done, told.value, gate, cited, view.found, derived, first[0] if first else None)
    earlier = state.get("earlier", [])
    remembered = remembered_turns(
        view, gate.answer, told.value, dict(zip(gate.cited, cited, strict=True)), resources.settings.remembered
    )
    return {
        "answer": record,
        "by": {"fuser": told.by},
        "usage": _usage(told.usage),
        "earlier": [*(map(older_turn, earlier) if remembered else earlier), *map(to_json, remembered)][
            -REMEMBERED_TURNS:
        ],
        "spent": add_usage(state.get("spent", {}), done["usage"]),
        "messages": [message.end(record)],
    }


def _traced(
    cited: Sequence[int], view: TurnView, table: int | None, graph: Graph, settings: Settings
) -> tuple[list[Evidence], AnswerDerivation]:
    return open_citations(cited, view.evidence, view.understanding, graph), build_derivation(
        view, table, graph, settings
    )


async def _fused(team: Agents, view: TurnView, schema: Schema, gate: GroundingGate) -> Result[AnswerDraft]:
    try:
        told = await team.fuser(view, schema, gate)
        if gate.answer:
            return told
        text = "I found nothing in this graph that answers this."
        told = Result(AnswerDraft(CitedSentences(((text, ()),)), "not_in_graph", reason=text), told.by, told.usage)
    except Exception as error:
        log.exception("the answer could not be put together")
        gate.discard()
        text = "Something went wrong while I put the answer together."
        told = Result(
            AnswerDraft(CitedSentences(((text, ()),)), "failed", reason=f"{type(error).__name__}: {error}"[:300])
        )
    gate.say(text, ())
    return told


def _mind(resources: Resources, context: Context | None) -> str:
    return (context and context.mind) or ("model" if "model" in resources.teams else "rules")


def _open(library: Library, name: str | None) -> Graph:
    return library.open(library.resolve(name))


async def _pinned(resources: Resources, state: State) -> AbstractContextManager[Graph]:
    """The graph as the turn began with it."""
    held = resources.holds.fresh(state["hold"])
    if held is not None:
        return held
    version, vectors, layers = state["version"], state.get("vectors"), state.get("layers", "")
    return await run_in_thread(resources.library.open, state["about"], version, vectors, layers)


async def _further(resources: Resources, state: State, view: TurnView) -> list[str]:
    with await _pinned(resources, state) as graph:
        return list(await run_in_thread(lower_layers, view, partial(texts_may_answer, view.standalone, graph)))


async def _prepared(resources: Resources, state: State, text: str) -> None:
    if "vector" in state["enabled"]:
        with await _pinned(resources, state) as graph:
            if graph.vectors is not None:
                await run_in_thread(graph.vectors.prepare, text)


async def _understood(resources: Resources, state: State, rewrite: Rewrite) -> Understanding:
    with await _pinned(resources, state) as graph:
        most = resources.settings.endpoint_candidates if graph.endpoint is not None else MAX_CANDIDATES
        names = await load_lexicon(graph, rewrite.standalone)
        return await run_in_thread(cached_understanding, rewrite, graph.schema, names, most)


def _usage(usage: Usage) -> dict[str, float]:
    return dict(vars(usage))
