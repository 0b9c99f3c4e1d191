"""AG-UI at /agui: front ends of agents ask a graph, follow the turn event by event, and answer its questions."""
