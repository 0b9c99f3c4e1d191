"""Stores that are SQLite files.

In reading order:
    tables         guarded, read-only queries on the tables of a graph
    schema_sql     the schema as CREATE statements with comments
    triples        single triples, looked up in the tables; triples extracted from texts
    lexicon        names of things and schema terms: look-ups, the file, spellings
    passages       passages with the sources of their sentences; documents, their pages and mentions
"""
