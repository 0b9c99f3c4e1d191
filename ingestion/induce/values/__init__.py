"""Datatypes, quantities and units of literals.

Files in reading order:
    cells.py              the literals of a predicate -> typed cells
    quantities.py         one text -> numbers and a unit
    column_quantities.py  a column of texts -> numbers in one unit
    durations.py          durations of XML Schema -> numbers
    name_units.py         units at the end of property names
    value_counts.py       the most frequent values of properties in large classes
"""
