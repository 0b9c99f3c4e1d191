"""The stores of a graph on disk or behind an endpoint, and how they are opened.

Files in reading order:
    versions.py    the layout of the data folder: versions, vectors, layers, the file `current`
    switch_version.py  make a finished version the current one
    graph.py       an open graph: the stores of one version
    catalog.py     Library: all graphs of a data folder, opened and shared
    opener.py      open the stores of one version
    tables_of_version.py  open its tables, in a file or on a server
    sqlite/        tables, lexicon, passages, documents, caches
    state/         the database of conversations, keys and runs: a file, or a server
    conversations/ threads, their turns and checkpoints
    verified/      questions that people confirmed
    search/        full-text and vector search
    sparql/        SPARQL sources: the local triple store and remote endpoints
    databases/     relational databases with the interface of tables
    kept_databases.py  files of databases that are kept with a graph, opened in processes that can be killed
    addresses.py   which addresses callers and publications may name
    published/     versions of graphs in an object store
    processes/     work in processes that can be killed
    servers.py     what graphs have on servers
    compute_once.py  a cache whose results one thread computes and others wait for
"""
