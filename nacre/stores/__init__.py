"""The stores of a graph on disk or behind an endpoint, and how they are opened.

In reading order:
    catalog        Library: all graphs of a data folder, opened and shared
    graph          an open graph: the stores of one version, and how they are opened
    versions       the layout of the data folder: versions, vectors, layers, the file `current`
    sqlite/        tables, schema text, triples, lexicon, passages and documents
    search/        full-text and vector search
    sparql_source  SPARQL sources: the interface, and the local triple store; a query as tokens
    state/         what Nacre stores about its users: conversations, checkpoints, verified questions
    addresses      addresses, keys and limits of databases and endpoints
    deadline_network
                   connections that end at a deadline
    killable_pool  work in processes that can be killed
"""
