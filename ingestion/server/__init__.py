"""The tables of a graph on a PostgreSQL server: graph.sqlite -> a schema of the server.

Files in reading order:
    publish_tables.py    the last stage of an ingest: move the tables of a version to a server
    copy_tables.py       stream the rows of the file into tables of the server
    read_layout.py       the tables, columns, indexes and views of the file
    view_sql.py          views in the dialect of the server
"""
