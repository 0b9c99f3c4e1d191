"""Relational databases that graphs are attached to.

In reading order:
    attach_database  address -> a published version with its schema and names
    reflect          the database's catalogue -> tables with columns and keys
    guess_links      keys and links that the database does not declare, and those that layers declare
    fit_schema       the schema induced from a sample -> the schema of the whole database
    attached         records: how tables appear as relations
    attached_tables  the relations of a database with the interface of tables
    translate        a query over relations -> SQL of the database
    row_keys         IRIs of rows, and conditions on them
    templates        queries that are translated once for all values of their parameters
    dialects         what differs between SQL dialects
    connection       read-only connections within limits; database files that are kept with a graph
    command          `nacre attach` and `nacre layer` for a database
"""
