"""AG-UI at /agui: front ends of agents ask a graph, follow the turn event by event, and answer its questions.

In reading order:

    run_request   the input of a run -> the question that it asks
    run_events    events of a turn -> events of the protocol, in its order
    routes        the route
"""
