"""Tables of ingested graphs that lie on a PostgreSQL server.

Files in reading order:
    place.py             where the tables of a version are: address, schema, columns
    server_tables.py     the tables of a version with the interface of tables
    row_facts.py         facts of many things with few queries
    connections.py       read-only connections that hold the lock of a schema
    translate.py         a query over the tables -> SQL of the schema
    types.py             the kinds of values that expressions give
    strict_types.py      what SQLite takes and a database with types does not: tree -> tree
    drop_schema.py       remove the tables of a version that nobody reads
"""
