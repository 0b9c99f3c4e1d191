"""A run that goes on from a checkpoint in the middle of a turn: State -> what the run before it had passed on."""

import asyncio
from typing import cast

from langgraph.runtime import Runtime

from graph import nodes
from graph.branches import BRANCHES
from graph.context import Context
from graph.nodes import Resources, Update
from graph.state import TRANSIENT_FIELDS, State, add_usage, merge_attribution


def has_turn_fields(state: State) -> bool:
    """Whether this run has begun its turn, and passes on what that gave."""
    return "version" in state


async def replay_turn(node: str, state: State, runtime: Runtime[Context], resources: Resources) -> Update:
    """The fields that the nodes before `node` give, worked out again on the graph's current version.

    Studio forks a thread so, and chat clients ask for another answer; checkpoints stay small in exchange.
    """
    again = State({**state, "question": state["asked"], "turn": state["turn"] - 1})
    passed = merge_updates({}, await nodes.rewriter(again, runtime, resources))
    if node == "understand":
        return passed
    passed = merge_updates(passed, await nodes.understand(with_fields(state, passed), runtime, resources))
    if node == "tool_selector":
        return passed
    passed |= {"round": 1, "route": passed["enabled"]}
    if node in BRANCHES:
        return passed
    before = with_fields(state, passed)
    looks = [nodes.branch_node(name)(before, runtime, resources) for name in passed["enabled"]]
    for update in await asyncio.gather(*looks):
        passed = merge_updates(passed, update)
    return passed


def merge_updates(passed: Update, update: Update) -> Update:
    """What was passed on and what a node adds to it; what checkpoints keep is there already."""
    return {
        **passed,
        **{name: value for name, value in update.items() if name in TRANSIENT_FIELDS},
        "found": [*passed.get("found", []), *update.get("found", [])],
        "by": merge_attribution(passed.get("by", {}), update.get("by", {})),
        "usage": add_usage(passed.get("usage", {}), update.get("usage", {})),
    }


def with_fields(state: State, passed: Update) -> State:
    """The state as a node sees it that begins after these."""
    return cast(State, {**state, **passed})
