"""Conversations: stored ones, and those that clients send along.

In reading order:

    threads            stored conversations: list, read, fork, edit, delete
    quota              how much a key may store
    retention          which threads are old enough to be deleted
    thread_queues      one turn at a time per thread, across processes
    stateless_turns    the meaning of earlier turns in conversations that clients send along with each question
    transcript         a conversation as Markdown, rows as CSV
"""
