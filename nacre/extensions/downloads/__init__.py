"""An answer as a file: a workbook, CSV, JSON, Markdown, or the cited triples as Turtle; its charts as SVG and PNG.

In reading order:
    formats  the record of an answer -> the bytes of a file
    routes   GET /api/threads/{thread}/turns/{turn}/answer.{format}
    static/  the page's part that saves a chart
"""
