"""The nodes of the graph: (State, Runtime) -> the fields that a node changes. Only invalid input ends a turn early."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial

from langgraph.runtime import Runtime

from agents.agents import Agents
from agents.answering.draft import find_lack
from agents.result import Result
from agents.run_in_thread import run_in_thread
from agents.tool_selector import Choice
from agents.turn_view import TurnView, first_turn
from graph.branches import BRANCHES, BranchResources
from graph.context import Context
from graph.resources import Resources, agents_for, reasoner_for
from graph.routing import branches_to_retry, lower_layers
from graph.state import State, Update, decode_conversation, decode_turn
from graph.turn_input import (
    ask_for_graph,
    checked_question,
    chosen_graph,
    is_graph_needed,
    turn_branches,
    turn_graph,
    turn_question,
)
from graph.write_answer import run_id, run_owner, usage_fields, write_answer
from nacre.access.nearest.search import search_nearest
from nacre.access.sql_database import sql_database
from nacre.access.text_coverage import may_texts_answer
from nacre.access.text_lexicon import load_lexicon
from nacre.access.verified.first_use import understand_question
from nacre.errors import NacreError, ToolError
from nacre.language.detect_language import ENGLISH, language_name
from nacre.records.evidence import BranchResult, QueryError
from nacre.records.json_form import RecordDict, from_json
from nacre.records.turn import EarlierTurn, Rewrite, Understanding
from nacre.stores.catalog import Graph, Library
from nacre.understanding.parsing.derive import MAX_CANDIDATES
from tools import lexical as lexical_tool

log = logging.getLogger(__name__)

Node = Callable[[State, Runtime[Context]], Awaitable[Update]]


class Nodes:
    """The nodes over the resources of a process; the node of a branch is `branch(name)`."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    async def rewriter(self, state: State, runtime: Runtime[Context]) -> Update:
        """Begin the turn: pin the graph's version and make the question stand alone. Ask a chat which graph it
        means."""
        started = time.monotonic()
        context, settings = runtime.context, self._resources.settings
        question, message = turn_question(state)
        agents = agents_for(self._resources, context)
        name = turn_graph(state, context)
        if name is None:
            graphs = await run_in_thread(self._resources.library.names)
            if reply := chosen_graph(state, graphs):
                name, question = reply[0], checked_question(reply[1])
            elif is_graph_needed(state, graphs):
                return {"messages": [ask_for_graph(graphs)]}
        graph = await run_in_thread(_open_graph, self._resources.library, name)
        lease = self._resources.leases.acquire(graph, run_id())
        earlier = decode_conversation(state, settings)
        view = replace(
            first_turn(question),
            conversation=earlier,
            deadline=started + settings.turn_seconds,
            version=graph.version,
        )
        rewrite, caveats = await self._rewrite(agents, view, graph)
        strategy = (context and context.strategy) or settings.strategy
        branches, unavailable = turn_branches(graph, context, strategy)
        return {
            **_cleared_fields(),
            "messages": [message] if message else [],
            "about": graph.name,
            "version": graph.version,
            "vectors": graph.vector_set,
            "layers": graph.layers,
            "hold": lease,
            "turn": state.get("turn", 0) + 1,
            "asked": question,
            "standalone": rewrite.value.standalone,
            "strategy": strategy,
            "started": started,
            "rewrite": RecordDict(rewrite.value),
            "conversation": _carried_turns(earlier, state),
            "enabled": branches,
            "unavailable": unavailable,
            "by": {"rewriter": rewrite.by},
            "usage": usage_fields(rewrite.usage),
            "caveats": caveats,
        }

    async def understand(self, state: State, runtime: Runtime[Context]) -> Update:
        """Link the names of the question and parse it into plans, once a turn.

        The question's vector is computed meanwhile; the vector branch computes it again and reports what fails.
        """
        rewrite, caveats = from_json(Rewrite, state["rewrite"]), state["caveats"]
        # the vector first: it soon releases the interpreter lock, which reading holds
        _, read = await asyncio.gather(
            self._prepare_vector(state, rewrite.standalone),
            self._understand(state, rewrite),
            return_exceptions=True,
        )
        if isinstance(read, BaseException):
            # passages can still answer a question that can't be parsed
            _log_failure("understanding", read)
            why = f": {read}" if isinstance(read, NacreError) else ""
            caveats = [*caveats, f"The question could not be read against the names of this graph{why}."]
            read = Understanding(rewrite.standalone)
        return {
            "understanding": RecordDict(read),
            "readings": [reading.words for reading in read.readings],
            "by": {"understand": "rules"},
            "caveats": caveats,
        }

    async def tool_selector(self, state: State, runtime: Runtime[Context]) -> Update:
        """Choose the branches of the next round: at first all that are enabled, then those that may find more."""
        number = state["round"] + 1
        view = replace(decode_turn(state, self._resources.settings), round=number)
        choice = Result(Choice(view.wanted))
        try:
            choice = await agents_for(self._resources, runtime.context).tool_selector(view)
        except Exception:
            log.exception("choosing branches failed")
        route = [branch for branch in state["enabled"] if branch in choice.value.branches]
        if number == 1 and (view.strategy == "parallel" or not route):
            # the first round leaves no enabled branch out, whatever a selector chooses
            route = state["enabled"]
        return {
            "route": route,
            "round": number if route else state["round"],
            "search": choice.value.search,
            "visited": [*state["visited"], *route],
            "by": {"tool_selector": choice.by},
            "usage": usage_fields(choice.usage),
        }

    def branch(self, name: str) -> Node:
        """The node of one branch: a failure is part of its result, for the next round to see."""

        async def branch(state: State, runtime: Runtime[Context]) -> Update:
            context, settings = runtime.context, self._resources.settings
            result: Result[BranchResult]
            try:
                with await self._pinned_graph(state) as graph:
                    top_k = (context and context.top_k) or settings.top_k
                    agents = agents_for(self._resources, context)
                    resources = BranchResources(graph, agents, settings, self._resources.sandbox, top_k)
                    result = await BRANCHES[name].retrieve(decode_turn(state, settings), resources)
            except ToolError as error:
                result = Result(BranchResult(name, error=QueryError(error.kind, str(error))))
            except TimeoutError:
                why = f"{name} gave nothing within {settings.branch_seconds:g} s"
                result = Result(BranchResult(name, error=QueryError("timeout", why)))
            except Exception as error:
                log.exception("branch %s failed", name)
                # the text of an unexpected error may quote anything; it is in the log
                why = f"internal error: {type(error).__name__}"
                result = Result(BranchResult(name, error=QueryError("unavailable", why)))
            return {"found": [RecordDict(result.value)], "by": {name: result.by}, "usage": usage_fields(result.usage)}

        return branch

    async def check(self, state: State, runtime: Runtime[Context]) -> Update:
        """The branches that should be asked once more. If there are none and no answer is sure, what is nearest to the
        question."""
        view = decode_turn(state, self._resources.settings)
        wanted = await self._wanted_branches(view, state, runtime)
        return {"wanted": list(wanted), **({} if wanted else await self._nearest(view, state))}

    async def fuser(self, state: State, runtime: Runtime[Context]) -> Update:
        """Write the answer and the record of the turn."""
        with await self._pinned_graph(state) as graph:
            update = await write_answer(state, runtime, self._resources, graph)
        self._resources.leases.release(state["hold"])
        return update

    async def _wanted_branches(self, view: TurnView, state: State, runtime: Runtime[Context]) -> Sequence[str]:
        """The branches of a further round; none if the evidence is enough or all rounds are used."""
        context, settings = runtime.context, self._resources.settings
        if view.round >= ((context and context.max_rounds) or settings.max_rounds):
            return ()
        if view.strategy == "waterfall":
            with await self._pinned_graph(state) as graph:
                return await run_in_thread(lower_layers, view, partial(may_texts_answer, view.standalone, graph))
        return branches_to_retry(view, by_model=reasoner_for(self._resources, context) == "model")

    async def _nearest(self, view: TurnView, state: State) -> Update:
        """What the graph says that is nearest to a question that nothing surely answers."""
        settings = self._resources.settings
        if lexical_tool.BRANCH in view.failures:
            return {}
        lack = await run_in_thread(find_lack, view)
        if not lack:
            return {}
        with await self._pinned_graph(state) as graph:
            try:
                searching = run_in_thread(search_nearest, view, lack, graph)
                nearest = await asyncio.wait_for(searching, settings.branch_seconds)
            except Exception as error:
                # the answer does without it
                _log_failure("searching what is nearest", error)
                return {}
        return {"found": [RecordDict(nearest.found)], "understanding": RecordDict(nearest.understanding)}

    async def _rewrite(self, agents: Agents, view: TurnView, graph: Graph) -> tuple[Result[Rewrite], list[str]]:
        """The question that stands alone, and what to say about it."""
        settings, sandbox = self._resources.settings, self._resources.sandbox
        rewrite, caveats = Result(Rewrite(view.question)), list[str]()
        try:
            lexicon = await load_lexicon(graph, view.question, *(turn.question for turn in view.conversation))
            rewrite = await agents.rewriter(view, sql_database(graph, settings, sandbox, lexicon=lexicon))
        except Exception as error:
            _log_failure("rewriting", error)
            caveats = ["The question was taken as it stands: relating it to the conversation failed."]
        if rewrite.value.language != ENGLISH and not rewrite.value.own:
            language = language_name(rewrite.value.language)
            caveats.append(f"This seems to be {language}; without a model I read English, German and French only.")
        return rewrite, caveats

    async def _pinned_graph(self, state: State) -> AbstractContextManager[Graph]:
        """The version of the graph that the turn began with."""
        leased = self._resources.leases.recent(state["hold"])
        if leased is not None:
            return leased
        version, vectors, layers = state["version"], state.get("vectors"), state.get("layers", "")
        return await run_in_thread(self._resources.library.open, state["about"], version, vectors, layers)

    async def _prepare_vector(self, state: State, text: str) -> None:
        if "vector" in state["enabled"]:
            with await self._pinned_graph(state) as graph:
                if graph.vectors is not None:
                    await run_in_thread(graph.vectors.prepare, text)

    async def _understand(self, state: State, rewrite: Rewrite) -> Understanding:
        with await self._pinned_graph(state) as graph:
            settings = self._resources.settings
            most = settings.endpoint_candidates if graph.endpoint is not None else MAX_CANDIDATES
            lexicon = await load_lexicon(graph, rewrite.standalone)
            sandbox = self._resources.sandbox
            return await understand_question(rewrite, graph, lexicon, most, run_owner(), settings, sandbox)


def _log_failure(what: str, error: BaseException) -> None:
    """One line for what an endpoint answered, a traceback for what nobody expects; never the question."""
    if isinstance(error, ToolError):
        log.warning("%s failed (%s): %s", what, error.kind, error)
    else:
        log.error("%s failed", what, exc_info=error)


def _cleared_fields() -> Update:
    """The fields of the turn before, emptied."""
    return {
        "readings": [],
        "understanding": {},
        "round": 0,
        "route": [],
        "wanted": [],
        "search": "",
        "visited": [],
        "found": [],
    }


def _carried_turns(earlier: Sequence[EarlierTurn], state: State) -> list[RecordDict]:
    return [RecordDict(turn, data) for turn, data in zip(earlier, state.get("earlier", []), strict=False)]


def _open_graph(library: Library, name: str | None) -> Graph:
    return library.open(library.resolve(name))
