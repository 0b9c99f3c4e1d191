"""The nodes of the loop, one function each: State -> the fields it changes. Nothing here ends a turn but bad input."""

import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from agents.account import Account
from agents.fuser import FuseTask
from agents.off_loop import off_loop
from agents.result import Result, Usage
from agents.rewriter import Conversation
from agents.team import Team
from agents.tool_selector import Situation
from config.settings import Settings
from graph.branches import BRANCHES, Task
from graph.check import wanted
from graph.context import Context
from graph.gate import Gate
from graph.holds import Holds
from graph.record import answer_record, earlier_turn
from graph.state import State, add_up, attribute
from records.errors import ConfigError, ToolError
from records.evidence import Found, Ledger, QueryError
from records.json_form import from_json, to_json
from records.turn import Earlier, Rewrite, Understanding
from semantics.understand import understand as understand_question
from stores.catalog import Graph, Library

log = logging.getLogger(__name__)

LONGEST_QUESTION = 4000
REMEMBERED_TURNS = 10

Update = dict[str, Any]


@dataclass(frozen=True)
class Resources:
    """What the nodes work with, made by a composition root. `teams` has "rules", and "model" where one is set."""

    library: Library
    teams: dict[str, Team]
    settings: Settings
    holds: Holds = field(default_factory=Holds)


def checked_question(text: str) -> str:
    """The question without its margins; raises ConfigError where there is none, or too much of one."""
    text = text.strip()
    if not text:
        raise ConfigError("The question is empty. Ask something, such as: nacre ask 'How many are there?'")
    if len(text) > LONGEST_QUESTION:
        raise ConfigError(
            f"The question has {len(text)} characters; {LONGEST_QUESTION} are the most. Ask a shorter one."
        )
    return text


def team_of(resources: Resources, context: Context | None) -> Team:
    """The mind that the context asks for, or the model where one is set; raises ConfigError if there is none."""
    mind = _mind(resources, context)
    if mind not in resources.teams:
        raise ConfigError("The mind 'model' needs a chat model. Set NACRE_MODEL, such as openai:gpt-4o-mini.")
    return resources.teams[mind]


async def rewriter(state: State, runtime: Runtime[Context], resources: Resources) -> Update:
    """Begin the turn: pin the graph's version, and make the question stand alone."""
    started = time.time()
    context = runtime.context
    asked, message = _asked(state)
    team = team_of(resources, context)
    graph = await off_loop(_open, resources.library, _about(state, context))
    hold = resources.holds.take(graph)
    earlier = tuple(from_json(Earlier, turn) for turn in state.get("earlier", []))
    rewrite, caveats = Result(Rewrite(asked)), list[str]()
    try:
        rewrite = await team.rewriter(Conversation(asked, earlier, graph.schema, graph.lexicon))
    except Exception:
        log.exception("rewriting failed")
        caveats = ["The question was taken as it stands: relating it to the conversation failed."]
    enabled, unavailable = _enabled(graph, context)
    return {
        "messages": [message] if message else [],
        "about": graph.name,
        "version": graph.version,
        "hold": hold,
        "turn": state.get("turn", 0) + 1,
        "asked": asked,
        "strategy": (context and context.strategy) or resources.settings.strategy,
        "started": started,
        "rewrite": to_json(rewrite.value),
        "understanding": {},
        "enabled": enabled,
        "unavailable": unavailable,
        "round": 0,
        "route": [],
        "wanted": [],
        "visited": [],
        "found": Overwrite([]),
        "by": Overwrite({"rewriter": rewrite.by}),
        "usage": Overwrite(_usage(rewrite.usage)),
        "caveats": caveats,
    }


async def understand(state: State, runtime: Runtime[Context], resources: Resources) -> Update:
    """Link the question's names and read it as plans, once a turn."""
    rewrite = from_json(Rewrite, state["rewrite"])
    try:
        understanding = await off_loop(_understood, resources.library, state["about"], state["version"], rewrite)
    except Exception:
        # passages can still answer what can't be read
        log.exception("understanding failed: %s", rewrite.standalone)
        understanding = Understanding(rewrite.standalone)
    return {"understanding": to_json(understanding), "by": {"understand": "rules"}}


async def tool_selector(state: State, runtime: Runtime[Context], resources: Resources) -> Update:
    """Choose the branches of the next round: all that are enabled at first, then what may still bring something."""
    enabled, number = state["enabled"], state["round"] + 1
    situation = Situation(
        state["rewrite"]["standalone"], number, tuple(enabled), tuple(state["visited"]), tuple(state["wanted"])
    )
    chosen = Result[tuple[str, ...]](situation.wanted)
    try:
        chosen = await team_of(resources, runtime.context).tool_selector(situation)
    except Exception:
        log.exception("choosing branches failed")
    # whatever a selector says, the first round leaves no enabled branch out
    route = enabled if number == 1 else [branch for branch in enabled if branch in chosen.value]
    return {
        "route": route,
        "round": number if route else state["round"],
        "visited": [*state["visited"], *route],
        "by": {"tool_selector": chosen.by},
        "usage": _usage(chosen.usage),
    }


