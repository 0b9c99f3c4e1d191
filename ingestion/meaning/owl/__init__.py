"""Rules for RDF and OWL.

Files in reading order:
    lists.py        lists and containers
    same_as.py      things that are the same
    expressions.py  class expressions
    ontology.py     ontologies without instances
    transitive.py   transitive predicates
    inverse.py      inverse and symmetric predicates
"""
