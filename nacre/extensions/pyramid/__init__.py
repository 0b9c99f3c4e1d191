"""The knowledge pyramid (PolyRAG): complete the schema by triples of texts, condense relations, search single triples.

Reading order:
    command           `nacre complete`
    complete_schema   extracted triples -> proposals -> a layer
    proposals         classes and attributes that extracted triples have and the schema lacks
    search_triples    the branch `triples`, and the probability that single triples answer (sufficiency.json)
"""
