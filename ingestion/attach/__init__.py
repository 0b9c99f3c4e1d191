"""Attach a graph to a SPARQL endpoint: learn its schema by a limited number of queries, and copy no content.

Files in reading order:
    attach.py             address -> a published version
    budget.py             queries within a budget
    probe.py              sample classes, type sets, predicates and values
    declared_schema.py    declared labels, comments and superclasses
    predicates.py         samples -> predicates and units
    describe_endpoint.py  samples -> schema, names and links
    layer/                names, and what a semantic layer derives
    text_search.py        detect the supported text search
    frequent_words.py     words that are too frequent to be distinctive
"""
