"""Conversations: stored ones, and those that clients send along.

In reading order:

    threads            stored conversations: list, read, fork, edit, delete
    unanswered         the question of a turn that was stopped
    complete           work that is done to its end even if its client disconnects
    quota              how much a key may store
    retention          which threads are old enough to be deleted
    thread_queues      one turn at a time per thread, across processes
    stateless_turns    the meaning of earlier turns in conversations that clients send along with each question
    transcript         a conversation as Markdown, rows as CSV
"""
