"""Spreadsheets as graphs: a sheet is a class, a row a thing, a column a property.

In reading order:
    read_delimited  CSV, TSV and JSON Lines -> sheets, rows of texts
    read_workbook   XLSX, ODS and Parquet -> sheets, by a process of its own
    metadata        CSV on the Web: what a file beside a table says of it
    layout          the first rows of a sheet -> its headings; rows of a table -> those with sums
    classify        a text -> what it may be: a number, a date, a truth value
    parts           the tables of a sheet, what is left out of them, and merged cells
    columns         all texts of a column -> its type, and a literal for each text
    links           keys, names, and columns that refer to other sheets
    graph_links     columns that refer to things of the graph that tables are added to
    triples         sheets -> triples, reports, and the cells as they were
    preview         the first rows of an uploaded table, before it is read, and its address
"""
