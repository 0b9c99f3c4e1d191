"""The LangGraph graph of a turn.

In reading order:

app                 composition root: settings -> graph
builder             nodes and edges
state               channels, reducers, and their decoded form
transient_channels  channels that no checkpoint keeps
context             options of one turn
resources           what the nodes of a process work with
nodes               the nodes
write_answer        the work of the fuser
branches            the retrieval branches
routing             which node comes next
turn_input          question, graph and branches of a turn
message             the answer as a streamed chat message
resume              runs that start in the middle of a turn
stream              one turn as a stream of events
"""
