"""What Nacre stores about its users, in one SQL database: a file, or a server that several machines share.

In reading order:
    database            open a database; the statements are the same for SQLite and PostgreSQL; connections
    locks               locks between processes
    conversations       owners, their threads, turns and feedback
    checkpoints         LangGraph's checkpoints in SQLite, in the order in which they were written
    verified_questions  questions that people confirmed
"""
