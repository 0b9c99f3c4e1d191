"""Statements on the threads of saved conversations.

Files in reading order:
    search.py          a filter for threads as a statement
    replaced_turns.py  turns of other branches of a thread
"""
