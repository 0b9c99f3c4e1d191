"""Conversations: what people read again, and the checkpoints of the graph.

Files in reading order:
    conversations.py         owners, their threads, turns and feedback
    search.py                a filter for threads as a statement
    replaced_turns.py        turns of other branches of a thread
    shared_answers.py        frozen copies of answers that others may read by a link
    checkpoints.py           LangGraph's checkpoints in SQLite, in the order in which they were written
    checkpoints_postgres.py  the same on a PostgreSQL server
    checkpoint_sizes.py      how much the checkpoints of an owner take
"""
