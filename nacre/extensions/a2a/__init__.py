"""A2A at /a2a: agents of other vendors send questions as messages; a turn is a task. Needs the extra `agents`.

In reading order:
    routes  the routes, the agent card, the methods of the protocol; the events of a run -> a task
"""
