"""Data that callers bring to a server: files, or the address of an endpoint or database -> a graph.

Files in reading order:
    uploads.py     uploads of a data folder, and the process that reads them
    file_kinds.py  which files are taken, and the command that reads them
"""
