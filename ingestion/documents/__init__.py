"""Documents: files -> their text in blocks, each with its place in the text.

In reading order:
    read_document  files, folders and globs -> documents -> their texts, by format, within limits of time and memory
    text_formats   the text of a document and its blocks; plain text, Markdown; extensions read further formats
"""
