"""Extract triples from prose by patterns over words: sentences -> triples that know their source.

Reading order:
    clauses   the statements of a sentence; verbs, objects and appositions; words with their classes
    resolve   statements linked to the names and properties of a graph, with their confidence (confidence.json)
"""
