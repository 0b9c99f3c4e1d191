"""Attach a graph to a SPARQL endpoint: learn its schema by a limited number of queries, and copy no content.

In reading order:
    attach             address -> a published version
    probe              sample classes, type sets, predicates and values within a budget of queries
    describe_endpoint  samples -> schema, names and links
    apply_layer        names, and samples of what a semantic layer derives
    layer_patterns     entries of a layer -> SPARQL patterns of what they derive
"""
