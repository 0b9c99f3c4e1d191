"""The nodes of the graph: (State, Runtime) -> the fields that a node changes. Only invalid input ends a turn early.
Routers are pure functions of the state; they are coroutines, since LangGraph runs plain functions in a thread.
A chat that sends messages alone and could mean several graphs is asked which one; its reply names the graph."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.config import get_config
from langgraph.runtime import Runtime

from agents.agents import Agents
from agents.answering.answer_record import TurnBookkeeping, answer_record, older_turn, remembered_turns
from agents.answering.draft import QUERYING, best_text_answer, find_lack, needs_more_sentences
from agents.answering.grounding_gate import GroundingGate
from agents.answering.select_answer import is_enough, row_probability
from agents.tool_selector import LAYERS, Choice
from agents.turn_view import AnswerDraft, Result, TurnView, Usage, first_turn
from graph.branches import BranchResources, all_branches
from graph.context import OWNER, Context, Resources, agents_for, reasoner_for
from graph.state import Message, State, Update, add_usage, decode_conversation, decode_turn, merge_attribution
from nacre.access.derivation import build_derivation, open_citations
from nacre.access.open_graph import available_lexicon, load_lexicon, may_texts_answer, understand_question
from nacre.access.queries import sql_database
from nacre.config.settings import Settings
from nacre.errors import ConfigError, NacreError, ToolError
from nacre.extension import services
from nacre.language.tokens import ENGLISH, language_name
from nacre.records.answer import AnswerDerivation
from nacre.records.evidence import BranchResult, Evidence, QueryError
from nacre.records.json_form import RecordDict, from_json, to_json
from nacre.records.schema import Schema
from nacre.records.threads import run_in_thread
from nacre.records.turn import LONGEST_QUESTION, Rewrite, Understanding
from nacre.stores.catalog import Graph
from nacre.understanding.mentions import name_spans, reword
from nacre.understanding.parsing.derive import MAX_CANDIDATES
from nacre.understanding.ranking.rank import load_weights
from tools.search_passages import LEXICAL, VECTOR

log = logging.getLogger(__name__)

Node = Callable[[State, Runtime[Context]], Awaitable[Update]]


class Nodes:
    """The nodes over the resources of a process; the node of a branch is `branch(name)`."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    async def rewriter(self, state: State, runtime: Runtime[Context]) -> Update:
        """Begin the turn: pin the graph's version, make the question stand alone; ask a chat which graph it means."""
        started = time.monotonic()
        context, settings = runtime.context, self._resources.settings
        question, message = turn_question(state)
        agents = agents_for(self._resources, context)
        name = turn_graph(state, context)
        if name is None:
            graphs = await run_in_thread(self._resources.library.names)
            if reply := chosen_graph(state, graphs):
                name, question = reply[0], checked_question(reply[1])
            elif "question" not in state and len(graphs) > 1:
                # a client that sends the question as data gets an error instead
                return {"messages": [ask_for_graph(graphs)]}
        library = self._resources.library
        graph = await run_in_thread(lambda: library.open(library.resolve(name)))
        lease = self._resources.leases.acquire(graph, run_id())
        earlier = decode_conversation(state, settings)
        view = replace(
            first_turn(question), conversation=earlier, deadline=started + settings.turn_seconds, version=graph.version
        )
        rewrite, caveats = await self._rewrite(agents, view, graph)
        strategy = (context and context.strategy) or settings.strategy
        branches, unavailable = turn_branches(graph, context, strategy)
        return {
            # those of an earlier turn
            **{"readings": [], "understanding": {}, "round": 0, "route": [], "wanted": [], "search": "", "visited": []},
            "found": [],
            "messages": [message] if message else [],
            "about": graph.name,
            "version": graph.version,
            "vectors": graph.vector_set,
            "layers": graph.layers,
            "lease": lease,
            "turn": state.get("turn", 0) + 1,
            "asked": question,
            "standalone": rewrite.value.standalone,
            "strategy": strategy,
            "started": started,
            "rewrite": RecordDict(rewrite.value),
            "conversation": [
                RecordDict(turn, data) for turn, data in zip(earlier, state.get("earlier", []), strict=False)
            ],
            "enabled": branches,
            "unavailable": unavailable,
            "by": {"rewriter": rewrite.by},
            "usage": usage_fields(rewrite.usage),
            "caveats": caveats,
        }

    async def understand(self, state: State, runtime: Runtime[Context]) -> Update:
        """Link the names of the question and parse it into plans, once a turn."""
        rewrite, caveats = from_json(Rewrite, state["rewrite"]), state["caveats"]
        try:
            read = await self._understand(state, rewrite)
        except Exception as error:
            # passages can still answer a question that can't be parsed
            _log_failure("understanding", error)
            why = f": {error}" if isinstance(error, NacreError) else ""
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
        before = decode_turn(state, self._resources.settings)
        if state["wanted"] == [VECTOR] and _has_deferred_vector(before):
            # the rest of the round before
            return {"route": [VECTOR], "round": state["round"], "visited": [*state["visited"], VECTOR]}
        number = state["round"] + 1
        view = replace(before, round=number)
        choice = Result(Choice(view.wanted))
        try:
            choice = await agents_for(self._resources, runtime.context).tool_selector(view)
        except Exception:
            log.exception("choosing branches failed")
        route = [branch for branch in state["enabled"] if branch in choice.value.branches]
        if number == 1 and (view.strategy == "parallel" or not route):
            # the first round leaves no enabled branch out, whatever a selector chooses
            route = state["enabled"]
        if number == 1 and await self._may_defer_vector(view, state, runtime):
            route = [branch for branch in route if branch != VECTOR]
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
                    result = await all_branches()[name].retrieve(decode_turn(state, settings), resources)
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
        """What to ask once more; if that is nothing and no answer is sure, what is nearest to the question."""
        view = decode_turn(state, self._resources.settings)
        if _has_deferred_vector(view) and await run_in_thread(needs_more_sentences, view):
            return {"wanted": [VECTOR]}
        wanted = await self._wanted_branches(view, state, runtime)
        return {"wanted": list(wanted), **({} if wanted else await self._nearest(view, state))}

    async def fuser(self, state: State, runtime: Runtime[Context]) -> Update:
        """Write the answer and the record of the turn."""
        with await self._pinned_graph(state) as graph:
            update = await write_answer(state, runtime, self._resources, graph)
        self._resources.leases.release(state["lease"])
        return update

    async def _may_defer_vector(self, view: TurnView, state: State, runtime: Runtime[Context]) -> bool:
        """Whether the search by meaning waits until the other branches leave something open. A graph with texts is
        always searched, since texts may say otherwise than rows."""
        if VECTOR not in view.enabled or view.strategy != "parallel":
            return False
        if reasoner_for(self._resources, runtime.context) == "model" or set(QUERYING).isdisjoint(view.enabled):
            return False
        with await self._pinned_graph(state) as graph:
            return graph.documents is None or not graph.documents.count

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
        settings, search = self._resources.settings, next(services("nearest"), None)
        stopped = view.failures.get("sql")
        is_stopped = stopped is not None and stopped.kind in ("timeout", "unknown_name")
        if search is None or is_stopped or LEXICAL in view.failures:
            return {}
        with await self._pinned_graph(state) as graph:

            def find_nearest() -> Any:
                lack = find_lack(view)
                return search(view, lack, graph) if lack else None

            try:
                nearest = await asyncio.wait_for(run_in_thread(find_nearest), settings.branch_seconds)
            except Exception as error:
                # the answer does without it
                _log_failure("searching what is nearest", error)
                return {}
        if nearest is None:
            return {}
        return {"found": [RecordDict(nearest.found)], "understanding": RecordDict(nearest.understanding)}

    async def _rewrite(self, agents: Agents, view: TurnView, graph: Graph) -> tuple[Result[Rewrite], list[str]]:
        settings, sandbox = self._resources.settings, self._resources.sandbox
        view = replace(view, question=reword(view.question, graph.schema))
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
        leased = self._resources.leases.recent(state["lease"])
        if leased is not None:
            return leased
        version, vectors, layers = state["version"], state.get("vectors"), state.get("layers", "")
        return await run_in_thread(self._resources.library.open, state["about"], version, vectors, layers)

    async def _understand(self, state: State, rewrite: Rewrite) -> Understanding:
        with await self._pinned_graph(state) as graph:
            settings = self._resources.settings
            most = settings.endpoint_candidates if graph.endpoint is not None else MAX_CANDIDATES
            lexicon = await load_lexicon(graph, rewrite.standalone)
            sandbox = self._resources.sandbox
            return await understand_question(rewrite, graph, lexicon, most, run_owner(), settings, sandbox)


