"""Which graph a chat is about, where it sent messages alone and there are several: State -> a reply that asks, or the
question that was asked before the reply was answered."""

from collections.abc import Sequence

from langchain_core.messages import AIMessage

from graph.state import State

OFFERED_GRAPHS = "graphs"


def ask_for_graph(names: Sequence[str]) -> AIMessage:
    """The reply that asks; `chosen_graph` knows it by the names that travel with it."""
    listed = f"{', '.join(names[:-1])} and {names[-1]}"
    text = f"Which graph do you want to ask? There are {listed}. Reply with one of these names."
    return AIMessage(text, additional_kwargs={OFFERED_GRAPHS: list(names)})


def chosen_graph(state: State, names: Sequence[str]) -> tuple[str, str] | None:
    """The graph that the last message names in reply to `ask_for_graph`, and the question before it; None where it does
    not."""
    messages = state.get("messages", [])
    if "question" in state or len(messages) < 3 or OFFERED_GRAPHS not in messages[-2].additional_kwargs:
        return None
    named = str(messages[-1].text).strip(" \n.'\"`").casefold()
    return (named, str(messages[-3].text)) if named in names else None


def is_graph_needed(state: State, names: Sequence[str]) -> bool:
    """Whether a chat that named no graph has to: whoever sends a question as data gets an error instead."""
    return "question" not in state and len(names) > 1
