"""What semantic layers derive: values, classes and rules over several nodes, besides names.

In reading order:
    derive    the triples that a layer derives
    command   `nacre layer`
    teaching  what a word may mean; the part of the page that teaches it
    patterns  SPARQL patterns and rules over all triples, in a process of their own
"""
