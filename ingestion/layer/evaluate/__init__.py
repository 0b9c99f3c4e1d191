"""The triples that a semantic layer derives: Layer + Facts -> Facts.

Files in reading order:
    derive.py         the entries of a layer
    order.py          which entry comes after which
    subclasses.py     what derived classes contain and belong to
    paths.py          a property path over all triples -> pairs
    pattern_store.py  SPARQL patterns and rules over all triples, in a process of their own
"""
