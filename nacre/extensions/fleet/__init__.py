"""What several servers share: keys, runs and graphs. One server alone does without.

In reading order:
    shared_state  the keys; runs that clients can follow, resume and cancel through any server; rate limits over all
    checkpoints   LangGraph's checkpoints on a PostgreSQL server
    graph_store   versions of graphs in an object store, and keeping a data folder the same
    migrate       what a data folder stores about its users -> a database
    command       `nacre migrate`; graphs of the store before and after a command
"""
