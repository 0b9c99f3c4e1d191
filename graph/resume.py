"""A run that starts from a checkpoint in the middle of a turn: the nodes before it are run again.

Studio forks a thread so, and chat clients ask for another answer. No checkpoint has the fields that the nodes of a run
pass on, so that checkpoints stay small.
"""

import asyncio
from typing import cast

from langgraph.runtime import Runtime

from graph.branches import BRANCHES
from graph.context import Context
from graph.nodes import Node, Nodes
from graph.state import TRANSIENT_FIELDS, State, Update, add_usage, merge_attribution


def resumable(name: str, node: Node, nodes: Nodes) -> Node:
    """The node, which works as well if it is the first of its run."""

    async def run(state: State, runtime: Runtime[Context]) -> Update:
        if "version" in state:
            return await node(state, runtime)
        replayed = await _replay(name, state, runtime, nodes)
        update = await node(_with_fields(state, replayed), runtime)
        return {**update, **_merge_updates(replayed, update)}

    return run


async def _replay(name: str, state: State, runtime: Runtime[Context], nodes: Nodes) -> Update:
    """The fields that the nodes before `name` give on the current version of the graph."""
    restarted = State({**state, "question": state["asked"], "turn": state["turn"] - 1})
    fields = _merge_updates({}, await nodes.rewriter(restarted, runtime))
    if name == "understand":
        return fields
    fields = _merge_updates(fields, await nodes.understand(_with_fields(state, fields), runtime))
    if name == "tool_selector":
        return fields
    fields = {**fields, "round": 1, "route": fields["enabled"]}
    if name in BRANCHES:
        return fields
    before = _with_fields(state, fields)
    for update in await asyncio.gather(*(nodes.branch(each)(before, runtime) for each in fields["enabled"])):
        fields = _merge_updates(fields, update)
    return fields


def _merge_updates(fields: Update, update: Update) -> Update:
    """The transient fields after a further update; checkpoints have the others."""
    return {
        **fields,
        **{name: value for name, value in update.items() if name in TRANSIENT_FIELDS},
        "found": [*fields.get("found", []), *update.get("found", [])],
        "by": merge_attribution(fields.get("by", {}), update.get("by", {})),
        "usage": add_usage(fields.get("usage", {}), update.get("usage", {})),
    }


def _with_fields(state: State, fields: Update) -> State:
    return cast(State, {**state, **fields})
