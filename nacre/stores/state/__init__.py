"""What Nacre stores about its users, in one SQL database: a file, or a server that several machines share.

Files in reading order:
    database.py       open a database; the statements are the same for SQLite and PostgreSQL
    server_engine.py  connections to a server, and its clock
    statements.py     statements with their values
    dialect.py        what differs between the two
    json_text.py      values as JSON that every database can read
    schema.py         tables and their versions
    locks.py          locks between processes
    run_states.py     runs as all servers see them
    open.py           the database that the settings name, or a file of the data folder
"""