def _has_deferred_vector(view: TurnView) -> bool:
    is_missing = VECTOR in view.enabled and VECTOR not in view.visited
    return view.round == 1 and view.strategy == "parallel" and is_missing


def _log_failure(what: str, error: BaseException) -> None:
    """One line for what an endpoint answered, a traceback for what nobody expects; never the question."""
    if isinstance(error, ToolError):
        log.warning("%s failed (%s): %s", what, error.kind, error)
    elif isinstance(error, TimeoutError):
        log.warning("%s took too long", what)
    else:
        log.error("%s failed", what, exc_info=error)


# the words that rows leave out -> whether texts may answer with them
MayTextsAnswer = Callable[[Sequence[str]], bool]

# rows that are likelier right than wrong stay the answer whatever sentences say, if they leave no word out (given)
SETTLED = 0.5

TRIPLES = LAYERS[1][0]


async def has_started(state: State) -> Literal["understand", "__end__"]:
    """The turn goes on, or ends because the chat was asked which graph it means."""
    return "understand" if "version" in state else "__end__"


async def select_branches(state: State) -> list[str]:
    """The branches of this round, in parallel; the fuser if there is none."""
    return state["route"] or ["fuser"]


async def should_continue(state: State) -> Literal["tool_selector", "fuser"]:
    """A further round if `check` wants one."""
    return "tool_selector" if state["wanted"] else "fuser"


