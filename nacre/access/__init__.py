"""Open graphs as agents, people and other programs ask them: databases, things, guarded queries, derivations.

In reading order:
    open_graph            what a turn needs of an open graph: its version, names to parse with, parsed questions, labels
    queries               guarded queries of people and other programs; the query of a question; a graph for agents
    likeness              how well labels and kinds of values fit a question
    derivation            how an answer came about; the triples behind cited evidence
    things                things and classes as pages show them; a graph at a glance
    class_table           a class as a table
"""
