"""What a turn is about: State + Context -> the question, the name of its graph, the branches it may use.

A chat that sends messages alone and could mean several graphs is asked which one; its reply names the graph.
"""

from collections.abc import Sequence

from langchain_core.messages import AIMessage, HumanMessage

from graph.branches import BRANCHES
from graph.context import Context
from graph.state import State
from nacre.errors import ConfigError
from nacre.records.turn import LONGEST_QUESTION
from nacre.stores.catalog import Graph

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
    """The name of the requested graph, None where nobody named one; raises ConfigError if the thread is about another
    graph."""
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


def is_graph_needed(state: State, names: Sequence[str]) -> bool:
    """Whether a chat has to say which graph it means. A client that sends the question as data gets an error
    instead."""
    return "question" not in state and len(names) > 1


def turn_branches(graph: Graph, context: Context | None, strategy: str) -> tuple[list[str], dict[str, str]]:
    """The requested branches that can be asked, and why the others can't be. A waterfall includes the branch `triples`
    if triples were extracted from texts; the graph's own triples are covered by queries."""
    also = {"triples"} if strategy == "waterfall" and graph.extracted is not None else set()
    requested = (context and context.branches) or [
        name for name, branch in BRANCHES.items() if branch.by_default or graph.endpoint is not None or name in also
    ]
    problems = {name: BRANCHES[name].problem(graph) for name in BRANCHES if name in requested}
    return [name for name, why in problems.items() if not why], {name: why for name, why in problems.items() if why}