def branches_to_retry(view: TurnView, *, by_model: bool) -> tuple[str, ...]:
    """The enabled branches that lack evidence or failed and would try something new; none if the evidence is enough.
    Passages are searched again only if there are none; a model that decides step by step is offered everything new."""
    stepwise = by_model and view.strategy == "stepwise"
    is_answered = not stepwise and is_enough(view.understanding, view.evidence, view.answer_rows)
    if view.understanding.orientation or is_answered:
        return ()
    text = best_text_answer(view.standalone, view.evidence) if not stepwise else None
    if text is not None and text.is_sure:
        return ()
    return tuple(
        branch
        for branch in view.enabled
        if all_branches()[branch].has_more(view.understanding, view.of(branch), by_model)
        and (stepwise or branch == "sql" or all(each.branch != branch for each in view.evidence))
    )


def lower_layers(view: TurnView, may_texts_answer: MayTextsAnswer) -> tuple[str, ...]:
    """The branches that a waterfall asks next (PolyRAG, section 4); none if they would not change the answer: triples
    if rows are not likely enough, sentences only for words that rows leave out, if texts may answer with those."""
    unvisited = tuple(name for name in view.enabled if name not in view.visited)
    if not unvisited:
        return ()
    triples_next = TRIPLES in unvisited
    bar = load_weights().threshold if triples_next else SETTLED
    left_out = _left_out_words(view, bar)
    if left_out is None:
        return unvisited
    return unvisited if left_out and (triples_next or may_texts_answer(left_out)) else ()


def _left_out_words(view: TurnView, bar: float) -> list[str] | None:
    """The words that the answer so far leaves out; None if no answer reaches the probability `bar`."""
    understanding = view.understanding
    unknown = [word for word, _ in understanding.unknown]
    if understanding.expected == "prose":
        return unknown if any(each.round and each.branch in LAYERS[0] for each in view.evidence) else None
    selected = view.answer_rows
    if selected is None or row_probability(understanding, selected[1]) < bar:
        return None
    reading = selected[1].reading
    return unknown + list(understanding.readings[reading].unused if reading is not None else ())


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
    known = partial(name_spans, lexicon=lexicon)
    gate = GroundingGate(view.evidence, release, known, view.language, view.foreign_words)
    draft = await _fuse(agents_for(resources, runtime.context), view, graph.schema, gate)
    is_lacking = draft.value.status in ("not_in_graph", "not_understood")
    if is_lacking and graph.database and (changed := await run_in_thread(_changed, graph)):
        gate.say(changed, ())
    released = gate.released()
    table, settings = draft.value.table, resources.settings
    cited, derivation = await run_in_thread(_trace, released.cited, view, table, graph, settings)
    bookkeeping = _bookkeeping(state, view, draft, first_token)
    shown = cited
    for translate in services("translate_sources"):
        shown = translate(shown, view, graph.schema)
    record = answer_record(view, bookkeeping, draft.value, released, shown, derivation)
    for translate in services("translate_record"):
        record = translate(record, view, graph.schema)
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


