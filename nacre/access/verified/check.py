"""Whether verified questions still hold: entries + the present version of their graph -> entries with their state.

New values are fine, since data changes. An entry that fails, gives nothing any more, or gives values of another kind is
not used until a person looks at it.
"""

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agents.run_in_thread import run_in_thread
from nacre.access.verified.graph_identity import note_version
from nacre.access.verified.run import GivenAnswer, run_verified
from nacre.config.settings import Settings
from nacre.errors import ToolError
from nacre.records.verified_question import VerifiedQuestion, VerifiedState, values_hash, values_kind
from nacre.stores.graph import Graph
from nacre.stores.verified.store import MAX_LISTED, VerifiedQuestionStore
from tools.guards.sandbox import Sandbox

# seconds for the checks after an ingest (given): some thousands of plans over tables
CHECK_SECONDS = 30.0
MAX_NOTE = 200
# errors of a store that is away, which say nothing about the question
_AWAY = ("unavailable",)
# states that only a person ends
_ASIDE = ("failed", "empty", "changed kind", "replaced")
_GIVES_NOTHING = "it gives nothing any more"
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class CheckReport:
    """What a check found. `changed` entries have other values and stay in use; `aside` ones are not used; `left` were
    not reached in time."""

    checked: int
    changed: tuple[VerifiedQuestion, ...]
    aside: tuple[VerifiedQuestion, ...]
    left: int


async def check_entry(
    graph: Graph, entry: VerifiedQuestion, settings: Settings, sandbox: Sandbox, *, restore: bool = False
) -> VerifiedQuestion:
    """The entry with the state that running it gives. One that was set aside stays so, unless a person asked for the
    check (`restore`). If the store is away, the entry is unchanged."""
    if entry.state in _ASIDE and not restore:
        return entry
    try:
        given = await run_verified(graph, entry, settings, sandbox)
    except ToolError as error:
        if error.kind in _AWAY or (graph.attached and error.kind == "timeout"):
            return entry
        if error.kind == "empty":
            return _set_aside(entry, "empty", _GIVES_NOTHING)
        return _set_aside(entry, "failed", f"it failed: {error}")
    return judged(entry, given, graph.version)


def judged(entry: VerifiedQuestion, given: GivenAnswer, version: str) -> VerifiedQuestion:
    """The entry with the state that follows from what it gives in a version."""
    kind = values_kind(given.values)
    if not given.values and not given.is_prose:
        return _set_aside(entry, "empty", _GIVES_NOTHING)
    if kind != entry.kind:
        return _set_aside(entry, "changed kind", f"it gives values of another kind: {kind} instead of {entry.kind}")
    hash = values_hash(given.values)
    note = f"its values changed with version {version}" if hash != entry.values_hash else ""
    state: VerifiedState = "contradicted" if entry.state == "contradicted" else "in use"
    return replace(entry, values_hash=hash, version=version, state=state, note=note)


async def check_all(
    graph: Graph,
    store: VerifiedQuestionStore,
    settings: Settings,
    sandbox: Sandbox,
    *,
    owner: str | None = None,
    seconds: float = CHECK_SECONDS,
    restore: bool = False,
) -> CheckReport:
    """Check the entries of a graph, or those of an owner, and store what was found; no further one is started
    after so many `seconds`. Entries of this version are only checked again if a person asked for it (`restore`)."""
    await run_in_thread(note_version, graph, store)
    deadline = time.monotonic() + seconds
    total = await run_in_thread(store.count, graph.name, owner)
    if graph.attached and not restore:
        # each check is a query of somebody's endpoint or database, so they are made when they are needed
        return CheckReport(0, (), (), 0)
    checked: list[tuple[VerifiedQuestion, VerifiedQuestion]] = []
    skip = 0
    while entries := await run_in_thread(store.listed, graph.name, owner, own=True, skip=skip):
        skip += len(entries)
        due = [each for each in entries if restore or (each.version != graph.version and each.state not in _ASIDE)]
        total -= len(entries) - len(due)
        for entry in due:
            if time.monotonic() > deadline:
                return _report(checked, total - len(checked))
            after = await check_entry(graph, entry, settings, sandbox, restore=restore)
            stored = await run_in_thread(store.record_check, graph.name, after)
            if stored is not None:
                checked.append((entry, stored))
    return _report(checked, 0)


def _report(checked: Sequence[tuple[VerifiedQuestion, VerifiedQuestion]], left: int) -> CheckReport:
    changed = tuple(
        after for before, after in checked if after.state == "in use" and after.values_hash != before.values_hash
    )
    aside = tuple(after for _, after in checked if after.state != "in use")
    return CheckReport(len(checked), changed[:MAX_LISTED], aside[:MAX_LISTED], max(0, left))


def _set_aside(entry: VerifiedQuestion, state: VerifiedState, note: str) -> VerifiedQuestion:
    return replace(entry, state=state, note=" ".join(note.split())[:MAX_NOTE])
