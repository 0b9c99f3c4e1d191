"""An answer as a file: a workbook, CSV, JSON, Markdown, or the cited triples as Turtle.

In reading order:
    formats  the record of an answer -> the bytes of a file
    routes   GET /api/threads/{thread}/turns/{turn}/answer.{format}
"""
