"""Relational databases that graphs are attached to.

Files in reading order:
    attached.py         records: how tables appear as relations
    address.py          addresses, and passwords by host
    remote_tables.py    what tables in a database have in common
    attached_tables.py  the relations of a database with the interface of tables
    read_rows.py        labels and facts of many rows
    translate.py        a query over relations -> SQL of the database
    templates.py        queries that are translated once for all values of their parameters
    relations.py        relations -> tables of the database
    tables_of_query.py  which tables of a query are of the graph
    row_keys.py         IRIs of rows
    key_conditions.py   conditions on IRIs -> conditions on columns
    dialects.py         values of columns, as the dialects write them
    portable.py         what SQLite takes and other databases do not
    connection.py       read-only connections within limits
"""
