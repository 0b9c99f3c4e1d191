"""From tables and passages to indexes.

In reading order:
    lexicon   names of things and schema terms, nouns of classes, links between tables
    passages  sentences -> passages; the full-text index and the vectors of passages
    triples   the triple store for SPARQL, the export
"""
