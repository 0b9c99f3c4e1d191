"""The knowledge pyramid (PolyRAG): complete the schema by triples of texts, condense relations, search single triples.

Reading order:
    command           `nacre extract` and `nacre complete`
    branch            the branch `triples`
    extract_triples   texts -> the triples that they state -> a layer beside the graph
    extractor         the triples of sentences, by rules or by a model
    link_statements   statements linked to the names and properties of a graph, with their confidence (confidence.json)
    clauses           the statements of a sentence; verbs, objects and appositions; words with their classes
    complete_schema   extracted triples -> proposals -> a layer
    proposals         classes and attributes that extracted triples have and the schema lacks
    search_triples    what it finds, and the probability that single triples answer (sufficiency.json)
"""