def branch_node(name: str) -> Callable[[State, Runtime[Context], Resources], Awaitable[Update]]:
    """The node of one branch: a failure is what it found, for the next round to see."""

    async def branch(state: State, runtime: Runtime[Context], resources: Resources) -> Update:
        earlier = tuple(part for part in _found(state) if part.branch == name)
        context, settings = runtime.context, resources.settings
        result: Result[Found]
        try:
            with await off_loop(resources.library.open, state["about"], state["version"]) as graph:
                task = Task(
                    state["rewrite"]["standalone"],
                    from_json(Understanding, state["understanding"]),
                    graph,
                    state["round"],
                    earlier,
                    (context and context.top_k) or settings.top_k,
                    team_of(resources, context),
                    settings,
                )
                result = await BRANCHES[name].look(task)
        except ToolError as error:
            result = Result(Found(name, error=QueryError(error.kind, str(error))))
        except TimeoutError:
            why = f"{name} gave nothing within {settings.branch_seconds:g} s"
            result = Result(Found(name, error=QueryError("timeout", why)))
        except Exception as error:
            log.exception("branch %s failed", name)
            result = Result(Found(name, error=QueryError("unavailable", f"{type(error).__name__}: {error}"[:300])))
        return {"found": [to_json(result.value)], "by": {name: result.by}, "usage": _usage(result.usage)}

    branch.__name__ = name
    return branch


async def check(state: State, runtime: Runtime[Context], resources: Resources) -> Update:
    """Is the evidence enough? If not, which branches should look once more."""
    understanding = from_json(Understanding, state["understanding"])
    by_model = _mind(resources, runtime.context) == "model"
    return {"wanted": list(wanted(understanding, _found(state), state["enabled"], by_model=by_model))}


def may_go_on(state: State, runtime: Runtime[Context], resources: Resources) -> bool:
    """Whether a further round is wanted and allowed."""
    context = runtime.context
    most = (context and context.max_rounds) or resources.settings.max_rounds
    return bool(state["wanted"]) and state["round"] < most


async def fuser(state: State, runtime: Runtime[Context], resources: Resources) -> Update:
    """Say what was found, through the gate, and write the record of the turn."""
    found = _found(state)
    understanding = from_json(Understanding, state["understanding"])
    rewrite = from_json(Rewrite, state["rewrite"])
    evidence = tuple(each for part in found for each in part.evidence)
    first: list[float] = []

    def release(token: str) -> None:
        if not first:
            first.append(time.time())
        runtime.stream_writer({"type": "token", "text": token})

    gate = Gate(evidence, release)
    with await off_loop(resources.library.open, state["about"], state["version"]) as graph:
        task = FuseTask(state["asked"], understanding, graph.schema, evidence, _failures(state, found))
        told = await _fused(team_of(resources, runtime.context), task, gate)
    resources.holds.release(state["hold"])
    done = State(
        {
            **state,
            "by": attribute(state["by"], {"fuser": told.by}),
            "usage": add_up(state["usage"], _usage(told.usage)),
        }
    )
    record = answer_record(done, told.value, gate, found, first[0] if first else None)
    turn = earlier_turn(rewrite, state["asked"], gate.answer, understanding, told.value, evidence)
    return {
        "answer": record,
        "by": {"fuser": told.by},
        "usage": _usage(told.usage),
        "earlier": [*state.get("earlier", []), to_json(turn)][-REMEMBERED_TURNS:],
        "messages": [AIMessage(gate.answer)],
    }


async def _fused(team: Team, task: FuseTask, gate: Gate) -> Result[Account]:
    try:
        told = await team.fuser(task, gate)
        if gate.answer:
            return told
        text = "I found nothing in this graph that answers this."
        told = Result(Account(Ledger(((text, ()),)), "not_in_graph", reason=text), told.by, told.usage)
    except Exception as error:
        log.exception("the answer could not be put together")
        gate.discard()
        text = "Something went wrong while I put the answer together."
        told = Result(Account(Ledger(((text, ()),)), "failed", reason=f"{type(error).__name__}: {error}"[:300]))
    gate.say(text, ())
    return told


def _mind(resources: Resources, context: Context | None) -> str:
    return (context and context.mind) or ("model" if "model" in resources.teams else "rules")


def _asked(state: State) -> tuple[str, HumanMessage | None]:
    """The question, and the message to add for it; a question that came as a message is in the thread already."""
    if "question" in state:
        asked = checked_question(state["question"])
        return asked, HumanMessage(asked)
    messages = state.get("messages", [])
    if not messages or messages[-1].type != "human":
        raise ConfigError("There is no question. Send {'question': ...} or a human message.")
    return checked_question(str(messages[-1].text)), None


def _about(state: State, context: Context | None) -> str | None:
    """The name of the graph that is asked for; raises ConfigError where the thread is about another one."""
    wanted_graph = state.get("graph") or (context and context.graph) or None
    known = state.get("about")
    if known and wanted_graph and wanted_graph != known:
        raise ConfigError(f"This thread is about the graph {known!r}. Start a new thread to ask {wanted_graph!r}.")
    return wanted_graph or known


def _open(library: Library, name: str | None) -> Graph:
    return library.open(library.resolve(name))


def _enabled(graph: Graph, context: Context | None) -> tuple[list[str], dict[str, str]]:
    """The branches that are asked for and can be asked, and why the others can't."""
    asked = (context and context.branches) or list(BRANCHES)
    lacks = {name: BRANCHES[name].lacks(graph) for name in BRANCHES if name in asked}
    return [name for name, why in lacks.items() if not why], {name: why for name, why in lacks.items() if why}


def _understood(library: Library, name: str, version: str, rewrite: Rewrite) -> Understanding:
    with library.open(name, version) as graph:
        return understand_question(rewrite, graph.schema, graph.lexicon)


def _found(state: State) -> list[Found]:
    return [from_json(Found, part) for part in state["found"]]


def _failures(state: State, found: Sequence[Found]) -> dict[str, QueryError]:
    """Why branches brought nothing: the last error of each, or that none could be asked at all."""
    if not state["enabled"]:
        return {name: QueryError("unavailable", why) for name, why in state["unavailable"].items()}
    good = {part.branch for part in found if part.evidence}
    return {part.branch: part.error for part in found if part.error is not None and part.branch not in good}


def _usage(usage: Usage) -> dict[str, int]:
    return asdict(usage)
