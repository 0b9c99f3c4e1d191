"""Stores that are SQLite files.

Files in reading order:
    tables.py             guarded, read-only queries on the tables of a graph
    identifiers.py        quote identifiers for SQL
    schema_sql.py         the schema as CREATE statements with comments
    column_contents.py    which columns of a relation are filled, and its own values
    triples.py            single triples, looked up in the tables
    lexicon.py            look up names of things and schema terms
    lexicon_file.py       write the lexicon
    passages.py           passages with the sources of their sentences
    documents.py          documents, their pages and mentions
    extracted_triples.py  triples that were extracted from texts
    model_replies.py      a cache of model answers
"""
