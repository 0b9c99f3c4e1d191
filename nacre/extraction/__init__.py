"""Extract triples from prose by patterns over words: sentences -> triples that know their source.

- grammar: the words of a sentence with their classes
- phrases: verbs, noun phrases and appositions of a clause
- clauses: the statements of a sentence
- resolve: statements linked to the names and properties of a graph, with their confidence
"""