CATALOGUE_SECONDS = 2.0  # how long a database may take to show its catalogue (given)


def _changed(graph: Graph) -> str:
    """What changed in an attached database, with the command that reads it again; "" if nothing or unknown."""
    with suppress(ToolError):
        changes = graph.tables.schema_changes(CATALOGUE_SECONDS)
        return changes and f"{changes} Run: nacre attach --refresh --graph {graph.name}"
    return ""


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
    """The fuser's draft, released through the gate; without one, an answer that reports why."""
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


# the key under which the message that asks for a graph carries the names
OFFERED_GRAPHS = "graphs"


def checked_question(text: str) -> str:
    """The question without surrounding blanks; raises ConfigError if it is empty or too long."""
    text = text.strip()
    if not text:
        raise ConfigError("The question is empty. Ask something, such as: nacre ask 'How many are there?'")
    if len(text) > LONGEST_QUESTION:
        raise ConfigError(
            f"The question has {len(text)} characters; {LONGEST_QUESTION} are the most. Ask a shorter one."
        )
    return text


def turn_question(state: State) -> tuple[str, HumanMessage | None]:
    """The question, and the message to add for it; a question that came as a message is in the thread already."""
    if "question" in state:
        question = checked_question(state["question"])
        return question, HumanMessage(question)
    messages = state.get("messages", [])
    if not messages or messages[-1].type != "human":
        raise ConfigError("There is no question. Send {'question': ...} or a human message.")
    return checked_question(str(messages[-1].text)), None


def turn_graph(state: State, context: Context | None) -> str | None:
    """The name of the requested graph, None without one; raises ConfigError if the thread is about another graph."""
    requested = state.get("graph") or (context and context.graph) or None
    known = state.get("about")
    if known and requested and requested != known:
        raise ConfigError(f"This thread is about the graph {known!r}. Start a new thread to ask {requested!r}.")
    return requested or known


def ask_for_graph(names: Sequence[str]) -> AIMessage:
    """The message that asks which graph is meant; `chosen_graph` recognises it by the names that it carries."""
    listed = f"{', '.join(names[:-1])} and {names[-1]}"
    text = f"Which graph do you want to ask? There are {listed}. Reply with one of these names."
    return AIMessage(text, additional_kwargs={OFFERED_GRAPHS: list(names)})


def chosen_graph(state: State, names: Sequence[str]) -> tuple[str, str] | None:
    """The graph that the last message names in reply to `ask_for_graph`, and the question before it; else None."""
    messages = state.get("messages", [])
    if "question" in state or len(messages) < 3 or OFFERED_GRAPHS not in messages[-2].additional_kwargs:
        return None
    named = str(messages[-1].text).strip(" \n.'\"`").casefold()
    return (named, str(messages[-3].text)) if named in names else None


def turn_branches(graph: Graph, context: Context | None, strategy: str) -> tuple[list[str], dict[str, str]]:
    """The requested branches that can be asked, and why the others can't be. A waterfall includes the branch `triples`
    if triples were extracted from texts; the graph's own triples are covered by queries."""
    branches = all_branches()
    also = {"triples"} if strategy == "waterfall" and graph.extracted is not None else set()
    if graph.endpoint is not None:
        also = {"sparql", "triples"}
    also |= {name for name, branch in branches.items() if branch.if_able and not branch.problem(graph)}
    requested = (context and context.branches) or [
        name for name in branches if branches[name].by_default or name in also
    ]
    problems = {name: branch.problem(graph) for name, branch in branches.items() if name in requested}
    return [name for name, why in problems.items() if not why], {name: why for name, why in problems.items() if why}
