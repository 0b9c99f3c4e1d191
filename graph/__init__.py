"""The LangGraph graph of a turn.

Reading order:
    builder    composition root: settings -> graph; nodes and edges; runs that start in the middle of a turn
    state      channels, reducers, their decoded form; the answer as a streamed chat message
    context    options and resources of a turn
    branches   the retrieval branches
    nodes      the nodes, which of them comes next, the input of a turn, and the work of the fuser
    stream     one turn as a stream of events
"""
