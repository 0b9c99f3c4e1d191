"""Versions of graphs in an object store, from which several servers take them.

Files in reading order:
    store.py   the store: publications of graphs, and folders as archives with checksums
    follow.py  keep a data folder and a store the same
"""
