"""A2A at /a2a: agents of other vendors send questions as messages; a turn is a task. Needs the extra `agents`.

In reading order:

    card       the agent card: one skill per graph
    tasks      a run -> a task with its state and artifact
    registry   the tasks of a process, each known to its owner alone
    handler    the methods of the protocol
    http       the routes
"""
