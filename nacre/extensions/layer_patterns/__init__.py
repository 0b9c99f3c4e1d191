"""What semantic layers derive: values, classes and rules over several nodes, besides names.

In reading order:
    derive    the triples that a layer derives
    command   `nacre layer`
    patterns  SPARQL patterns and rules over all triples, in a process of their own
"""
