"""The knowledge pyramid (PolyRAG): complete the schema by triples of texts, condense relations, search single triples.

Reading order:
    command           `nacre extract` and `nacre complete`
    branch            the branch `triples`
    complete_schema   extracted triples -> proposals -> a layer
    proposals         classes and attributes that extracted triples have and the schema lacks
    search_triples    what it finds, and the probability that single triples answer (sufficiency.json)
"""
