"""What a turn asks: State + Context -> the question, the name of its graph, the branches it may use."""

from langchain_core.messages import HumanMessage

from graph.branches import BRANCHES
from graph.context import Context
from graph.state import State
from nacre.errors import ConfigError
from nacre.records.turn import LONGEST_QUESTION
from nacre.stores.catalog import Graph


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
    """The name of the graph that is asked for; raises ConfigError where the thread is about another one."""
    wanted_graph = state.get("graph") or (context and context.graph) or None
    known = state.get("about")
    if known and wanted_graph and wanted_graph != known:
        raise ConfigError(f"This thread is about the graph {known!r}. Start a new thread to ask {wanted_graph!r}.")
    return wanted_graph or known


def turn_branches(graph: Graph, context: Context | None, strategy: str) -> tuple[list[str], dict[str, str]]:
    """The branches that are asked for and can be asked, and why the others can't; a waterfall has the layer of triples
    where some were extracted from texts, since queries ask the graph's own."""
    also = {"triples"} if strategy == "waterfall" and graph.extracted is not None else set()
    wanted = (context and context.branches) or [
        name for name, branch in BRANCHES.items() if branch.by_default or graph.endpoint is not None or name in also
    ]
    lacks = {name: BRANCHES[name].lacks(graph) for name in BRANCHES if name in wanted}
    return [name for name, why in lacks.items() if not why], {name: why for name, why in lacks.items() if why}
