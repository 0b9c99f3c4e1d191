"""The knowledge pyramid (PolyRAG): complete the schema by triples of texts, condense relations, search single triples.

Reading order:
    command           `nacre extract` and `nacre complete`
    branch            the branch `triples`
    extract_triples   texts -> the triples that they state -> a layer beside the graph, by rules or a model
    clauses           the statements of a sentence; verbs, objects and appositions; words with their classes
    complete_schema   extracted triples -> relations merged, phrases compared and clustered -> proposals -> a layer
    search_triples    what it finds, and the probability that single triples answer (sufficiency.json)
"""
