"""Documents: files -> their text in blocks, each with its place in the text. The extension `documents` reads them.

text_formats   the text of a document and its blocks, and what reads a format; plain text, Markdown
"""
