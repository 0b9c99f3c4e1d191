"""From tables and passages to indexes.

Files in reading order:
    names.py        the lexicon: names of things and schema terms, links between tables
    class_nouns.py  nouns for the members of classes
    passages.py     the full-text index and the vectors of passages
    triples.py      the triple store for SPARQL
"""
