"""Linking: a question -> Links, what its spans may name in one graph (schema linking and entity linking).

Links only collect possibilities with scores. Parsing and ranking decide.

Reading order:
    link_mentions     all links of a question; what a text names, for dialogue and spelling
    link_schema       words of a question -> classes and properties
    schema_terms      the names of classes and properties, with a weight for each word
    adjectives        the properties that an adjective measures, and numbers that are things of their own
    link_names        words of a question -> things, values and codes
    name_candidates   spans of a question -> things, by whole names and parts of names
    schema_graph      the schema as a graph: classes, combinations and unions of classes as nodes
    schema_paths      nodes, steps and shortest paths of that graph
"""
