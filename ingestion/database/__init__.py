"""Attach a graph to a relational database: learn its schema and names, and leave its rows where they are.

Files in reading order:
    attach_database.py  address -> a published version
    reflect.py          the database's catalogue -> tables with columns and keys
    guess_keys.py       keys that are not declared, by names and values
    relations.py        tables -> relations with IRIs after W3C's Direct Mapping
    sample.py           rows and names of each relation -> facts
    fit_schema.py       the schema induced from the facts -> one whose relations are those of the database
    statistics.py       counts and extremes of large tables
"""
