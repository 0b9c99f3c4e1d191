"""SPARQL endpoints that graphs are attached to: a limited number of queries learns their schema, no content is copied.

In reading order:
    attach             address -> a published version, for the command line and the page
    probe              sample classes, type sets, predicates and values within a budget of queries
    describe_endpoint  samples -> schema, names and links
    apply_layer        names, and samples of what a semantic layer derives
    layer_patterns     entries of a layer -> SPARQL patterns of what they derive
    endpoint           queries over HTTP, within limits of rate, size and time; what comes back, read within bounds
    endpoint_names     the names of things at an endpoint that a question may mean
"""
