"""From facts to tables: classes, columns and their types, names, units, and the SQLite file.

In reading order:
    layout        the plan of all tables: Facts -> Layout
    declarations  what a graph declares about its classes and predicates; the shown label of each entity
    classes       type sets -> tables, classes and their names
    names         SQL names of tables and columns, labels of predicates
    cells         the literals of a predicate -> typed cells
    quantities    texts -> numbers and units
    build_schema  Layout -> Schema
    write_tables  Layout -> graph.sqlite
    junctions     a table for each predicate with several values, a view for each class that is not a table
"""
