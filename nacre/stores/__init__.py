"""The stores of a graph on disk or behind an endpoint, and how they are opened.

In reading order:
    catalog        Library: all graphs of a data folder, opened and shared; an open graph, the stores of one version
    versions       the layout of the data folder: versions, vectors, layers, the file `current`
    sqlite/        tables, schema text, triples, lexicon, passages and documents
    lexical        full-text search over passages (tantivy), and the integrity of index files
    vectors        vector search over passages: in a folder (Qdrant Edge) or on a Qdrant server
    sparql_source  SPARQL sources: the interface, and the local triple store; a query as tokens
    state/         what Nacre stores about its users: conversations, checkpoints, verified questions
    addresses      addresses, keys and limits of databases and endpoints
    deadline_network
                   connections that end at a deadline
    killable_pool  work in processes that can be killed
"""
