"""What agents are told of a turn that is under way: State -> what was found and tried, what it leans on, its end."""

from collections.abc import Sequence

from agents.models.limits import Turn
from graph.state import State
from records.evidence import Found, QueryError
from records.json_form import from_json
from records.turn import Earlier

SENTENCES_TOLD = 3


def found_so_far(state: State) -> list[Found]:
    """What all branches brought back in all rounds of this turn."""
    return [from_json(Found, part) for part in state["found"]]


def failures(state: State, found: Sequence[Found]) -> dict[str, QueryError]:
    """Why branches brought nothing: the last error of each, or that none could be asked at all."""
    if not state["enabled"]:
        return {name: QueryError("unavailable", why) for name, why in state["unavailable"].items()}
    good = {part.branch for part in found if part.evidence}
    return {part.branch: part.error for part in found if part.error is not None and part.branch not in good}


def tried(found: Sequence[Found]) -> tuple[str, ...]:
    """What the branches tried and what that gave, a line each, errors and empty results included."""
    return tuple(line for part in found for line in _tried(part))


def leant_on(state: State) -> tuple[Earlier, ...]:
    """The turns before this one, where its question leans on them."""
    turns = state.get("earlier", []) if state["rewrite"]["depends"] else []
    return tuple(from_json(Earlier, turn) for turn in turns)


def turn_of(state: State, seconds: float) -> Turn:
    """The turn, which may take `seconds`."""
    return Turn(state["started"] + seconds, state["version"])


def _tried(part: Found) -> list[str]:
    lines = [
        f"{part.branch}: {query.words or query.text}: {query.error.message if query.error else f'{query.rows} rows'}"
        for query in part.queries
    ]
    told = [f"{part.branch}: {each.text}" for each in part.evidence if each.kind == "sentence"][:SENTENCES_TOLD]
    failed = [f"{part.branch}: {part.error.message}"] if part.error and not lines else []
    return [*lines, *told, *failed]
