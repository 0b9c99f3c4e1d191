"""The routes under /api.

In reading order:

    ask            ask a question; resume or stop its turn
    threads        stored conversations
    sharing        share an answer; list and withdraw one's links
    graphs         graphs, schemas, reports, documents, example questions
    layer          names of classes and properties, and other names by callers
    browse         overview, things, classes, labels, follow-up questions
    class_table    a class as a table, values with counts, CSV and JSON
    query          queries of users; options of a turn; model calls of a run
    verified       questions that people confirmed
    name_proposals names that these questions teach
    uploads        files of callers, their ingest, deleting a graph
    text2sparql    a question as one SPARQL query
"""
