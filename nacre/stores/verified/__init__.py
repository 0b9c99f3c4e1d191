"""Questions that people confirmed, of all graphs of a data folder, in one SQLite file.

Files in reading order:
    entries.py  the tables, and what each change of an entry does
    store.py    the store: entries by graph and owner, and look-ups of bounded cost
"""
