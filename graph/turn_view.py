"""The state of a turn as agents see it: State -> TurnView, decoded once a node."""

from collections.abc import Mapping, Sequence
from typing import get_args

from agents.turn_view import Strategy, TurnView
from graph.state import State
from nacre.config.settings import Settings
from nacre.records.evidence import BranchResult, QueryError
from nacre.records.json_form import from_json
from nacre.records.turn import EarlierTurn, Rewrite, Understanding


def decode_turn(state: State, settings: Settings) -> TurnView:
    """What is known of the turn so far; it ends `turn_seconds` after it began."""
    found = tuple(from_json(BranchResult, part) for part in state.get("found", []))
    rewrite = from_json(Rewrite, state["rewrite"]) if state.get("rewrite") else Rewrite(state["asked"])
    understanding = state.get("understanding")
    return TurnView(
        question=state["asked"],
        rewrite=rewrite,
        understanding=from_json(Understanding, understanding) if understanding else Understanding(rewrite.standalone),
        conversation=conversation_of(state, settings),
        found=found,
        round=state.get("round", 0),
        enabled=tuple(state.get("enabled", ())),
        visited=tuple(state.get("visited", ())),
        wanted=tuple(state.get("wanted", ())),
        failures=_failures(state, found),
        strategy=_strategy(state.get("strategy", "")),
        search=state.get("search", ""),
        deadline=state["started"] + settings.turn_seconds,
        version=state["version"],
    )


def conversation_of(state: State, settings: Settings) -> tuple[EarlierTurn, ...]:
    """The turns before this one that it may lean on, oldest first."""
    turns = state.get("earlier", []) if settings.dialogue == "multi" else []
    return tuple(from_json(EarlierTurn, turn) for turn in state.get("conversation", turns))


def failed_branches(view: TurnView) -> dict[str, str]:
    """The branches that were there when the turn began, and then could not be asked."""
    return {name: error.message for name, error in view.failures.items() if error.kind in ("unavailable", "timeout")}


def _strategy(name: str) -> Strategy:
    """A thread may have been kept by a version that had other strategies."""
    return name if name in get_args(Strategy) else "parallel"  # type: ignore[return-value]


def _failures(state: State, found: Sequence[BranchResult]) -> Mapping[str, QueryError]:
    """Why branches brought nothing: the last error of each, or that none could be asked at all."""
    if not state.get("enabled"):
        return {name: QueryError("unavailable", why) for name, why in state.get("unavailable", {}).items()}
    good = {part.branch for part in found if part.evidence}
    return {part.branch: part.error for part in found if part.error is not None and part.branch not in good}
