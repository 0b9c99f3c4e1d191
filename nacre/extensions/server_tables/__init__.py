"""The tables of ingested graphs on a PostgreSQL server. Needs the extension `databases`.

In reading order:
    publish_tables  graph.sqlite -> a schema of the server, and its removal
    server_tables   the tables of a version with the interface of tables
    translate       a query over the tables -> SQL of the schema; where the tables are
    strict_types    what SQLite takes and a database with types does not
"""
