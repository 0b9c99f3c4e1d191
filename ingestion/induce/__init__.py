"""From facts to tables: classes, columns and their types, names, units, and the SQLite file.

Files in reading order:
    layout.py             the plan of all tables: Facts -> Layout
    declarations.py       what a graph declares about its classes and predicates
    type_sets.py          type sets -> tables
    classes.py            tables and classes with their members
    predicate_columns.py  the triples of each predicate and the cells of its literals
    names/                names of tables, columns, predicates and things
    values/               datatypes, quantities and units of literals
    relations.py          Layout -> tables, views and junctions with their columns
    build_schema.py       Layout -> Schema
    schema_limits.py      the length of labels and comments
    write_tables.py       Layout -> graph.sqlite
    cell_lists.py         the cells of a predicate as lists, for inserting them
    junctions.py          a table for each predicate with several values, shared ones for the rarest
    views.py              a view for each class that is not a table
    indexes.py            indexes for links, and for sorted pages of large tables
    round_trip.py         what the cells can't restore, for a lossless export
"""
